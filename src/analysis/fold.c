/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/fold.h"

#include "analysis/flame.h"

#include <ctype.h>

enum { FLUSH_BYTES = 1 << 20 };

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

/* "+0x1f", which is there when the profile was loaded with addresses */
static size_t without_offset(const char *name, size_t len)
{
	size_t i = len;

	while (i && isxdigit((unsigned char)name[i - 1]))
		i--;
	return i < len && i > 3 && memcmp(name + i - 3, "+0x", 3) == 0 ? i - 3 : len;
}

static void tidy_name(const char *name, const struct fold_opts *opts, struct buf *out)
{
	size_t len = strlen(name);

	if (opts->addrs)
		len = without_offset(name, len);
	if (!opts->raw)
		len = without_arguments(name, len);
	for (size_t i = 0; i < len; i++) {
		if (name[i] == ';')
			buf_addch(out, ':');
		else if (opts->raw || (name[i] != '"' && name[i] != '\''))
			buf_addch(out, name[i] == '\n' ? ' ' : name[i]);
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

void fold_name(const struct profile *p, const struct frame *f, const struct fold_opts *opts,
	       struct buf *out)
{
	const char *name = profile_str(p, f->name), *file = profile_str(p, f->file);

	if (f->no_name && is_unknown(name)) {
		unknown_name(p, f, opts, out);
		add_mark(f, opts, out);
		return;
	}
	tidy_name(name, opts, out);
	add_mark(f, opts, out);
	if ((opts->context || opts->srcline) && f->line)
		buf_addf(out, ":%s:%u", opts->srcline ? file : base_name(file), f->line);
}

/* frame -> the one that stands for all of the same folded name */
static u32 *folded_frames(struct profile *p, const struct fold_opts *opts)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	_cleanup_map_ struct map known = MAP_INIT;
	u32 n = (u32)p->frames.len, *shown = xcalloc(n, sizeof(*shown));

	for (u32 i = 1; i < n; i++) {
		struct frame folded = { 0 };
		u64 *id;

		buf_reset(&name);
		fold_name(p, &p->frames.items[i], opts, &name);
		folded.name = profile_string(p, buf_str(&name));
		id = map_at(&known, folded.name);
		if (!*id)
			*id = profile_get_frame(p, &folded);
		shown[i] = (u32)*id;
	}
	return shown;
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

/* --- lines --------------------------------------------------------------------------------- */

/*
 * Lines are sorted as byte strings. Seen from a node that is: its own line comes before all that
 * begin with "name;", but "name.part" comes in between. So each node stands in the list of its
 * siblings twice, with and without the semicolon.
 */
struct entry {
	u32 node;
	char end; /* '\0': the line of the node itself; ';': what is below it */
};

struct level {
	size_t next; /* of the entries */
	size_t end;
	size_t path; /* length of the path above */
};

struct writer {
	const struct calltree *tree;
	const struct fold_sink *sink;
	u64 scale; /* of the weights */
	struct buf path;
	struct buf out;
	VEC(struct entry) entries; /* of the nodes being walked, a piece for each level */
	VEC(struct level) levels;
};

static int compare_entries(const void *a, const void *b, void *ctx)
{
	const struct calltree *t = ctx;
	const struct entry *x = a, *y = b;
	const u8 *m = (const u8 *)calltree_name(t, x->node);
	const u8 *n = (const u8 *)calltree_name(t, y->node);
	u8 p, q;

	while (*m && *m == *n) {
		m++;
		n++;
	}
	p = *m ? *m : (u8)x->end;
	q = *n ? *n : (u8)y->end;
	return p < q ? -1 : p > q;
}

static void enter(struct writer *w, u32 node, size_t path)
{
	const struct calltree_node *nodes = w->tree->nodes.items;
	size_t first = w->entries.len;

	for (u32 c = nodes[node].first_child; c; c = nodes[c].next) {
		if (nodes[c].self)
			vec_push(&w->entries, (struct entry){ c, '\0' });
		if (nodes[c].first_child)
			vec_push(&w->entries, (struct entry){ c, ';' });
	}
	if (w->entries.len - first > 1)
		qsort_r(w->entries.items + first, w->entries.len - first, sizeof(struct entry),
			compare_entries, (void *)(uintptr_t)w->tree);
	vec_push(&w->levels, (struct level){ first, w->entries.len, path });
}

static int write_line(struct writer *w, u64 weight)
{
	buf_add(&w->out, buf_str(&w->path), w->path.len);
	buf_addch(&w->out, ' ');
	buf_addu(&w->out, weight / w->scale);
	flame_fraction(&w->out, weight, w->scale);
	buf_addch(&w->out, '\n');
	if (w->out.len < FLUSH_BYTES)
		return 0;
	return w->sink->flush(&w->out, w->sink->ctx);
}

static int write_lines(struct writer *w)
{
	u64 nowhere = w->tree->nodes.items[0].self;
	int r = nowhere ? write_line(w, nowhere) : 0;

	enter(w, 0, 0);
	while (w->levels.len && r >= 0) {
		struct level *l = vec_last(&w->levels);
		const struct entry *e;

		if (l->next == l->end) {
			(void)vec_pop(&w->levels);
			w->entries.len = w->levels.len ? vec_last(&w->levels)->end : 0;
			continue;
		}
		e = &w->entries.items[l->next++];
		buf_truncate(&w->path, l->path);
		buf_addstr(&w->path, calltree_name(w->tree, e->node));
		if (!e->end) {
			r = write_line(w, w->tree->nodes.items[e->node].self);
		} else {
			buf_addch(&w->path, ';');
			enter(w, e->node, w->path.len);
		}
	}
	return r;
}

int fold_write(struct profile *p, const struct fold_opts *opts, const struct fold_sink *sink)
{
	u32 *labels = thread_labels(p, opts), *shown = folded_frames(p, opts);
	struct calltree_opts tree_opts = {
		.event = opts->event,
		.group = GROUP_COMM,
		.labels = labels,
		.by_count = opts->counts,
		.shown_as = shown,
	};
	struct calltree tree;
	struct writer w = { .tree = &tree, .sink = sink };

	int r;

	w.scale = opts->counts ? 1 : flame_scale(p, opts->event);
	calltree_init(&tree, p, &tree_opts);
	r = write_lines(&w);
	if (r >= 0)
		r = sink->flush(&w.out, sink->ctx);
	calltree_release(&tree);
	buf_release(&w.path);
	buf_release(&w.out);
	vec_release(&w.entries);
	vec_release(&w.levels);
	free(labels);
	free(shown);
	return r;
}
