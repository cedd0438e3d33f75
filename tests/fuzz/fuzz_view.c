/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Foreign names and numbers through every view: the bytes build a result. The text view must let no
 * control character through.
 */
#include "base/fmt.h"
#include "result/hist.h"
#include "view/view.h"

enum { STRING_MOST = 64, STEPS_MOST = 200 };

struct input {
	const u8 *p;
	size_t left;
};

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static u8 byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static u64 number(struct input *in)
{
	u64 v = 0;

	for (int n = byte(in) % 9; n > 0; n--)
		v = v << 8 | byte(in);
	return v;
}

static double real(struct input *in)
{
	u64 bits = number(in);
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* Valid until the next call. */
static const char *string(struct input *in, char text[STRING_MOST])
{
	size_t n = byte(in) % STRING_MOST;

	for (size_t i = 0; i < n; i++)
		text[i] = (char)byte(in);
	text[n] = '\0';
	return text;
}

static struct value value(struct input *in, struct result *r)
{
	enum value_type type = byte(in) % (VALUE_BOOL + 1);
	char text[STRING_MOST];

	if (type == VALUE_TEXT)
		return value_text(r, string(in, text));
	if (type == VALUE_PERCENT || type == VALUE_NUMBER)
		return value_d(type, real(in));
	return value_u(type, number(in));
}

static void add_table(struct input *in, struct result *r)
{
	char key[STRING_MOST], title[STRING_MOST];
	struct column columns[4];
	size_t n = byte(in) % 5;
	struct table *t;

	for (size_t i = 0; i < n; i++)
		columns[i] = (struct column){ string(in, key), "TITLE", byte(in) % (VALUE_BOOL + 1),
					      byte(in) };
	t = result_table(r, "t", string(in, title), columns, n);
	for (int rows = byte(in) % 8; rows > 0; rows--) {
		struct row *row = table_row(r, t);

		row->style = byte(in) % (STYLE_HOT + 1);
		for (size_t i = 0; i < n; i++)
			row->cells[i] = value(in, r);
	}
	if (n)
		table_sort(t, columns[0].key, byte(in) & 1);
}

static void add_histogram(struct input *in, struct result *r)
{
	char text[STRING_MOST];
	struct histogram *h;

	if (byte(in) & 1) {
		h = result_hist_log2(r, "h", string(in, text), "usecs");
	} else {
		u64 min = number(in), max = number(in), step = number(in);

		h = result_hist_linear(r, "h", NULL, string(in, text), min, max, step);
	}
	if (!h)
		return;
	for (int n = byte(in) % 16; n > 0; n--) {
		u64 v = number(in);

		hist_add(h, v, number(in));
	}
}

static void add_tree(struct input *in, struct result *r)
{
	struct tree *t = result_tree(r, "tree", NULL, byte(in) % (VALUE_BOOL + 1));
	char text[STRING_MOST];

	for (int n = byte(in) % 32; n > 0; n--) {
		struct tree_node *node = tree_add(r, t, (u32)number(in), string(in, text));

		node->percent = real(in);
		node->value = number(in);
		node->style = byte(in) % (STYLE_HOT + 1);
	}
}

static void add_words(struct input *in, struct result *r)
{
	char text[STRING_MOST];

	result_text(r, string(in, text));
	result_title(r, "%s", string(in, text));
	result_fact(r, "fact", "fact", value(in, r));
	result_note(r, NOTE_WARNING, text, "%s", text);
	result_loss(r, "loss", text, number(in));
}

static void build(struct input *in, struct result *r)
{
	static void (*const steps[])(struct input *, struct result *) = { add_table, add_histogram,
									  add_tree, add_words };

	for (int n = 0; in->left && n < STEPS_MOST; n++)
		steps[byte(in) % ARRAY_SIZE(steps)](in, r);
}

/* Without colour no byte of the page may steer a terminal. */
static void check_text(const struct buf *out)
{
	for (size_t i = 0; i < out->len; i++)
		if ((u8)out->data[i] < 0x20 && out->data[i] != '\n')
			abort();
}

static void render_all(const struct result *r, const struct view_opts *opts)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	size_t n;
	const struct view *const *views = view_all(&n);

	for (size_t i = 0; i < n; i++) {
		_cleanup_err_ struct err e = ERR_INIT;

		buf_reset(&out);
		views[i]->render(r, opts, &out, &e);
		if (streq(views[i]->name, "text") && !opts->color)
			check_text(&out);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	u8 flags = byte(&in), width = byte(&in);
	struct view_opts opts = { .width = width,
				  .color = flags & 1,
				  .unicode = flags & 2,
				  .header = flags & 4,
				  .stream = flags & 8,
				  .average = flags & 16 };
	_cleanup_result_ struct result r;

	result_init(&r, "fuzz");
	build(&in, &r);
	render_all(&r, &opts);
	return 0;
}
