/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/annotate_json.h"

enum { HOT_LINES = 12, INSTRUCTIONS_MOST = 20000 };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static double rounded(double percent)
{
	return (double)(s64)(percent * 100 + 0.5) / 100;
}

static size_t main_event(const struct hits_function *f)
{
	size_t best = 0;

	for (size_t i = 1; i < HITS_EVENTS_MOST; i++)
		if (f->samples[i] > f->samples[best])
			best = i;
	return best;
}

/* Share, place, text. */
static void add_lines(const struct listing *l, const struct hits *h, struct source_files *files,
		      struct json *j)
{
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "annotate");
	annotate_hot_lines(l, h, files, HOT_LINES, &r);
	json_key(j, "lines");
	json_array(j);
	vec_each(section, &r.sections)
		vec_each(row, &section->table->rows) {
			json_array(j);
			json_double(j, rounded(row->cells[0].d));
			json_str(j, row->cells[4].s);
			json_str(j, row->cells[5].type ? row->cells[5].s : "");
			json_end(j);
		}
	json_end(j);
}

/* Share, address, text, and the place in the source where that is another. */
static void add_code(const struct listing *l, size_t event, struct json *j)
{
	const char *file = NULL;
	u32 line = 0;
	size_t n = 0;

	json_key(j, "code");
	json_array(j);
	vec_each(x, &l->lines) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		if (n++ == INSTRUCTIONS_MOST)
			break;
		json_array(j);
		json_double(j, rounded(annotate_percent(l, x, event)));
		buf_addf(&text, "%llx", (unsigned long long)x->insn.address);
		json_str(j, buf_str(&text));
		buf_reset(&text);
		buf_addf(&text, "%s %s%s%s%s", x->insn.name, x->insn.operands,
			 x->callee ? " <" : "", x->callee ? x->callee : "", x->callee ? ">" : "");
		json_str(j, buf_str(&text));
		if (x->file && (x->file != file || x->line != line)) {
			buf_reset(&text);
			buf_addf(&text, "%s:%u%s%s", last_part(x->file), x->line,
				 x->depth ? ", inlined " : "",
				 x->depth && x->inlined[0] ? x->inlined[0] : "");
			json_str(j, buf_str(&text));
			file = x->file;
			line = x->line;
		}
		json_end(j);
	}
	json_end(j);
}

void annotate_json(struct hits *h, const struct listing_opts *opts, size_t most, struct buf *out)
{
	struct source_files files;
	struct json j;

	source_files_init(&files, NULL, 0);
	json_init(&j, out, false);
	json_array(&j);
	for (size_t i = 0; i < h->functions.len && i < most; i++) {
		const struct hits_function *f = &h->functions.items[i];
		size_t event = main_event(f);
		struct listing l;

		if (listing_make(&l, h, f, opts, NULL) >= 0) {
			json_open(&j);
			json_kv_str(&j, "name", f->name);
			json_kv_str(&j, "module", f->dso ? last_part(f->dso) : "");
			json_kv_u64(&j, "samples", f->samples[event]);
			add_lines(&l, h, &files, &j);
			add_code(&l, event, &j);
			json_close(&j);
		}
		listing_release(&l);
	}
	json_end(&j);
	source_files_release(&files);
}
