/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom kallsyms: where the running kernel has a function. */
#include "base/buf.h"
#include "cli/cli.h"
#include "symbol/symbol.h"

#include "host/kallsyms.h"

enum { KALLSYMS_MOST = 64 << 20 };

static void add_line(struct symbols *s, const struct kallsyms_line *l, struct result *r,
		     struct table *t, struct buf *text)
{
	struct row *row = table_row(r, t);
	const char *module = "[kernel.kallsyms]";
	struct symbol sym = { 0 };
	u64 end = l->address;

	if (symbols_kernel(s, l->address, &sym, &module))
		end = sym.start + sym.size;
	row->cells[0] = value_textf(r, "%.*s", (int)l->name_len, l->name);
	row->cells[1] = value_u(VALUE_ADDRESS, l->address);
	row->cells[2] = value_u(VALUE_BYTES, end - l->address);
	row->cells[3] = value_text(r, module);
	buf_addf(text, "%.*s: %s %s 0x%llx-0x%llx (0x%llx-0x%llx)\n", (int)l->name_len, l->name,
		 l->module ? module : "[kernel]", module, (unsigned long long)l->address,
		 (unsigned long long)end, (unsigned long long)l->address, (unsigned long long)end);
}

static size_t find(const struct buf *all, const char *name, struct symbols *s, struct result *r,
		   struct table *t, struct buf *text)
{
	const char *at = buf_str(all);
	struct kallsyms_line l;
	size_t found = 0;

	while (kallsyms_next(&at, all->data + all->len, &l))
		if (l.address && kallsyms_is(&l, name)) {
			add_line(s, &l, r, t, text);
			found++;
		}
	if (!found)
		buf_addf(text, "%s: not found\n", name);
	return found;
}

static int kallsyms_run(struct context *ctx, void *args UNUSED)
{
	static const struct column columns[] = {
		{ "name", "NAME", VALUE_TEXT, 0 },
		{ "address", "ADDRESS", VALUE_ADDRESS, 0 },
		{ "size", "SIZE", VALUE_BYTES, 0 },
		{ "module", "MODULE", VALUE_TEXT, COLUMN_FILL },
	};
	_cleanup_buf_ struct buf all = BUF_INIT, text = BUF_INIT;
	_cleanup_result_ struct result r = { 0 };
	struct symbols *s;
	struct table *t;
	size_t found = 0;
	int code;

	result_init(&r, "kallsyms");
	code = kallsyms_read(NULL, KALLSYMS_MOST, &all, &ctx->err);
	if (code < 0)
		return code;
	s = symbols_new(NULL);
	t = result_table(&r, "rows", NULL, columns, ARRAY_SIZE(columns));
	vec_each(name, &ctx->operands) {
		size_t n = find(&all, *name, s, &r, t, &text);

		if (!n)
			result_note(&r, NOTE_WARNING, NULL, "'%s' is not in the kernel's list",
				    *name);
		found += n;
	}
	symbols_free(s);
	code = ctx->as_perf && !cli_is_machine(ctx) ? cli_print_foreign(ctx, false, &text)
						    : cli_show(ctx, &r);
	return code == 0 && !found && !ctx->as_perf ? EXIT_NOTHING : code;
}

static const struct example kallsyms_examples[] = {
	{ "fathom kallsyms schedule", "its address and size" },
	{ 0 },
};

const struct command cmd_kallsyms = {
	.name = "kallsyms",
	.summary = "where the running kernel has a function",
	.description = "Looks names up in the kernel's own list of symbols, with those of modules, "
		       "and shows where they are.",
	.question = Q_SELF,
	.operands = "NAME...",
	.min_operands = 1,
	.max_operands = SIZE_MAX,
	.examples = kallsyms_examples,
	.notes = "Without root the kernel hides addresses (kernel.kptr_restrict).",
	.see_also = "fathom-list fathom-annotate",
	.run = kallsyms_run,
};
