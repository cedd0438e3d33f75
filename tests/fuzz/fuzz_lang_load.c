/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever the type checker accepts, the kernel's verifier accepts. The input chooses the rules of
 * a grammar; the program that comes out is compiled and, as root, loaded without being attached. A
 * program that compiles and does not load is a bug.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/err.h"
#include "lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_DEPTH = 4, MAX_TEXT = 6000, MAX_VARS = 8 };

/* What an expression is wanted to be. */
enum want { INT, STR, PTR, TUPLE, WANTS };

struct maker {
	const uint8_t *data;
	size_t size, at;
	struct buf text;
	u32 depth;
	u32 vars[WANTS]; /* variables that have been assigned, by type */
	u32 loops;
	u32 for_vars;
	const char *probe;
	const char *const *fields; /* numbers among args, or NULL */
};

static u32 pick(struct maker *m, u32 n)
{
	if (m->at >= m->size)
		return 0;
	return m->data[m->at++] % n;
}

static void put(struct maker *m, const char *s)
{
	buf_addstr(&m->text, s);
}

#define PUTF(m, ...) buf_addf(&(m)->text, __VA_ARGS__)

static void expression(struct maker *m, enum want want);
static void block(struct maker *m);

static bool done(const struct maker *m)
{
	return m->depth > MAX_DEPTH || m->text.len > MAX_TEXT || m->at >= m->size;
}

/* --- values ----------------------------------------------------------------------------------- */

static const char *const numbers[] = { "0",
				       "1",
				       "-1",
				       "7",
				       "63",
				       "64",
				       "255",
				       "65536",
				       "2147483647",
				       "4294967296",
				       "0x7fffffffffffffff",
				       "-2147483649" };
static const char *const words[] = { "pid",     "tid",           "uid",     "nsecs",
				     "cpu",     "rand",          "gid",     "cgroup",
				     "elapsed", "ncpus",         "jiffies", "numaid",
				     "ppid()",  "ppid(curtask)", "true",    "TCP_LISTEN" };
static const char *const texts[] = { "comm",    "\"\"",
				     "\"abc\"", "\"a longer text, of more words\"",
				     "str($1)", "@st",
				     "@sk[1]",  "pcomm" };
static const char *const pointers[] = { "&@pl",
					"&@in[3]",
					"curtask",
					"(uint64 *)8",
					"(int8 *)nsecs",
					"curtask->real_parent",
					"curtask->mm",
					"(struct pair *)0x1000",
					"kptr((uint32 *)cpu)",
					"uptr((uint16 *)rand)" };
static const char *const tuples[] = { "@tu[pid]", "(1, \"x\")", "(pid, comm)" };
static const char *const binary[] = { "+",  "-",  "*",  "/", "%", "&",  "|",  "^",  "<<",
				      ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||" };
static const char *const casts[] = {
	"(int8)",   "(uint8)", "(int16)",  "(uint16)", "(int32)",
	"(uint32)", "(int64)", "(uint64)", "(bool)",   "(enum tcp_ca_state)"
};
static const char *const members[] = { "pid",     "tgid",       "flags",     "prio",
				       "__state", "start_time", "in_execve", "signal->nr_threads" };

#define ANY(m, list) put(m, (list)[pick(m, ARRAY_SIZE(list))])

static void simple(struct maker *m, enum want want)
{
	if (m->vars[want] && pick(m, 2)) {
		PUTF(m, "$%c%u", "ispt"[want], pick(m, m->vars[want]));
		return;
	}
	switch (want) {
	case INT:
		if (pick(m, 2))
			ANY(m, numbers);
		else
			ANY(m, words);
		break;
	case STR: ANY(m, texts); break;
	case PTR: ANY(m, pointers); break;
	default: ANY(m, tuples); break;
	}
}

static void args_field(struct maker *m)
{
	u32 n = 0;

	while (m->fields && m->fields[n])
		n++;
	if (n)
		PUTF(m, "args.%s", m->fields[pick(m, n)]);
	else
		put(m, "pid");
}

static void key(struct maker *m)
{
	expression(m, INT);
	put(m, ", ");
	expression(m, STR);
}

static void integer_call(struct maker *m)
{
	switch (pick(m, 16)) {
	case 9: put(m, "len(kstack(4)"); break;
	case 10:
		put(m, "memcmp(comm, ");
		expression(m, STR);
		put(m, ", 1");
		break;
	case 13:
		put(m, "delete(@in, ");
		expression(m, INT);
		break;
	case 14: put(m, "memcmp(pcomm, curtask->comm, 11"); break;
	case 11:
		put(m, "find(@in, ");
		expression(m, INT);
		put(m, ", $fi");
		break;
	case 12:
		put(m, "(typeof(cpu))(");
		expression(m, INT);
		break;
	case 0:
		put(m, "strlen(");
		expression(m, STR);
		break;
	case 1:
		put(m, "strncmp(");
		expression(m, STR);
		put(m, ", ");
		expression(m, STR);
		PUTF(m, ", %u", pick(m, 70));
		break;
	case 2:
		put(m, "strcontains(");
		expression(m, STR);
		put(m, ", \"bc\"");
		break;
	case 3:
		put(m, "bswap(");
		expression(m, INT);
		break;
	case 4: put(m, "len(@ck"); break;
	case 5:
		put(m, "has_key(@ck, (");
		key(m);
		put(m, ")");
		break;
	case 6: put(m, "sizeof(struct pair"); break;
	case 7: put(m, "(uint64)ksym(nsecs"); break;
	case 8: put(m, "(uint32)@ag[cpu]+(1"); break;
	default:
		put(m, "strstr(");
		expression(m, STR);
		put(m, ", \"a\"");
		break;
	}
	put(m, ")");
}

static void integer(struct maker *m)
{
	switch (pick(m, 16)) {
	case 13: put(m, m->vars[INT] ? "*(&$i0)" : "*(&@pl)"); break;
	case 14:
		put(m, "((int8[8])");
		expression(m, INT);
		put(m, ")[");
		expression(m, INT);
		put(m, "]");
		break;
	case 0:
	case 1:
	case 2:
		put(m, "(");
		expression(m, INT);
		PUTF(m, " %s ", binary[pick(m, ARRAY_SIZE(binary))]);
		expression(m, INT);
		put(m, ")");
		break;
	case 3:
		put(m, "(");
		expression(m, STR);
		put(m, pick(m, 2) ? " == " : " != ");
		expression(m, STR);
		put(m, ")");
		break;
	case 4:
		put(m, "(");
		expression(m, INT);
		put(m, " ? ");
		expression(m, INT);
		put(m, " : ");
		expression(m, INT);
		put(m, ")");
		break;
	case 5:
		PUTF(m, "%s(", casts[pick(m, ARRAY_SIZE(casts))]);
		expression(m, INT);
		put(m, ")");
		break;
	case 6:
		put(m, pick(m, 2) ? "-(" : pick(m, 2) ? "!(" : "~(");
		expression(m, INT);
		put(m, ")");
		break;
	case 7: PUTF(m, "curtask->%s", members[pick(m, ARRAY_SIZE(members))]); break;
	case 8:
		put(m, "@in[");
		expression(m, INT);
		put(m, "]");
		break;
	case 9: args_field(m); break;
	case 10:
		expression(m, TUPLE);
		put(m, ".0");
		break;
	case 11:
		put(m, "((struct pair *)");
		expression(m, INT);
		PUTF(m, ")->%s", pick(m, 3) == 0 ? "a" : pick(m, 2) ? "bits" : "list[2]");
		break;
	case 12:
		put(m, "((struct pair *)nsecs)->list[");
		expression(m, INT);
		put(m, "]");
		break;
	default: integer_call(m); break;
	}
}

static void string(struct maker *m)
{
	switch (pick(m, 7)) {
	case 6:
		put(m, "str_concat(");
		expression(m, STR);
		put(m, ", ");
		expression(m, STR);
		put(m, ")");
		break;
	case 0:
		put(m, "str(");
		expression(m, PTR);
		put(m, ")");
		break;
	case 1:
		put(m, "str(");
		expression(m, PTR);
		put(m, ", ");
		expression(m, INT);
		put(m, ")");
		break;
	case 2:
		put(m, "(");
		expression(m, INT);
		put(m, " ? ");
		expression(m, STR);
		put(m, " : ");
		expression(m, STR);
		put(m, ")");
		break;
	case 3:
		expression(m, TUPLE);
		put(m, ".1");
		break;
	case 4:
		put(m, "@sk[");
		expression(m, INT);
		put(m, "]");
		break;
	default: put(m, "curtask->comm"); break;
	}
}

static void expression(struct maker *m, enum want want)
{
	m->depth++;
	if (done(m) || pick(m, 3) == 0)
		simple(m, want);
	else if (want == INT)
		integer(m);
	else if (want == STR)
		string(m);
	else if (want == TUPLE) {
		put(m, "(");
		expression(m, INT);
		put(m, ", ");
		expression(m, STR);
		put(m, ")");
	} else {
		simple(m, want);
	}
	m->depth--;
}

/* --- statements ------------------------------------------------------------------------------- */

static void assign(struct maker *m)
{
	static const char *const ops[] = { "=",  "=",  "+=", "-=", "*=",  "/=",
					   "%=", "&=", "|=", "^=", "<<=", ">>=" };
	enum want want = (enum want)pick(m, WANTS);
	u32 n = pick(m, MIN(m->vars[want] + 1, (u32)MAX_VARS));
	bool known = n < m->vars[want];

	PUTF(m, "$%c%u %s ", "ispt"[want], n,
	     known && want == INT ? ops[pick(m, ARRAY_SIZE(ops))] : "=");
	expression(m, want);
	put(m, ";\n");
	/* What an inner block assigns first is not seen after it. */
	if (!known && m->depth == 0)
		m->vars[want] = n + 1;
}

static void map_assign(struct maker *m)
{
	static const char *const aggregations[] = {
		"@cn = count()", "@h = hist(", "@l = lhist(",  "@av = avg(",     "@mi = min(",
		"@ma = max(",    "@su = sum(", "@sa = stats(", "@ts = tseries(", "@h2 = hist("
	};
	u32 kind = pick(m, 8), which;

	switch (kind) {
	case 0:
		put(m, "@in[");
		expression(m, INT);
		put(m, pick(m, 2) ? "] = " : "] += ");
		expression(m, INT);
		break;
	case 1:
		put(m, "@sk[");
		expression(m, INT);
		put(m, "] = ");
		expression(m, STR);
		break;
	case 2:
		put(m, "@ck[");
		key(m);
		put(m, "] = count()");
		break;
	case 3:
		put(m, "@tu[");
		expression(m, INT);
		put(m, "] = ");
		expression(m, TUPLE);
		break;
	case 4:
		put(m, "@pl");
		put(m, pick(m, 2) ? "++" : "--");
		break;
	case 5:
		put(m, "@st = ");
		expression(m, STR);
		break;
	case 6:
		put(m, pick(m, 2) ? "@hk[" : "@ks[");
		if (m->text.data[m->text.len - 2] == 'k')
			expression(m, STR);
		else
			put(m, "kstack");
		put(m, m->text.data[m->text.len - 1] == 'k' ? "] = count()" : "] = count()");
		break;
	default:
		which = pick(m, ARRAY_SIZE(aggregations));
		put(m, aggregations[which]);
		if (!which)
			break;
		expression(m, INT);
		put(m, which == 2   ? ", 0, 1000, 10)"
		       : which == 8 ? ", 100ms, 10)"
		       : which == 9 ? ", 3)"
				    : ")");
		break;
	}
	put(m, ";\n");
}

static void print(struct maker *m)
{
	switch (pick(m, 9)) {
	case 0:
		put(m, "printf(\"%d %s\\n\", ");
		expression(m, INT);
		put(m, ", ");
		expression(m, STR);
		break;
	case 1:
		put(m, "print(");
		expression(m, (enum want)pick(m, WANTS));
		break;
	case 2: put(m, "printf(\"%s %s\\n\", kstack(3), ustack(5)"); break;
	case 3:
		put(m, "printf(\"%r\\n\", buf(");
		expression(m, PTR);
		put(m, ", ");
		expression(m, INT);
		put(m, ")");
		break;
	case 4:
		put(m, "printf(\"%s %s\\n\", ntop(");
		expression(m, INT);
		put(m, "), usym(nsecs)");
		break;
	case 5: put(m, "time(\"%H\\n\""); break;
	case 6:
		put(m, "join(");
		expression(m, PTR);
		break;
	case 7:
		put(m, "delete(@ck, (");
		key(m);
		put(m, ")");
		break;
	default: put(m, pick(m, 2) ? "clear(@in" : "exit("); break;
	}
	put(m, ");\n");
}

static void loop(struct maker *m)
{
	u32 kind = pick(m, 4), n = m->for_vars++;

	if (kind == 0)
		PUTF(m, "for ($f%u : 0..%u) ", n, pick(m, 60));
	else if (kind == 1)
		PUTF(m, "for ($f%u : @%s) ", n, pick(m, 2) ? "in" : "ck");
	else if (kind == 2)
		PUTF(m, "unroll (%u) ", 1 + pick(m, 4));
	else
		PUTF(m, "$w%u = 0; while ($w%u < %u) { $w%u++; ", n, n, 1 + pick(m, 12), n);
	m->loops++;
	block(m);
	m->loops--;
	if (kind == 3)
		put(m, "}\n");
}

static void statement(struct maker *m)
{
	u32 kind = pick(m, 14);

	m->depth = m->depth ? m->depth : 0;
	switch (kind) {
	case 0:
	case 1:
	case 2: assign(m); break;
	case 3:
	case 4:
	case 5: map_assign(m); break;
	case 6:
	case 7: print(m); break;
	case 8:
		put(m, "if (");
		expression(m, INT);
		put(m, ") ");
		block(m);
		if (pick(m, 2)) {
			put(m, "else ");
			block(m);
		}
		break;
	case 9:
		if (m->loops < 2)
			loop(m);
		break;
	case 10:
		if (m->loops && pick(m, 2))
			put(m, pick(m, 2) ? "break;\n" : "continue;\n");
		else
			put(m, "let $z = 5; if ($z > pid) { return; }\n");
		break;
	case 11:
		put(m, pick(m, 2) ? "if comptime (is_str(comm)) " : "if comptime (0) ");
		block(m);
		put(m, "else ");
		block(m);
		break;
	case 12:
		put(m, "@la = hist((nsecs - ");
		expression(m, INT);
		put(m, ") / 1000); @re = (a=cpu, b=comm); @en[TCP_LISTEN] = true;\n");
		break;
	default:
		expression(m, INT);
		put(m, ";\n");
		break;
	}
}

static void block(struct maker *m)
{
	u32 saved[WANTS];

	memcpy(saved, m->vars, sizeof(saved));
	m->depth++;
	put(m, "{\n");
	for (u32 n = 1 + pick(m, 4); n && !done(m); n--)
		statement(m);
	put(m, "}\n");
	m->depth--;
	memcpy(m->vars, saved, sizeof(saved));
}

/* --- programs --------------------------------------------------------------------------------- */

struct place {
	const char *spec;
	const char *const *fields;
};

static const char *const switch_fields[] = { "prev_pid", "prev_state", "next_prio", NULL };
static const char *const open_fields[] = { "dfd", "flags", "mode", NULL };
static const char *const raw_fields[] = { "preempt", "prev->pid", "next->prio", NULL };
static const struct place places[] = {
	{ "BEGIN", NULL },
	{ "interval:s:1", NULL },
	{ "profile:hz:9", NULL },
	{ "tracepoint:sched:sched_switch", switch_fields },
	{ "tracepoint:syscalls:sys_enter_openat", open_fields },
	{ "rawtracepoint:sched_switch", raw_fields },
	{ "tracepoint:syscalls:sys_exit_*", NULL },
	{ "uprobe:libc:malloc", NULL },
	{ "software:page-faults:100", NULL },
};

static void program(struct maker *m)
{
	put(m, "config = { max_map_keys = 16; }\n"
	       "struct pair { int a; unsigned bits : 5; short list[4]; };\n"
	       "END { @in[1] = 1; @sk[1] = \"x\"; @ck[1, \"k\"] = count(); @tu[1] = (1, \"y\");\n"
	       "@st = \"z\"; @ag[1] = sum(5); @pl = 1; }\n");
	for (u32 n = 1 + pick(m, 2); n; n--) {
		const struct place *p = &places[pick(m, ARRAY_SIZE(places))];

		m->fields = p->fields;
		memset(m->vars, 0, sizeof(m->vars));
		put(m, p->spec);
		if (pick(m, 3) == 0) {
			put(m, " /");
			expression(m, INT);
			put(m, "/");
		}
		put(m, " {\n");
		for (u32 k = 1 + pick(m, 8); k && m->text.len < MAX_TEXT; k--)
			statement(m);
		put(m, "}\n");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const params[] = { "parameter" };
	struct lang_opts opts = { .params = params, .n_params = 1 };
	struct maker m = { .data = data, .size = size, .text = BUF_INIT };
	struct buf diagnostics = BUF_INIT;
	struct err e = ERR_INIT;
	struct lang *l = NULL;

	program(&m);
	if (lang_compile("fuzz", m.text.data, m.text.len, &opts, &l, &diagnostics, &e) == 0) {
		int rc = lang_verify(l, &diagnostics, &e);

		/* Without the right to load there is nothing to learn; memory may be short. */
		if (rc < 0 && rc != -EPERM && rc != -ENOMEM) {
			fprintf(stderr, "%s\n%s%s\n%s\n", m.text.data, buf_str(&diagnostics),
				e.what, e.hint ? e.hint : "");
			abort();
		}
		lang_free(l);
	} else if (getenv("FUZZ_SHOW")) {
		fprintf(stderr, "%s\n%s\n", m.text.data, buf_str(&diagnostics));
	}
	err_release(&e);
	buf_release(&diagnostics);
	buf_release(&m.text);
	return 0;
}
