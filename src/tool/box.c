/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding tools: by name, by one of their other names, or all of them. */
#include "tool/tool.h"

#include "base/asset.h"
#include "base/io.h"
#include "profile/gzip.h"

#include <dirent.h>

enum { SCRIPT_MOST = 1 << 20, OWN_MOST = 1000 };

/* What other collections add to the names of their tools. */
static const char *const suffixes[] = { "-bpfcc", "-libbpf", ".bt", ".py", NULL };

/* Built-in commands that list the others. */
static const char *const about_commands[] = { "help", "completion", "tools", NULL };

void tool_free(struct tool *t)
{
	if (!t)
		return;
	free(t->name);
	free(t->path);
	buf_release(&t->text);
	header_release(&t->header);
	arena_release(&t->arena);
	free(t);
}

int tool_read(const char *name, const char *path, const struct buf *text, struct tool **ret,
	      struct buf *diagnostics, struct err *e)
{
	struct tool *t = xcalloc(1, sizeof(*t));
	_cleanup_free_ char *file = xasprintf("%s.bt", name);
	int rc;

	t->name = xstrdup(name);
	t->path = path ? xstrdup(path) : NULL;
	buf_add(&t->text, buf_str(text), text->len);
	rc = header_parse(path ? path : file, buf_str(&t->text), t->text.len, &t->header,
			  diagnostics, e);
	if (rc < 0) {
		tool_free(t);
		return rc;
	}
	tool_make_command(t);
	*ret = t;
	return 0;
}

bool tool_own_folder(struct buf *ret)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config)
		buf_addf(ret, "%s/fathom/tools", config);
	else if (home && *home)
		buf_addf(ret, "%s/.config/fathom/tools", home);
	else
		return false;
	return true;
}

const struct tool *tool_of(const struct command *c)
{
	return c->run == tool_run ? CONTAINER_OF(c, const struct tool, command) : NULL;
}

static const struct tool *find_tool(const struct toolbox *b, const char *name)
{
	vec_each(it, &b->tools)
		if (streq((*it)->name, name))
			return *it;
	return NULL;
}

static const struct command *find_builtin(const struct toolbox *b, const char *name)
{
	vec_each(it, &b->commands)
		if (streq((*it)->name, name) && !tool_of(*it))
			return *it;
	return NULL;
}

static void add_tool(struct toolbox *b, const char *name, const char *path, const struct buf *text)
{
	struct err e = ERR_INIT;
	struct tool *t;

	if (find_tool(b, name))
		return;
	if (find_builtin(b, name)) {
		if (path)
			buf_addf(&b->faults,
				 "'%s' is not used: '%s' is a command of fathom itself\n", path,
				 name);
		return;
	}
	if (tool_read(name, path, text, &t, &b->faults, &e) == 0) {
		_cleanup_free_ char *asset = xasprintf("tools/%s.bt", name);

		t->shadows = path && asset_find(asset);
		vec_push(&b->tools, t);
	} else if (!b->faults.len && e.what) {
		buf_addf(&b->faults, "%s\n", e.what);
	}
	err_release(&e);
}

static bool add_asset(struct toolbox *b, const struct asset *a)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *file = a ? starts_with(a->name, "tools/") : NULL;
	_cleanup_free_ char *name = NULL;

	if (!file || !ends_with(file, ".bt"))
		return false;
	if (gzip_unpack(a->gzip, a->size, SCRIPT_MOST, &text, NULL) < 0)
		return false;
	name = xstrndup(file, strlen(file) - 3);
	add_tool(b, name, NULL, &text);
	return true;
}

static bool add_own(struct toolbox *b, const char *folder, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s.bt", folder, name);
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct err e = ERR_INIT;
	int rc;

	if (!io_exists(path))
		return false;
	rc = io_read_file(path, SCRIPT_MOST, &text, &e);
	if (rc < 0)
		buf_addf(&b->faults, "%s\n", e.what);
	else
		add_tool(b, name, path, &text);
	err_release(&e);
	return rc == 0;
}

static void add_folder(struct toolbox *b)
{
	_cleanup_buf_ struct buf folder = BUF_INIT;
	const struct dirent *d;
	size_t n = 0;
	DIR *dir;

	if (!tool_own_folder(&folder))
		return;
	dir = opendir(buf_str(&folder));
	while (dir && n < OWN_MOST && (d = readdir(dir))) {
		_cleanup_free_ char *name = NULL;

		if (d->d_name[0] == '.' || !ends_with(d->d_name, ".bt"))
			continue;
		name = xstrndup(d->d_name, strlen(d->d_name) - 3);
		n += add_own(b, buf_str(&folder), name);
	}
	if (dir)
		closedir(dir);
}

/* The user's own come first: of two with one name, theirs is used. */
static void add_all(struct toolbox *b)
{
	if (b->all)
		return;
	b->all = true;
	add_folder(b);
	for (const struct asset *a = asset_all(); a->name; a++)
		add_asset(b, a);
}

static bool add_named(struct toolbox *b, const char *name)
{
	_cleanup_free_ char *file = xasprintf("tools/%s.bt", name);
	_cleanup_buf_ struct buf folder = BUF_INIT;

	if (strchr(name, '/'))
		return false;
	if (tool_own_folder(&folder) && add_own(b, buf_str(&folder), name) && find_tool(b, name))
		return true;
	return add_asset(b, asset_find(file));
}

/* --- other names ------------------------------------------------------------------------------ */

static const struct tool_alias *find_alias(const struct toolbox *b, const char *name,
					   const struct tool **ret)
{
	vec_each(it, &b->tools) {
		vec_each(alias, &(*it)->header.aliases) {
			if (streq(alias->name, name)) {
				*ret = *it;
				return alias;
			}
		}
	}
	return NULL;
}

static void push_word(struct toolbox *b, const char *word, size_t n)
{
	vec_push(&b->words, xstrndup(word, n));
}

static void push_words(struct toolbox *b, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");

		if (n)
			push_word(b, words, n);
		words += n + (words[n] == ' ');
	}
}

/* The word of argv that names the command; 0: none. */
static int command_word(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-' || !argv[i][1])
			return i;
	return 0;
}

/* "help NAME" and NAME itself: the word that may be another name of something. */
static int named_word(int argc, char **argv, int at)
{
	if (at && streq(argv[at], "help")) {
		for (int i = at + 1; i < argc; i++)
			if (argv[i][0] != '-')
				return i;
	}
	return at;
}

static char *without_suffix(const char *name)
{
	for (const char *const *s = suffixes; *s; s++)
		if (ends_with(name, *s) && strlen(name) > strlen(*s))
			return xstrndup(name, strlen(name) - strlen(*s));
	return xstrdup(name);
}

/* argv as it is to be read, with @name at @at replaced by @command and @words. */
static void rewrite(struct toolbox *b, int argc, char **argv, int at, const char *command,
		    const char *words)
{
	for (int i = 0; i < argc; i++) {
		if (i != at) {
			push_word(b, argv[i], strlen(argv[i]));
			continue;
		}
		push_word(b, command, strlen(command));
		push_words(b, words);
	}
}

static void resolve(struct toolbox *b, int argc, char **argv, int at, bool with_words)
{
	_cleanup_free_ char *name = without_suffix(argv[at]);
	const struct tool_alias *alias = NULL;
	const struct tool *t = NULL;

	if (!find_builtin(b, name) && !find_tool(b, name) && !add_named(b, name)) {
		add_all(b);
		alias = find_alias(b, name, &t);
		if (alias)
			rewrite(b, argc, argv, at, t->name, with_words ? alias->words : "");
		else if (!streq(name, argv[at]))
			rewrite(b, argc, argv, at, name, "");
		return;
	}
	if (!streq(name, argv[at]))
		rewrite(b, argc, argv, at, name, "");
}

/* "run FILE ...": the script becomes a tool, and the words those of its command. */
static bool add_script(struct toolbox *b, int argc, char **argv, int at)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *name = NULL;
	const char *path = at + 1 < argc ? argv[at + 1] : NULL, *slash;
	struct err e = ERR_INIT;
	struct tool *t = NULL;

	if (!path || path[0] == '-')
		return false;
	if (io_read_file(path, SCRIPT_MOST, &text, &e) < 0) {
		buf_addf(&b->faults, "fathom: %s\n", e.what);
		b->refused = true;
	} else if (header_present(buf_str(&text), text.len)) {
		slash = strrchr(path, '/');
		name = xstrdup(slash ? slash + 1 : path);
		if (ends_with(name, ".bt"))
			name[strlen(name) - 3] = 0;
		/* whatever else has this name: the file is meant */
		vec_clear(&b->commands);
		b->refused = tool_read(name, path, &text, &t, &b->faults, &e) < 0;
	}
	err_release(&e);
	if (!t)
		return false;
	vec_push(&b->tools, t);
	for (int i = 0; i < argc; i++)
		if (i != at + 1)
			push_word(b, i == at ? name : argv[i], strlen(i == at ? name : argv[i]));
	return true;
}

/* Called by the name of a command ("bpftrace"): all words are its own. */
static bool is_called_as_command(const struct toolbox *b, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && find_builtin(b, slash ? slash + 1 : path);
}

/* "perf lock", or a link with the name perf: a command of perf may be a tool here. */
static void add_for_perf(struct toolbox *b, int argc, char **argv, int from)
{
	for (int i = from; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		if (!find_builtin(b, argv[i]))
			add_named(b, argv[i]);
		return;
	}
}

static bool is_perf(const char *path)
{
	const char *slash = strrchr(path, '/');

	return streq(slash ? slash + 1 : path, "perf");
}

static void add_tools(struct toolbox *b, int argc, char **argv)
{
	int at = command_word(argc, argv), named = named_word(argc, argv, at);
	bool version = argc == 2 && (streq(argv[1], "--version") || streq(argv[1], "-V"));
	bool about = at ? streq_any(argv[at], about_commands) : !version;

	if (is_called_as_command(b, argv[0])) {
		if (is_perf(argv[0]))
			add_for_perf(b, argc, argv, 1);
		return;
	}
	if (about)
		add_all(b);
	if (at && streq(argv[at], "perf"))
		add_for_perf(b, argc, argv, at + 1);
	else if (at && streq(argv[at], "run"))
		add_script(b, argc, argv, at);
	else if (named && (!about || named != at))
		resolve(b, argc, argv, named, named == at);
}

void toolbox_init(struct toolbox *b, const struct command *const *commands, size_t n, int argc,
		  char **argv)
{
	*b = (struct toolbox){ 0 };
	for (size_t i = 0; i < n; i++)
		vec_push(&b->commands, commands[i]);
	if (argc)
		add_tools(b, argc, argv);
	vec_each(it, &b->tools)
		vec_push(&b->commands, &(*it)->command);
	if (b->words.len)
		vec_push(&b->words, NULL);
}

void toolbox_release(struct toolbox *b)
{
	vec_each(it, &b->tools)
		tool_free(*it);
	vec_each(it, &b->words)
		free(*it);
	vec_release(&b->tools);
	vec_release(&b->words);
	vec_release(&b->commands);
	buf_release(&b->faults);
}
