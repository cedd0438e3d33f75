/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long instructions of x86-64 are: enough to tell where they begin. */
#include "host/cpu.h"

struct reader {
	const u8 *code;
	size_t n;
	size_t at;
	bool word;    /* 66: immediates of 4 bytes have 2 */
	bool address; /* 67 */
	bool wide;    /* REX.W */
};

enum { IMM_NONE = 0, IMM_8 = 1, IMM_16 = 2, IMM_Z = 4, IMM_24 = 3, IMM_V = 8, IMM_MOFFS = 9 };

static bool is_prefix(u8 c)
{
	return c == 0x66 || c == 0x67 || c == 0xf0 || c == 0xf2 || c == 0xf3 || c == 0x2e ||
	       c == 0x36 || c == 0x3e || c == 0x26 || c == 0x64 || c == 0x65;
}

static int peek(const struct reader *r)
{
	return r->at < r->n ? r->code[r->at] : -1;
}

static void skip_prefixes(struct reader *r)
{
	while (r->at < r->n && is_prefix(r->code[r->at])) {
		r->word = r->word || r->code[r->at] == 0x66;
		r->address = r->address || r->code[r->at] == 0x67;
		r->at++;
	}
	if (r->at < r->n && (r->code[r->at] & 0xf0) == 0x40)
		r->wide = r->code[r->at++] & 8;
}

static bool has_modrm(u8 op)
{
	if (op < 0x40)
		return (op & 7) < 4;
	return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f) || op == 0xc0 ||
	       op == 0xc1 || op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) ||
	       (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 || op == 0xfe || op == 0xff;
}

static u32 immediate(u8 op)
{
	if (op < 0x40)
		return (op & 7) == 4 ? IMM_8 : (op & 7) == 5 ? IMM_Z : IMM_NONE;
	switch (op) {
	case 0x68:
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
	case 0xe8:
	case 0xe9: return IMM_Z;
	case 0x6a:
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb: return IMM_8;
	case 0xc2:
	case 0xca: return IMM_16;
	case 0xc8: return IMM_24;
	default: break;
	}
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xb7) || (op >= 0xe0 && op <= 0xe7))
		return IMM_8;
	if (op >= 0xb8 && op <= 0xbf)
		return IMM_V;
	return op >= 0xa0 && op <= 0xa3 ? IMM_MOFFS : IMM_NONE;
}

/* Of those after 0F. */
static bool has_modrm_0f(u8 op)
{
	return !((op >= 0x05 && op <= 0x09) || op == 0x0b || op == 0x0e ||
		 (op >= 0x30 && op <= 0x37) || op == 0x77 || (op >= 0x80 && op <= 0x8f) ||
		 (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) ||
		 (op >= 0xc8 && op <= 0xcf));
}

static u32 immediate_0f(u8 op)
{
	if (op >= 0x80 && op <= 0x8f)
		return IMM_Z;
	return op == 0x0f || (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba ||
			       op == 0xc2 || (op >= 0xc4 && op <= 0xc6)
		       ? IMM_8
		       : IMM_NONE;
}

/* The byte that says where operands are, and what it asks for. Returns its middle bits. */
static u32 skip_modrm(struct reader *r)
{
	int c = peek(r), mod, rm;

	r->at++;
	if (c < 0)
		return 0;
	mod = c >> 6;
	rm = c & 7;
	if (mod == 3)
		return (u32)c >> 3 & 7;
	if (rm == 4) {
		rm = peek(r) < 0 ? 0 : peek(r) & 7;
		r->at++;
	}
	if (mod == 1)
		r->at += 1;
	else if (mod == 2 || rm == 5)
		r->at += 4;
	return (u32)c >> 3 & 7;
}

static void skip_immediate(struct reader *r, u32 kind)
{
	switch (kind) {
	case IMM_Z: r->at += r->word && !r->wide ? 2 : 4; break;
	case IMM_V: r->at += r->wide ? 8 : r->word ? 2 : 4; break;
	case IMM_MOFFS: r->at += r->address ? 4 : 8; break;
	default: r->at += kind; break;
	}
}

/* After a VEX or EVEX prefix; @map says which table the opcode is of. */
static bool skip_vector(struct reader *r, u32 map)
{
	int op = peek(r);

	r->at++;
	if (op < 0 || !map)
		return false;
	if (map != 1 || op != 0x77)
		skip_modrm(r);
	if (map == 3)
		r->at++;
	else if (map == 1)
		skip_immediate(r, immediate_0f((u8)op));
	return true;
}

static bool skip_0f(struct reader *r)
{
	int op = peek(r);

	r->at++;
	if (op == 0x38 || op == 0x3a) {
		r->at++;
		skip_modrm(r);
		r->at += op == 0x3a;
		return true;
	}
	if (op < 0)
		return false;
	if (has_modrm_0f((u8)op))
		skip_modrm(r);
	/* conditional jumps have 4 bytes whatever the prefixes say */
	if (op >= 0x80 && op <= 0x8f)
		r->at += 4;
	else
		skip_immediate(r, immediate_0f((u8)op));
	return true;
}

static bool skip_plain(struct reader *r, u8 op)
{
	u32 middle = 0;

	if (has_modrm(op))
		middle = skip_modrm(r);
	if (op == 0xe8 || op == 0xe9)
		r->at += 4;
	else if (op == 0xf6 || op == 0xf7)
		skip_immediate(r, middle > 1 ? IMM_NONE : op == 0xf6 ? IMM_8 : IMM_Z);
	else
		skip_immediate(r, immediate(op));
	return true;
}

int cpu_instruction(const u8 *code, size_t n)
{
	struct reader r = { .code = code, .n = n };
	bool known;
	int op, map;

	skip_prefixes(&r);
	op = peek(&r);
	r.at++;
	if (op == 0xc5) {
		r.at++;
		known = skip_vector(&r, 1);
	} else if (op == 0xc4) {
		map = peek(&r);
		r.at += 2;
		known = skip_vector(&r, map < 0 ? 0 : (u32)map & 0x1f);
	} else if (op == 0x62) {
		map = peek(&r);
		r.at += 3;
		known = skip_vector(&r, map < 0 ? 0 : (u32)map & 7);
	} else {
		known = op == 0x0f ? skip_0f(&r) : op >= 0 && skip_plain(&r, (u8)op);
	}
	return known && r.at <= n ? (int)r.at : -1;
}

static bool has_bytes(const u8 *code, size_t n, const char *bytes, size_t len)
{
	return n >= len && memcmp(code, bytes, len) == 0;
}

size_t cpu_cheap_entry(const u8 *code, size_t n)
{
	size_t at = 0;

	if (has_bytes(code, n, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		at = 4;
	if (has_bytes(code + at, n - at, "\x48\x85\xff\x74", 4)) /* test %rdi,%rdi; je */
		at += 5;
	else if (has_bytes(code + at, n - at, "\x48\x85\xff\x0f\x84", 5))
		at += 9;
	/* push of a register, nop: the kernel knows what these do */
	if (at < n && code[at] == 0x41)
		return at + 1 < n && (code[at + 1] & 0xf8) == 0x50 ? at : 0;
	return at < n && ((code[at] & 0xf8) == 0x50 || code[at] == 0x90) ? at : 0;
}
