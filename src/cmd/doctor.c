/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include "base/buf.h"
#include "host/caps.h"
#include "host/features.h"
#include "host/machine.h"

#include <ctype.h>
#include <fnmatch.h>

#ifndef FATHOM_VERSION
#define FATHOM_VERSION "unknown"
#endif

enum {
	DETAIL_WIDTH = 48, /* what 80 columns leave for the last column */
	NAME_WIDTH = 21,
	STATUS_WIDTH = 7,
};

enum { COL_GROUP, COL_MECHANISM, COL_STATUS, COL_DETAIL, COL_LOST, COL_FIX, COL_CODE };

static const struct column columns[] = {
	[COL_GROUP] = { "group", "GROUP", VALUE_TEXT, COLUMN_HIDDEN },
	[COL_MECHANISM] = { "mechanism", "MECHANISM", VALUE_TEXT, 0 },
	[COL_STATUS] = { "status", "STATUS", VALUE_TEXT, 0 },
	[COL_DETAIL] = { "detail", "DETAIL", VALUE_TEXT, COLUMN_FILL },
	[COL_LOST] = { "lost", "LOST", VALUE_TEXT, COLUMN_HIDDEN },
	[COL_FIX] = { "fix", "FIX", VALUE_TEXT, COLUMN_HIDDEN },
	[COL_CODE] = { "errno", "ERRNO", VALUE_COUNT, COLUMN_HIDDEN },
};

/* What the rows are added up and shown with. */
struct doctor {
	struct result *r;
	struct table *table;
	bool people; /* lines for reading: one table per group, explanations below the rows */
	bool verbose;
	const char *group;    /* of the last row */
	char fix[PROBE_TEXT]; /* the last one shown: it is not repeated */
	u64 caps;             /* that would give what is missing */
	u64 counts[FEATURE_MISSING + 1];
};

static enum style style_of(enum feature_status status)
{
	switch (status) {
	case FEATURE_WORKS: return STYLE_GOOD;
	case FEATURE_PARTLY: return STYLE_WARN;
	case FEATURE_MISSING: return STYLE_BAD;
	case FEATURE_UNKNOWN: break;
	}
	return STYLE_DIM;
}

/* The heading of a group's table is the group: "PERF EVENTS  STATUS  DETAIL". */
static void begin_group(struct doctor *d, const char *group)
{
	struct column mine[ARRAY_SIZE(columns)];
	char title[64];
	size_t n = 0;

	memcpy(mine, columns, sizeof(mine));
	for (; n < sizeof(title) - 1 && group[n]; n++)
		title[n] = (char)toupper((unsigned char)group[n]);
	title[n] = '\0';
	if (d->people)
		mine[COL_MECHANISM].title = title;
	if (d->people || !d->table)
		d->table = result_table(d->r, "rows", NULL, mine, ARRAY_SIZE(mine));
	d->group = group;
	d->fix[0] = '\0';
}

static void extra_line(struct doctor *d, const char *text, size_t len)
{
	struct row *row = table_row(d->r, d->table);

	row->cells[COL_MECHANISM] = value_text(d->r, "");
	row->cells[COL_STATUS] = value_text(d->r, "");
	row->cells[COL_DETAIL] = value_textf(d->r, "%.*s", (int)len, text);
	row->style = STYLE_DIM;
}

/* Where to break the line so that it fits: at a blank, unless there is none. */
static size_t line_length(const char *text)
{
	size_t len = strlen(text), at = DETAIL_WIDTH;

	if (len <= DETAIL_WIDTH)
		return len;
	while (at > 0 && text[at] != ' ')
		at--;
	return at > 0 ? at : DETAIL_WIDTH;
}

/* Text in as many lines as it takes. */
static void extra_lines(struct doctor *d, const char *text)
{
	while (*text) {
		size_t n = line_length(text);

		extra_line(d, text, n);
		text += n;
		text += strspn(text, " ");
	}
}

/* "fix: mount ..." below its row. */
static void explain(struct doctor *d, const char *what, const char *text)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_addf(&line, "%s: %s", what, text);
	extra_lines(d, buf_str(&line));
}

static void machine_row(struct doctor *d, const struct probe *p, const struct probe_result *res)
{
	struct row *row = table_row(d->r, d->table);
	bool works = res->status == FEATURE_WORKS;

	row->cells[COL_GROUP] = value_text(d->r, p->group);
	row->cells[COL_MECHANISM] = value_text(d->r, p->name);
	row->cells[COL_STATUS] = value_text(d->r, features_status_name(res->status));
	row->cells[COL_DETAIL] = value_text(d->r, res->detail[0] ? res->detail : NULL);
	row->cells[COL_LOST] = value_text(d->r, works ? NULL : p->lost);
	row->cells[COL_FIX] = value_text(d->r, res->fix[0] ? res->fix : NULL);
	if (res->code)
		row->cells[COL_CODE] = value_u(VALUE_COUNT, (u64)res->code);
}

/* Padded, so that the tables of all groups are below one another. */
static void people_row(struct doctor *d, const struct probe *p, const struct probe_result *res)
{
	struct row *row = table_row(d->r, d->table);
	size_t first = line_length(res->detail);

	row->cells[COL_MECHANISM] = value_textf(d->r, "%-*s", NAME_WIDTH, p->name);
	row->cells[COL_STATUS] =
		value_textf(d->r, "%-*s", STATUS_WIDTH, features_status_name(res->status));
	row->cells[COL_DETAIL] = value_textf(d->r, "%.*s", (int)first, res->detail);
	row->style = style_of(res->status);
	extra_lines(d, res->detail + first + strspn(res->detail + first, " "));
	if (res->status == FEATURE_WORKS)
		return;
	if (d->verbose)
		explain(d, "lost", p->lost);
	/* Capabilities are named in the detail; how to get all of them is said once, at the end. */
	if (res->caps) {
		d->caps |= res->code ? res->caps : 0;
		return;
	}
	if (res->fix[0] && !streq(d->fix, res->fix))
		explain(d, "fix", res->fix);
	snprintf(d->fix, sizeof(d->fix), "%s", res->fix);
}

static void add_row(struct doctor *d, const struct probe *p, const struct probe_result *res)
{
	if (!d->group || !streq(d->group, p->group))
		begin_group(d, p->group);
	d->counts[res->status]++;
	if (d->people)
		people_row(d, p, res);
	else
		machine_row(d, p, res);
}

/* From the file itself: the C library's way loads plug-ins, which a static program should not. */
static void user_name(struct buf *out, u32 uid)
{
	_cleanup_fclose_ FILE *f = fopen("/etc/passwd", "re");
	char line[1024];

	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':'),
			   *field = colon ? strchr(colon + 1, ':') : NULL;
		u64 n;

		if (!field || colon == line)
			continue;
		field++;
		if (scan_u64(&field, line + strlen(line), 10, &n) && *field == ':' && n == uid) {
			buf_add(out, line, (size_t)(colon - line));
			return;
		}
	}
	buf_addf(out, "uid %u", uid);
}

/* "root", "nobody", "root without CAP_SYS_RESOURCE", "me with CAP_BPF, CAP_PERFMON" */
static struct value user_text(struct result *r, u64 caps)
{
	const u64 all = ((u64)1 << (CAP_LAST_CAP + 1)) - 1;
	_cleanup_buf_ struct buf text = BUF_INIT, list = BUF_INIT;

	user_name(&text, geteuid());
	if (geteuid() == 0 && (caps & all) != all) {
		caps_list(&list, all & ~caps, ", ", false);
		buf_addf(&text, " without %s", buf_str(&list));
	} else if (geteuid() != 0 && caps) {
		caps_list(&list, caps, ", ", false);
		buf_addf(&text, " with %s", buf_str(&list));
	} else if (geteuid() != 0) {
		buf_addstr(&text, ", no capabilities");
	}
	return value_text(r, buf_str(&text));
}

static void add_facts(struct result *r, const struct host_machine *m, u64 caps)
{
	_cleanup_buf_ struct buf list = BUF_INIT;

	result_title(r, "fathom %s on %s", FATHOM_VERSION, m->hostname);
	result_fact(r, "version", NULL, value_text(r, FATHOM_VERSION));
	result_fact(r, "host", NULL, value_text(r, m->hostname));
	result_fact(r, "kernel", "kernel", value_textf(r, "%s %s", m->release, m->arch));
	result_fact(r, "distribution", m->distribution[0] ? "system" : NULL,
		    value_text(r, m->distribution[0] ? m->distribution : NULL));
	result_fact(r, "cpus", "CPUs", value_u(VALUE_COUNT, ranges_count(&m->online)));
	result_fact(r, "cpu_model", NULL, value_text(r, m->cpu_model[0] ? m->cpu_model : NULL));
	result_fact(r, "memory", "memory", value_u(VALUE_BYTES, m->memory));
	result_fact(r, "user", "user", user_text(r, caps));
	caps_list(&list, caps, " ", true);
	result_fact(r, "capabilities", NULL, value_text(r, buf_str(&list)));
}

/* One command for the rows that lack a capability; CAP_SYS_ADMIN is no better than root. */
static void add_remedy(const struct doctor *d, struct buf *text)
{
	u64 caps = d->caps & ~CAP_BIT(CAP_SYS_ADMIN);

	if (!caps)
		return;
	if (geteuid() == 0)
		buf_addstr(text, "\nfor rows that need a capability: let the container or service "
				 "grant\n  ");
	else
		buf_addstr(text, "\nfor rows that need a capability: run as root, or once\n  "
				 "setcap ");
	caps_list(text, caps, ",", true);
	if (geteuid() != 0)
		buf_addstr(text, "+ep /path/to/fathom");
}

static void add_summary(struct doctor *d)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	static const struct {
		enum feature_status status;
		const char *words;
	} parts[] = {
		{ FEATURE_WORKS, "work" },
		{ FEATURE_PARTLY, "work partly" },
		{ FEATURE_MISSING, "missing" },
		{ FEATURE_UNKNOWN, "unknown" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		u64 n = d->counts[parts[i].status];

		result_fact(d->r, features_status_name(parts[i].status), NULL,
			    value_u(VALUE_COUNT, n));
		if (n || parts[i].status == FEATURE_WORKS || parts[i].status == FEATURE_MISSING)
			buf_addf(&text, "%s%llu %s", text.len ? ", " : "", (unsigned long long)n,
				 parts[i].words);
	}
	if (!d->people)
		return;
	if (!d->verbose && d->counts[FEATURE_MISSING] + d->counts[FEATURE_PARTLY])
		buf_addstr(&text, " (-v shows the consequences)");
	add_remedy(d, &text);
	result_text(d->r, buf_str(&text));
}

static bool wanted(const struct context *ctx, const struct probe *p)
{
	if (ctx->operands.len == 0)
		return true;
	vec_each(glob, &ctx->operands)
		if (fnmatch(*glob, p->name, FNM_CASEFOLD) == 0 ||
		    fnmatch(*glob, p->group, FNM_CASEFOLD) == 0 || strcasestr(p->name, *glob))
			return true;
	return false;
}

static int doctor_run(struct context *ctx, void *args)
{
	_cleanup_probe_ctx_ struct probe_ctx probes = { 0 };
	_cleanup_host_machine_ struct host_machine m = { 0 };
	_cleanup_result_ struct result r = { 0 };
	struct doctor d = { .r = &r, .verbose = ctx->common.verbose > 0 };
	const struct probe *p;
	size_t shown = 0;
	int err;

	(void)args;
	result_init(&r, "doctor");
	host_machine_init(&m);
	probe_ctx_init(&probes);
	err = host_machine_read(&m, &ctx->err);
	if (err < 0)
		return err;
	add_facts(&r, &m, probes.caps);
	d.people = !cli_is_machine(ctx);
	for (size_t i = 0; (p = features_at(i)); i++) {
		struct probe_result res;

		if (!wanted(ctx, p))
			continue;
		features_try(&probes, p, &res);
		add_row(&d, p, &res);
		shown++;
	}
	if (!shown) {
		err_set(&ctx->err, ENOENT, "no mechanism matches '%s'", ctx->operands.items[0]);
		err_hint(&ctx->err, "'fathom doctor' lists all of them");
		return -ENOENT;
	}
	add_summary(&d);
	return cli_show(ctx, &r);
}

static const struct example doctor_examples[] = {
	{ "fathom doctor", "what works here, what does not, and how to fix it" },
	{ "fathom doctor -v 'attach points'", "where programs can be attached, and what is lost" },
	{ "fathom doctor kprobe fentry", "only these" },
	{ "fathom doctor --json | jq '.rows[] | select(.status != \"works\")'",
	  "what is missing, for programs" },
	{ 0 },
};

const struct command cmd_doctor = {
	.name = "doctor",
	.instead_of = "reset-trace",
	.summary = "what works on this machine, and how to fix what does not",
	.description = "Tries every mechanism that fathom can use: perf events, BPF programs and "
		       "the places where they can be attached, tracing files, privileges, "
		       "sources of names. Each row is a real trial, not a check of the version "
		       "of the kernel: a program is loaded, attached, made to run once and "
		       "removed.\n\n"
		       "A row works, works partly, is missing, or is unknown when it could not "
		       "be tried. What does not work says why and what would help; with -v also "
		       "what cannot be done without it. Words after the command are patterns: "
		       "only mechanisms or groups that match one of them are tried.\n\n"
		       "Nothing on the machine is changed: no file system is mounted, no setting "
		       "is written, every program is detached again. Ordinary users may run it; "
		       "they see which capability would give them what.",
	.question = Q_SELF,
	.operands = "[PATTERN]...",
	.max_operands = SIZE_MAX,
	.examples = doctor_examples,
	.notes = "Exits with 0 whatever is missing; programs read the status of the rows from "
		 "--json.",
	.see_also = "capabilities setcap",
	.run = doctor_run,
};
