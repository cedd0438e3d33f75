/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tool/prelude.h"

#include "base/asset.h"
#include "base/io.h"
#include "host/cgroup.h"
#include "lang/row.h"
#include "profile/gzip.h"

#include <dirent.h>
#include <glob.h>
#include <pwd.h>
#include <sys/types.h>

enum { MACROS_MOST = 1 << 20, IDS_MOST = 256, COMM_MOST = 15 };

/* "pid == 1 || pid == 2", ranges as such. */
static int add_ids(struct buf *out, const char *word, const range_list *list, struct err *e)
{
	if (list->len > IDS_MOST)
		return err_set(e, E2BIG, "more than %d processes are given", IDS_MOST);
	vec_each(it, list) {
		buf_addstr(out, it == list->items ? "" : " || ");
		if (it->first == it->last)
			buf_addf(out, "%s == %llu", word, (unsigned long long)it->first);
		else
			buf_addf(out, "(%s >= %llu && %s <= %llu)", word,
				 (unsigned long long)it->first, word, (unsigned long long)it->last);
	}
	return 0;
}

static int add_users(struct buf *out, const str_list *users, struct err *e)
{
	for (size_t i = 0; i < users->len; i++) {
		const struct passwd *pw = getpwnam(users->items[i]);
		u64 uid;

		if (pw) {
			uid = pw->pw_uid;
		} else if (parse_u64_range(users->items[i], 0, UINT32_MAX, &uid, NULL) < 0) {
			return err_set(e, EINVAL, "unknown user '%s'", users->items[i]);
		}
		buf_addf(out, "%suid == %llu", i ? " || " : "", (unsigned long long)uid);
	}
	return 0;
}

/* --- control groups: the ones named, and those below them now -----------------------------------
 */

static int add_groups_below(struct buf *out, const char *path, size_t *n, int depth, struct err *e);

static int add_group(struct buf *out, const char *path, size_t *n, int depth, struct err *e)
{
	u64 id;
	int rc = cgroup_id(path, &id, e);

	if (rc < 0)
		return rc;
	if (++*n > IDS_MOST)
		return err_set(e, E2BIG, "more than %d control groups lie below those given",
			       IDS_MOST);
	buf_addf(out, "%scgroup == %llu", *n > 1 ? " || " : "", (unsigned long long)id);
	return add_groups_below(out, path, n, depth + 1, e);
}

static int add_groups_below(struct buf *out, const char *path, size_t *n, int depth, struct err *e)
{
	DIR *dir = depth < 32 ? opendir(path) : NULL;
	const struct dirent *d;
	int rc = 0;

	while (dir && rc == 0 && (d = readdir(dir))) {
		_cleanup_free_ char *below = NULL;

		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		below = xasprintf("%s/%s", path, d->d_name);
		rc = add_group(out, below, n, depth, e);
	}
	if (dir)
		closedir(dir);
	return rc;
}

static int add_cgroups(struct buf *out, const str_list *names, struct err *e)
{
	_cleanup_cgroup_mounts_ struct cgroup_mounts mounts = CGROUP_MOUNTS_INIT;
	size_t n = 0;
	int rc = cgroup_mounts_read(&mounts, e);

	for (size_t i = 0; rc == 0 && i < names->len; i++) {
		_cleanup_buf_ struct buf path = BUF_INIT;

		rc = cgroup_find(&mounts, names->items[i], &path, e);
		if (rc == 0)
			rc = add_group(out, buf_str(&path), &n, 0, e);
	}
	return rc;
}

/* --- names ------------------------------------------------------------------------------------ */

static void add_quoted(struct buf *out, const char *s, size_t n)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"' || s[i] == '\\')
			buf_addch(out, '\\');
		buf_addch(out, s[i]);
	}
	buf_addch(out, '"');
}

static int add_comm(struct buf *out, const char *glob, struct err *e)
{
	size_t n = strlen(glob);
	bool before = n && glob[0] == '*', after = n > 1 && glob[n - 1] == '*';
	const char *s = glob + before;

	n -= (size_t)before + (size_t)after;
	if (!n || n > COMM_MOST || memchr(s, '*', n) || strpbrk(s, "?[") || (before && !after)) {
		err_set(e, EINVAL, "'%s' is not a pattern that --comm can have", glob);
		err_hint(e, "a name of up to 15 letters: 'nginx', 'nginx*' or '*ngin*'");
		return -EINVAL;
	}
	if (before)
		buf_addstr(out, "strcontains(comm, ");
	else
		buf_addstr(out, after ? "strncmp(comm, " : "comm == ");
	add_quoted(out, s, n);
	if (before)
		buf_addstr(out, ")");
	else if (after)
		buf_addf(out, ", %zu) == 0", n);
	return 0;
}

/* --- children --------------------------------------------------------------------------------- */

/*
 * The tree grows as processes fork; those that were there before are found now. The roots are
 * compared by number, for a program may run before anything is in the map.
 */
static int add_tree(const range_list *roots, struct buf *out, struct err *e)
{
	_cleanup_buf_ struct buf parent = BUF_INIT;
	int rc = add_ids(&parent, "args.parent->tgid", roots, e);

	if (rc < 0)
		return rc;
	buf_addstr(out, "\nlet @target_tree = hash(65536);\nbegin {");
	vec_each(it, roots)
		for (u64 id = it->first; id <= it->last && id - it->first < IDS_MOST; id++)
			buf_addf(out, " @target_tree[%llu] = 1;", (unsigned long long)id);
	buf_addstr(out, " }\n"
			"iter:task {\n"
			"	if (has_key(@target_tree, ctx.task->real_parent->tgid)) {\n"
			"		@target_tree[ctx.task->tgid] = 1;\n"
			"	}\n"
			"}\n"
			"rawtracepoint:sched_process_fork {\n");
	buf_addf(out, "	if (%s || has_key(@target_tree, args.parent->tgid)) {\n", buf_str(&parent));
	buf_addstr(out, "		@target_tree[args.child->tgid] = 1;\n"
			"	}\n"
			"}\n"
			"rawtracepoint:sched_process_exit {\n"
			"	if (args.p->pid == args.p->tgid) { delete(@target_tree, "
			"args.p->tgid); }\n"
			"}\n");
	return 0;
}

struct clause {
	struct buf *out;
	bool any;
};

static void begin_clause(struct clause *c)
{
	buf_addstr(c->out, c->any ? " && (" : "(");
	c->any = true;
}

static int add_clauses(const struct tool_args *a, const range_list *pids, bool tree,
		       struct buf *out, struct err *e)
{
	struct clause c = { .out = out };
	int rc = 0;

	if (pids->len) {
		begin_clause(&c);
		rc = add_ids(out, "pid", pids, e);
		if (tree)
			buf_addstr(out, " || has_key(@target_tree, pid)");
		buf_addch(out, ')');
	}
	if (rc == 0 && a->tids.len) {
		begin_clause(&c);
		rc = add_ids(out, "tid", &a->tids, e);
		buf_addch(out, ')');
	}
	if (rc == 0 && a->users.len) {
		begin_clause(&c);
		rc = add_users(out, &a->users, e);
		buf_addch(out, ')');
	}
	if (rc == 0 && a->cgroups.len) {
		begin_clause(&c);
		rc = add_cgroups(out, &a->cgroups, e);
		buf_addch(out, ')');
	}
	if (rc == 0 && a->comm) {
		begin_clause(&c);
		rc = add_comm(out, a->comm, e);
		buf_addch(out, ')');
	}
	if (!c.any)
		buf_addch(out, '1');
	return rc;
}

/* Puts @with in the place of each @what that is a word of its own. */
static void replace(struct buf *source, const char *what, const char *with)
{
	size_t n = strlen(what), from = 0;
	struct buf out = BUF_INIT;
	const char *at;

	while ((at = memmem(source->data + from, source->len - from, what, n))) {
		size_t offset = (size_t)(at - source->data);
		bool word = !offset || !strchr("abcdefghijklmnopqrstuvwxyz_", at[-1]);

		buf_add(&out, source->data + from, offset - from);
		buf_addstr(&out, word ? with : what);
		from = offset + n;
	}
	buf_add(&out, source->data + from, source->len - from);
	buf_release(source);
	*source = out;
}

int prelude_target(const struct tool_args *a, pid_t launched, struct buf *source, struct err *e)
{
	struct range program = { (u64)launched, (u64)launched };
	range_list own = { .items = &program, .len = 1 };
	const range_list *pids = launched ? &own : &a->pids;
	bool tree = pids->len && (launched || a->children);
	_cleanup_buf_ struct buf test = BUF_INIT;
	int rc;

	buf_addch(&test, '(');
	rc = add_clauses(a, pids, tree, &test, e);
	buf_addch(&test, ')');
	if (rc < 0)
		return rc;
	replace(source, "target()", buf_str(&test));
	buf_reset(&test);
	buf_addf(&test, "(pid == %d)", (int)getpid());
	replace(source, "own()", buf_str(&test));
	return tree ? add_tree(pids, source, e) : 0;
}

void prelude_macros(struct buf *out)
{
	const struct asset *a = asset_find("tools/macros.txt");

	buf_addch(out, '\n');
	if (a)
		(void)gzip_unpack(a->gzip, a->size, MACROS_MOST, out, NULL);
}

void prelude_filter(const struct tool *t, const char *filter, struct buf *out)
{
	bool any = false;

	buf_addstr(out, "\nmacro " ROW_FILTER "(");
	vec_each(it, &t->header.columns) {
		if (it->expr)
			continue;
		buf_addf(out, "%s%s", any ? ", " : "", it->name);
		any = true;
	}
	buf_addf(out, ") { %s }\n", filter);
}

/* --- parameters ------------------------------------------------------------------------------- */

static const char *param(const struct tool_option *o, const u64 *value, struct arena *arena)
{
	const char *text;
	int choice;

	switch (o->kind) {
	case OPTION_FLAG:
		return *(const bool *)value ? arena_printf(arena, "--%s=1", o->name) : NULL;
	case OPTION_STRING:
		memcpy(&text, value, sizeof(text));
		return text ? arena_printf(arena, "--%s=%s", o->name, text) : NULL;
	case OPTION_CHOICE:
		memcpy(&choice, value, sizeof(choice));
		text = o->choices;
		for (; choice > 0 && strchr(text, '|'); choice--)
			text = strchr(text, '|') + 1;
		return arena_printf(arena, "--%s=%.*s", o->name, (int)strcspn(text, "|"), text);
	case OPTION_INT: return arena_printf(arena, "--%s=%lld", o->name, (long long)*value);
	case OPTION_DURATION:
	case OPTION_SIZE: break;
	}
	return arena_printf(arena, "--%s=%llu", o->name, (unsigned long long)*value);
}

/* The file of this name that the process has mapped; NULL: none. */
static const char *mapped_file(int pid, const char *path, struct arena *arena)
{
	_cleanup_buf_ struct buf maps = BUF_INIT;
	const char *slash = strrchr(path, '/');
	char name[64], *save = NULL;

	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	if (!slash || !pid || io_read_file(name, IO_MAX_PROC, &maps, NULL) < 0)
		return NULL;
	for (char *line = strtok_r(maps.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *file = strchr(line, '/');

		if (file && ends_with(file, slash))
			return arena_strdup(arena, file);
	}
	return NULL;
}

/* A pattern stands for the first file that it matches. */
static const char *first_match(const char *path, struct arena *arena)
{
	const char *found = path;
	glob_t g = { 0 };

	if (strpbrk(path, "*?[") && glob(path, 0, NULL, &g) == 0 && g.gl_pathc)
		found = arena_strdup(arena, g.gl_pathv[0]);
	globfree(&g);
	return found;
}

/* The text of an option that names what probes are on. */
static const char *named_value(const struct tool *t, const struct tool_args *a, const char *name)
{
	const char *text = NULL;

	for (size_t i = 0; i < t->header.options.len; i++) {
		if (!streq(t->header.options.items[i].name, name))
			continue;
		if (a)
			memcpy(&text, &a->values[i], sizeof(text));
		else
			text = t->header.options.items[i].def;
	}
	return text ? text : "";
}

/* $1: what the option 'file' says; an empty text where there is none. */
static const char *file_param(const struct tool *t, const struct tool_args *a, int pid,
			      struct arena *arena)
{
	const char *text = named_value(t, a, "file"), *mapped = mapped_file(pid, text, arena);

	return mapped ? mapped : first_match(text, arena);
}

/* $3: what the option 'frequency' says. */
static const char *frequency_param(const struct tool *t, const struct tool_args *a,
				   struct arena *arena)
{
	for (size_t i = 0; i < t->header.options.len; i++) {
		const struct tool_option *o = &t->header.options.items[i];

		if (!streq(o->name, "frequency"))
			continue;
		return a ? arena_printf(arena, "%lld", (long long)a->values[i]) : o->def;
	}
	return "";
}

const char *const *prelude_defaults(const struct tool *t, struct arena *arena, size_t *ret_n)
{
	const char **list = arena_zalloc(arena, (t->header.options.len + 4) * sizeof(*list));
	size_t n = 0;

	list[n++] = file_param(t, NULL, 0, arena);
	list[n++] = named_value(t, NULL, "function");
	list[n++] = frequency_param(t, NULL, arena);
	vec_each(it, &t->header.options)
		if (it->def && (it->kind == OPTION_STRING || it->kind == OPTION_CHOICE))
			list[n++] = arena_printf(arena, "--%s=%s", it->name, it->def);
	*ret_n = n;
	return list;
}

const char *const *prelude_params(const struct tool *t, const struct tool_args *a, int pid,
				  struct arena *arena, size_t *ret_n)
{
	const char **list = arena_zalloc(arena, (t->header.options.len + 8) * sizeof(*list));
	size_t n = 0;

	list[n++] = file_param(t, a, pid, arena);
	list[n++] = named_value(t, a, "function");
	list[n++] = frequency_param(t, a, arena);
	for (size_t i = 0; i < t->header.options.len; i++) {
		const char *text = param(&t->header.options.items[i], &a->values[i], arena);

		if (text)
			list[n++] = text;
	}
	if (t->header.min)
		list[n++] = arena_printf(arena, "--min=%llu", (unsigned long long)a->min);
	/* only there: others may have an option of that name */
	if (pid && (t->header.user_process || t->header.may_process))
		list[n++] = arena_printf(arena, "--process=%d", pid);
	if (pid || a->pids.len || a->tids.len || a->users.len || a->cgroups.len || a->comm)
		list[n++] = "--target=1";
	*ret_n = n;
	return list;
}
