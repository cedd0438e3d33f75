/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/live_code.h"

#include "view/annotate_text.h"

enum { CODE_MOST = 256 << 10, LINES_MOST = 20000 };

static bool has_name(const struct hits_function *f, const char *name)
{
	size_t n = strlen(name);

	return f->name && !strncmp(f->name, name, n) && (!f->name[n] || strchr(".(@", f->name[n]));
}

static bool has_module(const struct hits_function *f, const char *module)
{
	const char *a = f->dso ? strrchr(f->dso, '/') : NULL, *b = strrchr(module, '/');

	return !*module || !f->dso || streq(a ? a + 1 : f->dso, b ? b + 1 : module) ||
	       (*f->dso == '[' && *module == '[');
}

static const struct hits_function *find(const struct hits *h, const struct live_request *r)
{
	vec_each(f, &h->functions)
		if (has_name(f, r->function) && has_module(f, r->module))
			return f;
	return NULL;
}

static void say_why(struct profile_frame *f, const char *why)
{
	f->code_why = arena_strdup(&f->arena, why ? why : "the code cannot be read");
}

double live_code_share(const char *line)
{
	char *end;
	double share = strtod(line, &end);

	/* an instruction without samples begins with its address: 5e8cf0 */
	return end != line && *end == '%' ? share : 0;
}

static void add_lines(struct profile_frame *f, const char *text)
{
	while (*text && f->code.len < LINES_MOST) {
		size_t n = strcspn(text, "\n");
		char *line = arena_strndup(&f->arena, text, n);
		double share = live_code_share(line);

		if (share > f->code_most) {
			f->code_most = share;
			f->code_hottest = (u32)f->code.len;
		}
		vec_push(&f->code, (struct live_code){ line, share });
		text += n + (text[n] == '\n');
	}
}

static int heavier(const void *a, const void *b)
{
	const struct live_detail *x = a, *y = b;

	return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* Source lines by the instructions that were hit, if they are not filled in yet. */
static void add_source(struct profile_frame *f, const struct listing *l)
{
	_cleanup_map_ struct map known = MAP_INIT;
	struct intern names = INTERN_INIT;

	vec_each(line, &l->lines) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		u64 weight = 0, *at;

		for (size_t i = 0; i < HITS_EVENTS_MOST; i++)
			weight += line->weight[i];
		if (!weight || !line->file)
			continue;
		buf_addf(&text, "%s:%u", line->file, line->line);
		at = map_at(&known, intern_str(&names, buf_str(&text)));
		if (!*at) {
			vec_push(&f->lines, (struct live_detail){
						    arena_strdup(&f->arena, buf_str(&text)), 0 });
			*at = f->lines.len;
		}
		f->lines.items[*at - 1].weight += weight;
	}
	vec_sort(&f->lines, heavier);
	intern_release(&names);
}

void live_code_fill(struct profile_frame *f, struct hits *h, const struct live_request *r)
{
	const struct listing_opts opts = { .syntax = DISASM_ATT };
	const struct annotate_text look = { .unicode = true };
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT;
	const struct hits_function *function = find(h, r);
	struct source_files files;
	struct listing l = { 0 };

	if (!function) {
		say_why(f, "no sample hit the function itself: only what it calls");
		return;
	}
	if (function->size > CODE_MOST) {
		say_why(f, "the function is too long to be shown live: fathom annotate");
		return;
	}
	if (listing_make(&l, h, function, &opts, &e) < 0) {
		say_why(f, e.what);
		listing_release(&l);
		return;
	}
	source_files_init(&files, NULL, 0);
	annotate_text(&l, h, &files, &look, &text);
	add_lines(f, buf_str(&text));
	if (!f->lines.len)
		add_source(f, &l);
	source_files_release(&files);
	listing_release(&l);
}
