/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/fold.h"

#include "analysis/cpp_name.h"
#include "base/folded.h"
#include "view/fold_lines.h"

#include <ctype.h>

/* --- names --------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Code without name goes by its module, and by its address if that is wanted. */
static void unknown_name(const struct profile *p, const struct frame *f,
			 const struct fold_opts *opts, struct buf *out)
{
	const char *module = base_name(profile_str(p, f->module));
	const char *address = starts_with(profile_str(p, f->name), "0x");

	if (!*module)
		module = "unknown";
	if (opts->addrs && address)
		buf_addf(out, "[%s <%s>]", module, address);
	else
		buf_addf(out, "[%s]", module);
}

static bool is_unknown(const char *name)
{
	return streq(name, "[unknown]") || starts_with(name, "0x");
}

/* Names with a method of Go in them, "net/http.(*Client).Do", keep their parentheses. */
static bool is_go_method(const char *name)
{
	const char *open = strstr(name, ".(");

	return open && strstr(open + 2, ").");
}

/* Where the arguments begin: the first parenthesis that is not "(anonymous namespace)". */
static size_t without_arguments(const char *name, size_t len)
{
	static const char anonymous[] = "(anonymous namespace)";

	if (is_go_method(name))
		return len;
	for (size_t i = 0; i < len; i++) {
		if (name[i] != '(')
			continue;
		if (!starts_with(name + i, anonymous))
			return i;
		i += sizeof(anonymous) - 2;
	}
	return len;
}

static void tidy_name(const char *name, size_t len, const struct fold_opts *opts, struct buf *out)
{
	const size_t from = out->len;
	const char *suffix = "";

	if (!opts->raw) {
		/* a part of a name of Java has none of these */
		if (!name[len])
			name = cpp_name(name, &len, &suffix);
		len = without_arguments(name, len);
	}
	for (size_t i = 0; i < len; i++) {
		if (opts->raw || (name[i] != '"' && name[i] != '\''))
			buf_addch(out, name[i]);
	}
	folded_clean(out, from);
	buf_addstr(out, suffix);
}

/*
 * Run-time compilers put what they inlined into the name: "outer->inner->leaf". Each is a
 * frame of its own. The JVM writes classes as "Ljava/io/File;"; V8's "LazyCompile:*f /a.js:1" is
 * none.
 */
static void add_compiled(const char *name, const struct fold_opts *opts, struct buf *out)
{
	for (bool inlined = false;; inlined = true) {
		const char *end = opts->raw ? NULL : strstr(name, "->");

		if (!opts->raw && *name == 'L' && name[strcspn(name, "/: ")] == '/')
			name++;
		buf_addstr(out, inlined ? ";" : "");
		tidy_name(name, end ? (size_t)(end - name) : strlen(name), opts, out);
		if (inlined)
			buf_addstr(out, "_[i]");
		else if (opts->jit)
			buf_addstr(out, "_[j]");
		if (!end)
			break;
		name = end + 2;
	}
}

static void add_mark(const struct frame *f, const struct fold_opts *opts, struct buf *out)
{
	if (f->kind == FRAME_INLINED && opts->inlined)
		buf_addstr(out, "_[i]");
	else if (f->kind == FRAME_KERNEL && opts->kernel)
		buf_addstr(out, "_[k]");
	else if (f->kind == FRAME_JIT && opts->jit)
		buf_addstr(out, "_[j]");
}

/* perf prints "libc.so.6[27b25]" where it knows no line; the address is of no use here. */
static void add_source(const struct profile *p, const struct frame *f, const struct fold_opts *opts,
		       struct buf *out)
{
	const char *module = base_name(profile_str(p, f->module));

	if (!opts->context && !opts->srcline)
		return;
	if (f->line)
		buf_addf(out, ":%s:%u", base_name(profile_str(p, f->file)), f->line);
	else if (opts->srcline && *module && *module != '[' && f->kind != FRAME_KERNEL)
		buf_addf(out, ":%s", module);
}

/* The name of a frame in folded stacks; for tests. */
static void fold_name(const struct profile *p, const struct frame *f, const struct fold_opts *opts,
		      struct buf *out)
{
	const char *name = profile_str(p, f->name);

	if (f->no_name && is_unknown(name)) {
		unknown_name(p, f, opts, out);
		add_mark(f, opts, out);
		if (f->module)
			add_source(p, f, opts, out);
		return;
	}
	if (f->kind == FRAME_JIT) {
		add_compiled(name, opts, out);
	} else {
		tidy_name(name, strlen(name), opts, out);
		add_mark(f, opts, out);
	}
	add_source(p, f, opts, out);
}

/* frame -> string */
static u32 *frame_names(struct profile *p, const struct fold_opts *opts)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	u32 *names = xcalloc(p->frames.len, sizeof(*names));

	for (u32 i = 1; i < p->frames.len; i++) {
		buf_reset(&name);
		fold_name(p, &p->frames.items[i], opts, &name);
		names[i] = profile_string(p, buf_str(&name));
	}
	return names;
}

/* --- threads ------------------------------------------------------------------------------- */

static u32 thread_label(struct profile *p, const struct profile_thread *t,
			const struct fold_opts *opts)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!t->comm && !t->pid && !t->tid)
		return 0;
	buf_addstr(&text, profile_str(p, t->comm));
	if (opts->tid)
		buf_addf(&text, "-%d/%d", t->pid, t->tid);
	else if (opts->pid)
		buf_addf(&text, "-%d", t->pid);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == ' ' || text.data[i] == '\n')
			text.data[i] = '_';
		else if (text.data[i] == ';')
			text.data[i] = ':';
	}
	return profile_string(p, buf_str(&text));
}

static u32 *thread_labels(struct profile *p, const struct fold_opts *opts)
{
	u32 *labels = xcalloc(p->threads.len, sizeof(*labels));

	for (size_t i = 1; i < p->threads.len; i++)
		labels[i] = thread_label(p, &p->threads.items[i], opts);
	return labels;
}

int fold_write(struct profile *p, const struct fold_opts *opts, const struct fold_sink *sink)
{
	u32 *threads = thread_labels(p, opts), *frames = frame_names(p, opts);
	int r = fold_lines(p, &(struct fold_names){ frames, threads }, opts, sink);

	free(threads);
	free(frames);
	return r;
}
