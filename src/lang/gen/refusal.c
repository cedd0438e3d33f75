/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/gen/refusal.h"

#include "base/parse.h"

enum { COMPLAINT_SHOWN = 300 };

static const char *line_end(const char *s)
{
	const char *nl = strchr(s, '\n');

	return nl ? nl : s + strlen(s);
}

/* "12: (85) call ...": an instruction that was checked. */
static bool is_instruction(const char *line, const char *end, u32 *ret)
{
	const char *s = line;
	u64 n;

	if (!scan_u64(&s, end, 10, &n) || end - s < 3 || memcmp(s, ": (", 3) != 0)
		return false;
	*ret = (u32)MIN(n, (u64)UINT32_MAX);
	return true;
}

/* Lines that describe the state, comment on it or sum up. */
static bool is_noise(const char *line, const char *end)
{
	static const char *const starts[] = { "processed ",   "verification time",
					      "stack depth ", "insns_state ",
					      "from ",        ";",
					      "mark_precise", "func#",
					      "peak_states",  "last_idx",
					      "regs=",        "parent " };
	const char *s = line;
	u64 n;

	if (line == end)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		if ((size_t)(end - line) >= strlen(starts[i]) &&
		    memcmp(line, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	/* "12: R0=..." */
	return scan_u64(&s, end, 10, &n) && s < end && *s == ':';
}

void refusal_parse(const char *log, struct refusal *ret)
{
	*ret = (struct refusal){ 0 };
	for (const char *line = log, *end; *line; line = *end ? end + 1 : end) {
		end = line_end(line);
		if (is_instruction(line, end, &ret->insn)) {
			ret->has_insn = true;
		} else if (!is_noise(line, end)) {
			ret->text = line;
			ret->len = (size_t)(end - line);
		}
	}
}

/* A million instructions were followed, and no end was seen. */
static void too_much(struct comp *c, const struct probe *p)
{
	diag_error(&c->diags, p->at,
		   "the program of this probe is too long for the kernel's verifier");
	diag_hint(&c->diags, "compare fewer or shorter strings, unroll less, or split the probe");
}

/* Instructions know the offset of their statement: it ends with its line, or at a semicolon. */
static struct span_at statement_at(const struct source *src, u32 start)
{
	struct span_at at = { start, start };
	bool quoted = false;

	while (at.end < src->len && src->text[at.end] != '\n') {
		char ch = src->text[at.end];

		if (ch == '"')
			quoted = !quoted;
		if (!quoted && (ch == ';' || ch == '}'))
			break;
		at.end++;
	}
	return at;
}

void refusal_report(struct comp *c, const struct unit *u, int why, const char *log)
{
	const struct probe *p = &c->prog.probes.items[u->probe];
	struct span_at at = p->at;
	struct refusal r;

	if (why == E2BIG) {
		too_much(c, p);
		return;
	}
	refusal_parse(log, &r);
	if (r.len && memmem(r.text, r.len, "too complex", strlen("too complex"))) {
		too_much(c, p);
		return;
	}
	if (r.has_insn && r.insn < u->code.lines.len)
		at = statement_at(&c->src, u->code.lines.items[r.insn]);
	diag_error(&c->diags, at, "the kernel's verifier refuses this: %.*s",
		   (int)MIN(r.len, (size_t)COMPLAINT_SHOWN), r.len ? r.text : "");
	diag_hint(&c->diags, "it is about '%s', instruction %u; -v prints the verifier's log",
		  c->targets.items[u->first].name, r.insn);
}
