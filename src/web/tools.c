/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/tools.h"

#include "base/asset.h"
#include "base/io.h"
#include "base/jsonread.h"

#include <fcntl.h>
#include <sys/wait.h>

enum { HELP_MOST = 16 << 20 };

void web_tools_release(struct web_tools *t)
{
	buf_release(&t->help);
}

int web_tools_load(struct web_tools *t, struct jobs *j, struct err *e)
{
	struct command_line line = { 0 };
	struct child child = CHILD_INIT;
	_cleanup_close_ int fd = -1;
	_cleanup_free_ char *why = NULL;
	_cleanup_free_ char *hint = NULL;
	int r, status;

	if (t->help.len)
		return 0;
	command_line_add(&line, "help");
	command_line_add(&line, "--json");
	r = child_start(&child, &line, j->dir, "tools.json", e);
	command_line_release(&line);
	if (r < 0) {
		child_release(&child);
		return r;
	}
	status = child_reap(&child, &(u64){ 0 });
	child_words(&child, &why, &hint);
	child_release(&child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(e, EIO, "cannot list the tools: %s",
			       why ? why : "no reason was given");
	fd = openat(j->dir, "tools.json", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(e, errno, "cannot list the tools")
		      : io_read_fd(fd, "tools.json", HELP_MOST, &t->help, e);
}

/* --- what a tool takes ------------------------------------------------------------------------ */

struct option {
	char name[WEB_NAME_MOST];
	bool flag, barred;
};

static void copy_text(char *to, size_t size, const struct json_reader *r)
{
	snprintf(to, size, "%s", json_text(r));
}

/* One object of "options". */
static void read_option(struct json_reader *r, struct option *ret)
{
	char key[32];

	*ret = (struct option){ 0 };
	while (json_read(r) == READ_KEY) {
		enum json_piece piece;

		copy_text(key, sizeof(key), r);
		piece = json_read(r);
		if (streq(key, "name") && piece == READ_STRING)
			copy_text(ret->name, sizeof(ret->name), r);
		else if (streq(key, "type") && piece == READ_STRING) {
			ret->flag = streq(json_text(r), "flag");
			ret->barred |= streq(json_text(r), "file");
		} else if (streq(key, "group") && piece == READ_STRING)
			ret->barred |= streq(json_text(r), "Output");
		else if (streq(key, "common"))
			ret->barred |= piece == READ_TRUE;
		else if (piece == READ_ARRAY || piece == READ_OBJECT)
			json_read_skip(r);
	}
}

/* Looks through "options": an array that was just opened. */
static bool find_option(struct json_reader *r, const char *name, size_t n, struct option *ret)
{
	bool found = false;
	struct option one;

	while (json_read(r) == READ_OBJECT) {
		read_option(r, &one);
		if (!found && strlen(one.name) == n && memcmp(one.name, name, n) == 0) {
			*ret = one;
			found = true;
		}
	}
	return found;
}

/* One object of "commands": does it have the option? The name is before the options. */
static bool find_in_command(struct json_reader *r, const char *tool, const char *name, size_t n,
			    struct option *ret)
{
	bool mine = false, found = false;
	char key[32];

	while (json_read(r) == READ_KEY) {
		enum json_piece piece;

		copy_text(key, sizeof(key), r);
		piece = json_read(r);
		if (streq(key, "name") && piece == READ_STRING)
			mine = streq(json_text(r), tool);
		else if (streq(key, "options") && piece == READ_ARRAY && mine)
			found = find_option(r, name, n, ret);
		else if (piece == READ_ARRAY || piece == READ_OBJECT)
			json_read_skip(r);
	}
	return found;
}

static bool find(const struct buf *help, const char *tool, const char *name, size_t n,
		 struct option *ret)
{
	struct json_reader r;
	bool found = false;
	char key[32];

	json_reader_init(&r, buf_str(help), help->len);
	if (json_read(&r) == READ_OBJECT) {
		while (json_read(&r) == READ_KEY) {
			enum json_piece piece;

			copy_text(key, sizeof(key), &r);
			piece = json_read(&r);
			if (streq(key, "commands") && piece == READ_ARRAY)
				while (!found && json_read(&r) == READ_OBJECT)
					found = find_in_command(&r, tool, name, n, ret);
			else if (piece == READ_ARRAY || piece == READ_OBJECT)
				json_read_skip(&r);
			if (found)
				break;
		}
	}
	json_reader_release(&r);
	return found;
}

int web_tools_check_in(const struct buf *help, const struct web_request *q, struct err *e)
{
	for (const char *at = q->text; *at;) {
		size_t n = strcspn(at, "\n"), name = strcspn(at, "=\n");
		struct option option;

		if (!name || !find(help, q->name, at, name, &option) || option.barred)
			return err_set(e, EINVAL,
				       "'%s' has no option '%.*s' that can be given here", q->name,
				       (int)MIN(name, (size_t)WEB_NAME_MOST), at);
		if (option.flag != (name == n))
			return err_set(e, EINVAL, "option '%s' %s", option.name,
				       option.flag ? "takes no value" : "needs a value");
		at += n + (at[n] == '\n');
	}
	return 0;
}

int web_tools_check(struct web_tools *t, struct jobs *j, const struct web_request *q, struct err *e)
{
	_cleanup_buf_ struct buf file = BUF_INIT;
	int r;

	/* scripts of this build only: those in a user's folder are free text */
	buf_addf(&file, "tools/%s.bt", q->name);
	if (!asset_find(buf_str(&file)))
		return err_set(e, EINVAL, "there is no tool '%s'", q->name);
	r = web_tools_load(t, j, e);
	return r < 0 ? r : web_tools_check_in(&t->help, q, e);
}

int web_tools_add(const struct web_tools *t, struct jobs *j, const struct web_request *q,
		  struct job **ret, struct err *e)
{
	static const char option_name[] = "flame";
	struct web_request *own = xmemdup(q, sizeof(*q));
	const struct job_input none = { 0 };
	struct option option;
	int r;

	/* one picture: not one of each second */
	own->form = !q->number && find(&t->help, q->name, option_name, strlen(option_name), &option)
			    ? FORM_HTML
			    : 0;
	r = jobs_add(j, own, none, none, NULL, ret, e);
	free(own);
	return r;
}
