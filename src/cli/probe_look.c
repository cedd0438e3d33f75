/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probe_look.h"

#include "base/fmt.h"
#include "base/io.h"
#include "elf/elf.h"
#include "elf/symbols.h"
#include "view/term.h"

#include <fnmatch.h>

static void on_variable(void *ctx, const char *type, const char *name, bool known,
			bool parameter UNUSED)
{
	struct buf *out = ctx;

	buf_addf(out, "        %s\t%s%s\n", type, name, known ? "" : "\t(optimised out there)");
}

int probe_show_vars(struct context *ctx, const struct probe_args *a)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct probe_dwarf *d = NULL;
	struct probe_place place;
	struct probe_spec s;
	u64 vaddr;
	int r = probe_parse(a->vars, &arena, &s, &ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	place = probe_place_of(&s);
	place.variables = true;
	r = probe_open_dwarf(a, &d, &ctx->err);
	if (r >= 0)
		r = probe_dwarf_address(d, &place, &vaddr, &ctx->err);
	buf_addf(&out, "Available variables at %s\n", a->vars);
	if (r >= 0)
		r = probe_dwarf_variables(d, vaddr, on_variable, &out, &ctx->err);
	if (r >= 0)
		r = cli_print_foreign(ctx, false, &out);
	probe_dwarf_free(d);
	probe_spec_release(&s);
	return r;
}

/* Colours are our own escapes: there may be no others then. */
static void add_text(const char *text, size_t n, bool has_code, bool color, struct buf *out)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;

	if (color) {
		fmt_clean_lines(&clean, text, n);
		term_add(out, buf_str(&clean), clean.len, has_code ? STYLE_NONE : STYLE_DIM, true);
	} else {
		buf_add(out, text, n);
	}
	buf_addch(out, '\n');
}

/* Like perf: numbers where a probe can be set; the other lines stand back. */
static void add_source(const struct probe_lines *l, const char *text, const char *end, bool color,
		       struct buf *out)
{
	size_t code = 0;
	u32 line = 1;

	for (const char *p = text; p < end && line <= l->last; line++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		bool has_code;

		while (code < l->code.len && l->code.items[code] < line)
			code++;
		has_code = code < l->code.len && l->code.items[code] == line;
		if (line >= l->first) {
			if (has_code)
				buf_addf(out, "%7u  ", line - l->zero);
			else
				buf_addstr(out, "         ");
			add_text(p, n, has_code, color, out);
		}
		p = nl ? nl + 1 : end;
	}
}

int probe_show_lines(struct context *ctx, const struct probe_args *a)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT, text = BUF_INIT;
	struct probe_dwarf *d = NULL;
	struct probe_lines l = { 0 };
	struct probe_place place;
	struct probe_spec s;
	u32 to;
	int r = probe_parse_lines(a->line, &arena, &s, &to, &ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	place = probe_place_of(&s);
	r = probe_open_dwarf(a, &d, &ctx->err);
	if (r >= 0)
		r = probe_dwarf_lines(d, &place, to, &l, &ctx->err);
	if (r >= 0)
		r = io_read_file(l.file, 64 << 20, &text, &ctx->err);
	if (r >= 0) {
		buf_addf(&out, "<%s@%s:%u>\n", s.func ? s.func : "", l.file, l.zero ? 0 : l.first);
		add_source(&l, buf_str(&text), buf_str(&text) + text.len, cli_color(ctx), &out);
		r = cli_color(ctx) ? cli_print(ctx, &out) : cli_print_foreign(ctx, false, &out);
	}
	probe_lines_release(&l);
	probe_dwarf_free(d);
	probe_spec_release(&s);
	return r;
}

static bool match_glob(void *ctx, const char *name)
{
	return fnmatch(ctx, name, 0) == 0;
}

int probe_list_funcs(struct context *ctx, const struct probe_args *a)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	elf_functions list = { 0 };
	int fd, r;

	if (!a->exec) {
		err_set(&ctx->err, EINVAL, "--funcs needs -x FILE");
		err_hint(&ctx->err, "'fathom ftrace --funcs' lists those of the kernel");
		return EXIT_USAGE;
	}
	r = io_open_read(a->path, &fd, &ctx->err);
	if (r >= 0)
		r = elf_open_fd(&elf, fd, a->exec, &ctx->err);
	if (r < 0)
		return r;
	/* "--funcs GLOB" with a blank is an operand */
	elf_list_functions(&elf, match_glob,
			   (void *)(ctx->operands.len ? ctx->operands.items[0] : a->funcs), &arena,
			   &list);
	vec_each(f, &list)
		buf_addf(&out, "%s\n", f->name);
	vec_release(&list);
	return out.len ? cli_print_foreign(ctx, false, &out) : EXIT_NOTHING;
}
