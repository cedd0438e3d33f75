/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/peer_text.h"

#include "base/fmt.h"
#include "base/json.h"
#include "base/jsonread.h"
#include "base/parse.h"

enum { TIME_MOST_MS_LOG2 = 50 };

/* --- the head of an answer -------------------------------------------------------------------- */

static bool is_header(const char *line, size_t n, const char *name, const char **ret_value)
{
	size_t length = strlen(name);

	if (n < length || strncasecmp(line, name, length) != 0)
		return false;
	*ret_value = line + length;
	while (**ret_value == ' ')
		(*ret_value)++;
	return true;
}

static int read_header(const char *line, size_t n, struct peer_head *ret)
{
	const char *value;

	if (is_header(line, n, "transfer-encoding:", &value) ||
	    is_header(line, n, "content-encoding:", &value))
		return -EPROTO;
	if (!is_header(line, n, "content-length:", &value))
		return 0;
	if (!ret->endless || value > line + n || !scan_u64(&value, line + n, 10, &ret->length) ||
	    value != line + n)
		return -EPROTO;
	ret->endless = false;
	return 0;
}

int peer_read_head(const char *bytes, size_t n, struct peer_head *ret)
{
	const char *end = memmem(bytes, n, "\r\n\r\n", 4), *at = bytes + 9;
	u64 status;

	if (!end)
		return n < PEER_HEAD_MOST ? 0 : -EPROTO;
	if (end - bytes > PEER_HEAD_MOST || end - bytes < 12 ||
	    memcmp(bytes, "HTTP/1.1 ", 9) != 0 || !scan_u64(&at, bytes + 12, 10, &status) ||
	    at != bytes + 12)
		return -EPROTO;
	*ret = (struct peer_head){ .status = (int)status, .endless = true };
	at = memmem(at, (size_t)(end + 2 - at), "\r\n", 2);
	while (at && at < end) {
		const char *line = at + 2,
			   *stop = memmem(line, (size_t)(end + 2 - line), "\r\n", 2);

		if (!stop || read_header(line, (size_t)(stop - line), ret) < 0)
			return -EPROTO;
		at = stop;
	}
	return (int)(end + 4 - bytes);
}

/* --- values ----------------------------------------------------------------------------------- */

struct reading {
	struct json_reader r;
	struct json j;
	struct err *e;
};

static int no_form(struct reading *x, const char *what)
{
	return err_set(x->e, EBADMSG, "it has sent %s of an unknown form (byte %zu)", what,
		       json_offset(&x->r));
}

static void begin(struct reading *x, const char *text, size_t n, struct buf *out, struct err *e)
{
	json_reader_init(&x->r, text, n);
	json_init(&x->j, out, false);
	x->e = e;
}

/* A text without control characters, cut where a character ends. */
static void put_text(struct reading *x)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	size_t n = MIN(x->r.text.len, (size_t)PEER_NAME_MOST);

	while (n && n < x->r.text.len && ((u8)json_text(&x->r)[n] & 0xc0) == 0x80)
		n--;
	fmt_clean(&clean, json_text(&x->r), n);
	json_strn(&x->j, buf_str(&clean), clean.len);
}

/* A number or null; an axis can show it. */
static int put_number(struct reading *x, enum json_piece piece)
{
	if (piece == READ_NULL)
		json_null(&x->j);
	else if (piece == READ_NUMBER && x->r.number < 1e300 && x->r.number > -1e300)
		json_double(&x->j, x->r.number);
	else
		return no_form(x, "a figure");
	return 0;
}

static int take_time(struct reading *x, u64 *ret)
{
	if (json_read(&x->r) != READ_NUMBER || x->r.number < 0 ||
	    x->r.number > (double)(1ull << TIME_MOST_MS_LOG2))
		return no_form(x, "a time");
	*ret = (u64)x->r.number;
	return 0;
}

/* --- /api/v1/about ---------------------------------------------------------------------------- */

enum field_type { FIELD_TEXT, FIELD_NUMBER, FIELD_BOOL };

struct field {
	const char *name;
	enum field_type type;
};

static const struct field *find_field(const struct field *fields, const char *name)
{
	for (; fields->name; fields++)
		if (streq(fields->name, name))
			return fields;
	return NULL;
}

static int copy_field(struct reading *x, const struct field *f)
{
	enum json_piece piece = json_read(&x->r);

	json_key(&x->j, f->name);
	if (f->type == FIELD_TEXT && piece == READ_STRING)
		put_text(x);
	else if (f->type == FIELD_BOOL && (piece == READ_TRUE || piece == READ_FALSE))
		json_bool(&x->j, piece == READ_TRUE);
	else if (f->type == FIELD_NUMBER && piece == READ_NUMBER)
		return put_number(x, piece);
	else
		return no_form(x, "a description");
	return 0;
}

/* A field twice would be two keys in ours, too: the first one counts. */
static int copy_known(struct reading *x, const struct field *fields, u32 *seen)
{
	const struct field *f = find_field(fields, json_text(&x->r));
	u32 bit = f ? 1u << (f - fields) : 0;

	if (!f || *seen & bit) {
		json_read_skip(&x->r);
		return 0;
	}
	*seen |= bit;
	return copy_field(x, f);
}

static int read_line(struct reading *x)
{
	static const struct field fields[] = { { "label", FIELD_TEXT },
					       { "formula", FIELD_TEXT },
					       { 0 } };
	enum json_piece piece;
	u32 seen = 0;
	int r = 0;

	json_open(&x->j);
	while (!r && (piece = json_read(&x->r)) == READ_KEY)
		r = copy_known(x, fields, &seen);
	json_close(&x->j);
	return r < 0 ? r : piece != READ_OBJECT_END || !(seen & 1) ? no_form(x, "a line") : 0;
}

static int read_list(struct reading *x, const char *key, u32 most, int (*read)(struct reading *x))
{
	enum json_piece piece;
	u32 n = 0;
	int r = 0;

	if (json_read(&x->r) != READ_ARRAY)
		return no_form(x, key);
	json_key(&x->j, key);
	json_array(&x->j);
	while (!r && (piece = json_read(&x->r)) == READ_OBJECT)
		r = n++ < most ? read(x) : no_form(x, key);
	json_end(&x->j);
	return r < 0 ? r : piece != READ_ARRAY_END ? no_form(x, key) : 0;
}

static int read_chart(struct reading *x)
{
	static const struct field fields[] = {
		{ "id", FIELD_TEXT },   { "question", FIELD_TEXT }, { "title", FIELD_TEXT },
		{ "unit", FIELD_TEXT }, { "stacked", FIELD_BOOL },  { "strip", FIELD_BOOL },
		{ "each", FIELD_BOOL }, { "most", FIELD_NUMBER },   { 0 },
	};
	const u32 all = (1u << (ARRAY_SIZE(fields) - 1)) - 1;
	bool lines = false;
	enum json_piece piece;
	u32 seen = 0;
	int r = 0;

	json_open(&x->j);
	while (!r && (piece = json_read(&x->r)) == READ_KEY) {
		if (streq(json_text(&x->r), "lines") && !lines) {
			lines = true;
			r = read_list(x, "lines", PEER_LINES_MOST, read_line);
		} else {
			r = copy_known(x, fields, &seen);
		}
	}
	json_close(&x->j);
	if (r < 0)
		return r;
	return piece != READ_OBJECT_END || !lines || seen != all ? no_form(x, "a chart") : 0;
}

int peer_read_about(const char *text, size_t n, struct buf *out, u64 *ret_now, struct err *e)
{
	static const struct field fields[] = {
		{ "host", FIELD_TEXT },   { "version", FIELD_TEXT }, { "kernel", FIELD_TEXT },
		{ "cpus", FIELD_NUMBER }, { "role", FIELD_TEXT },    { 0 },
	};
	bool charts = false, now = false;
	struct reading x = { 0 };
	enum json_piece piece = READ_ERROR;
	u32 seen = 0;
	int r = 0;

	begin(&x, text, n, out, e);
	if (json_read(&x.r) != READ_OBJECT)
		r = no_form(&x, "an answer");
	json_open(&x.j);
	while (!r && (piece = json_read(&x.r)) == READ_KEY) {
		if (streq(json_text(&x.r), "charts") && !charts) {
			charts = true;
			r = read_list(&x, "charts", PEER_CHARTS_MOST, read_chart);
		} else if (streq(json_text(&x.r), "now") && !now) {
			now = true;
			r = take_time(&x, ret_now);
		} else {
			r = copy_known(&x, fields, &seen);
		}
	}
	json_close(&x.j);
	if (!r && (piece != READ_OBJECT_END || json_read(&x.r) != READ_END || !charts || !now ||
		   !(seen & 1)))
		r = no_form(&x, "an answer");
	json_reader_release(&x.r);
	return r;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Figures by line or, where a chart has one for each instance, by name. */
static int read_figures(struct reading *x, enum json_piece piece)
{
	bool object = piece == READ_OBJECT;
	enum json_piece end = object ? READ_OBJECT_END : READ_ARRAY_END;
	u32 n = 0, most = object ? PEER_INSTANCES_MOST : PEER_LINES_MOST;
	int r = 0;

	if (!object && piece != READ_ARRAY)
		return no_form(x, "figures");
	if (object)
		json_open(&x->j);
	else
		json_array(&x->j);
	while (!r && (piece = json_read(&x->r)) != end) {
		if (n++ >= most || (object && piece != READ_KEY))
			return no_form(x, "figures");
		if (object) {
			_cleanup_buf_ struct buf clean = BUF_INIT;

			fmt_clean(&clean, json_text(&x->r),
				  MIN(x->r.text.len, (size_t)PEER_NAME_MOST));
			json_key(&x->j, buf_str(&clean));
			piece = json_read(&x->r);
		}
		r = put_number(x, piece);
	}
	if (object)
		json_close(&x->j);
	else
		json_end(&x->j);
	return r;
}

static int read_all_figures(struct reading *x)
{
	enum json_piece piece;
	u32 n = 0;
	int r = 0;

	if (json_read(&x->r) != READ_ARRAY)
		return no_form(x, "figures");
	json_key(&x->j, "c");
	json_array(&x->j);
	while (!r && (piece = json_read(&x->r)) != READ_ARRAY_END)
		r = n++ < PEER_CHARTS_MOST ? read_figures(x, piece) : no_form(x, "figures");
	json_end(&x->j);
	return r;
}

/* [number, name, five figures] */
static int read_process(struct reading *x)
{
	enum { FIGURES = 7, NAME = 1 };
	int r = 0;

	json_array(&x->j);
	for (int i = 0; i < FIGURES && !r; i++) {
		enum json_piece piece = json_read(&x->r);

		if (i != NAME)
			r = put_number(x, piece);
		else if (piece == READ_STRING)
			put_text(x);
		else
			r = no_form(x, "a process");
	}
	json_end(&x->j);
	return r < 0 ? r : json_read(&x->r) != READ_ARRAY_END ? no_form(x, "a process") : 0;
}

static int read_processes(struct reading *x)
{
	enum json_piece piece;
	u32 n = 0;
	int r = 0;

	if (json_read(&x->r) != READ_ARRAY)
		return no_form(x, "processes");
	json_key(&x->j, "p");
	json_array(&x->j);
	while (!r && (piece = json_read(&x->r)) == READ_ARRAY)
		r = n++ < PEER_PROCESSES_MOST ? read_process(x) : no_form(x, "processes");
	json_end(&x->j);
	return r < 0 ? r : piece != READ_ARRAY_END ? no_form(x, "processes") : 0;
}

static int read_frame_field(struct reading *x, s64 offset, u32 *seen, u64 *ret_time)
{
	static const char *const names[] = { "t", "s", "c", "p" };
	size_t i = 0;
	int r;

	while (i < ARRAY_SIZE(names) && !streq(json_text(&x->r), names[i]))
		i++;
	if (i == ARRAY_SIZE(names) || *seen & 1u << i)
		return no_form(x, "a frame");
	*seen |= 1u << i;
	switch (i) {
	case 0:
		r = take_time(x, ret_time);
		if (!r && (s64)*ret_time < offset)
			r = no_form(x, "a time");
		*ret_time = r ? 0 : (u64)((s64)*ret_time - offset);
		json_kv_u64(&x->j, "t", *ret_time);
		return r;
	case 1: json_key(&x->j, "s"); return put_number(x, json_read(&x->r));
	case 2: return read_all_figures(x);
	default: return read_processes(x);
	}
}

int peer_read_frame(const char *text, size_t n, s64 offset, struct buf *out, u64 *ret_time,
		    struct err *e)
{
	struct reading x = { 0 };
	enum json_piece piece = READ_ERROR;
	u32 seen = 0;
	int r = 0;

	begin(&x, text, n, out, e);
	if (json_read(&x.r) != READ_OBJECT)
		r = no_form(&x, "a frame");
	json_open(&x.j);
	while (!r && (piece = json_read(&x.r)) == READ_KEY)
		r = read_frame_field(&x, offset, &seen, ret_time);
	json_close(&x.j);
	if (!r && (piece != READ_OBJECT_END || json_read(&x.r) != READ_END || seen != 15))
		r = no_form(&x, "a frame");
	json_reader_release(&x.r);
	return r;
}

char *peer_read_error(const char *text, size_t n)
{
	struct buf clean = BUF_INIT;
	struct json_reader r;
	bool found = false;

	json_reader_init(&r, text, n);
	if (json_read(&r) == READ_OBJECT)
		while (!found && json_read(&r) == READ_KEY) {
			if (!streq(json_text(&r), "error")) {
				json_read_skip(&r);
				continue;
			}
			found = json_read(&r) == READ_STRING;
			if (found)
				fmt_clean(&clean, json_text(&r),
					  MIN(r.text.len, (size_t)PEER_NAME_MOST));
			break;
		}
	json_reader_release(&r);
	return found ? buf_detach(&clean) : NULL;
}
