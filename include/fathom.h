/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Markers for programs: one instruction (a nop) each until they are traced.
 *
 *	FATHOM_BEGIN("request", id);    a span begins; spans of one name differ by their id
 *	FATHOM_END("request", id);      it ends, on any thread
 *	FATHOM_MARK("cache miss", n);   a moment, with a number
 *
 * fathom spans -x ./program shows them; any tool that knows USDT sees fathom:begin, fathom:end and
 * fathom:mark. C and C++, gcc and clang, x86-64 and arm64; elsewhere the macros do nothing.
 */
#ifndef FATHOM_H
#define FATHOM_H

#if defined(__GNUC__) && (defined(__x86_64__) || defined(__aarch64__))
#define FATHOM_PROBE_(probe, name, value)                                               \
	__asm__ __volatile__(                                                           \
		"990: nop\n"                                                            \
		".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n"                 \
		".4byte 992f-991f,994f-993f,3\n991: .asciz \"stapsdt\"\n"               \
		"992: .balign 4\n993: .8byte 990b,_.stapsdt.base,0\n"                   \
		".asciz \"fathom\"\n.asciz \"" probe "\"\n"                             \
		".asciz \"8@%0 -8@%1\"\n994: .balign 4\n.popsection\n"                  \
		".ifndef _.stapsdt.base\n"                                              \
		".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
		".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                        \
		"_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n"       \
		".endif\n" ::"r"((const char *)(name)),                                 \
		"r"((long)(value)))
#else
#define FATHOM_PROBE_(probe, name, value) ((void)(name), (void)(value))
#endif

#define FATHOM_BEGIN(name, id)   FATHOM_PROBE_("begin", name, id)
#define FATHOM_END(name, id)     FATHOM_PROBE_("end", name, id)
#define FATHOM_MARK(name, value) FATHOM_PROBE_("mark", name, value)

#endif
