/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/traced.h"

#include <fnmatch.h>

#include "base/parse.h"
#include "profile/kernel_strings.h"
#include "profile/tracefield.h"
#include "symbol/symbol.h"

enum { CELLS_MOST = 64 };

/* A column, as it is filled for the samples of one event. */
struct cell {
	u32 column;
	const char *field; /* NULL: the whole */
	bool plain;
};

struct traced_event {
	struct tracefield *format; /* NULL: no tracepoint, or it is not described */
	VEC(struct cell) cells;
};

struct traced {
	struct profile *profile;
	struct recording *recording;
	struct machine *machine;
	char *keys;
	struct kernel_strings strings;
	struct tracefield_env env;
	VEC(struct traced_event) events;
};

static const char *kernel_symbol(void *ctx, u64 address, u64 *ret_start)
{
	struct traced *t = ctx;
	struct symbol symbol;

	if (!symbols_kernel(t->machine->symbols, address, &symbol, NULL))
		return NULL;
	*ret_start = symbol.start;
	return symbol.name;
}

static const char *kernel_string(void *ctx, u64 address)
{
	struct traced *t = ctx;

	return kernel_strings_get(&t->strings, t->recording, address);
}

struct traced *traced_new(struct profile *p, struct recording *r, struct machine *m,
			  const char *keys)
{
	struct traced *t = xcalloc(1, sizeof(*t));

	*t = (struct traced){ .profile = p, .recording = r, .machine = m, .keys = xstrdup(keys) };
	return t;
}

void traced_free(struct traced *t)
{
	if (!t)
		return;
	vec_each(ev, &t->events) {
		tracefield_free(ev->format);
		vec_release(&ev->cells);
	}
	vec_release(&t->events);
	kernel_strings_release(&t->strings);
	free(t->keys);
	free(t);
}

/* --- columns ---------------------------------------------------------------------------------- */

static void add_cell(struct traced *t, struct traced_event *ev, const char *key, const char *field,
		     bool plain)
{
	struct profile *p = t->profile;
	struct profile_trace_column c = { .key = profile_string(p, key),
					  .name = profile_string(p, field ? field : "trace") };
	u32 i = 0;

	while (i < p->trace_columns.len &&
	       (p->trace_columns.items[i].key != c.key || p->trace_columns.items[i].name != c.name))
		i++;
	if (i == CELLS_MOST)
		return;
	if (i == p->trace_columns.len)
		vec_push(&p->trace_columns, c);
	vec_push(&ev->cells, ((struct cell){ .column = i, .field = field, .plain = plain }));
}

/* "sched_switch", "sched:sched_switch" and globs; perf's "%2" is the second event. */
static bool is_event(const char *pattern, size_t n, const char *name, u32 index)
{
	_cleanup_free_ char *glob = xstrndup(pattern, n);
	const char *colon = strchr(name, ':');
	u64 number;

	if (*glob == '%')
		return scan_u64(&(const char *){ glob + 1 }, glob + n, 10, &number) &&
		       number == index + 1;
	return !fnmatch(glob, name, 0) || (colon && !fnmatch(glob, colon + 1, 0));
}

static void add_key(struct traced *t, struct traced_event *ev, const char *key, u32 index)
{
	const char *dot = strrchr(key, '.'), *field = dot ? dot + 1 : key, *slash;
	const char *name = recording_event(t->recording, index)->name, *have;
	size_t n;

	if (streq(key, "trace")) {
		add_cell(t, ev, key, NULL, false);
		return;
	}
	if (dot && !starts_with(key, "trace.") && !is_event(key, (size_t)(dot - key), name, index))
		return;
	slash = strchr(field, '/');
	n = slash ? (size_t)(slash - field) : strlen(field);
	for (size_t i = 0; (have = tracefield_name(ev->format, i)); i++) {
		if (streq(key, "trace_fields") || (n == 1 && *field == '*') ||
		    (strlen(have) == n && !memcmp(have, field, n)))
			add_cell(t, ev, key, have, slash && streq(slash, "/raw"));
	}
}

static void learn_event(struct traced *t, u32 index)
{
	const struct perf_event_attr *a = &recording_event(t->recording, index)->attr;
	const struct recording_info *info = recording_info(t->recording);
	struct traced_event *ev = vec_new(&t->events);
	_cleanup_free_ char *keys = xstrdup(t->keys);
	const struct recording_format *f = NULL;
	char *save = NULL;

	if (a->type == PERF_TYPE_TRACEPOINT)
		f = recording_info_format(info, a->config);
	if (!f || tracefield_new(f->text, f->text_size, &ev->format, NULL) < 0)
		return;
	t->env = (struct tracefield_env){
		.swap = info->has_tracing &&
			info->tracing_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		.long_size = info->tracing_long_size,
		.ctx = t,
		.symbol = kernel_symbol,
		.string = kernel_string,
	};
	for (char *k = strtok_r(keys, ",", &save); k; k = strtok_r(NULL, ",", &save))
		add_key(t, ev, k, index);
}

/* --- rows ------------------------------------------------------------------------------------- */

u32 traced_row(struct traced *t, const struct record *r)
{
	const struct sample *s = r->sample;
	_cleanup_buf_ struct buf text = BUF_INIT;
	u32 row[CELLS_MOST] = { 0 };
	const struct traced_event *ev;

	while (t->events.len <= r->event)
		learn_event(t, (u32)t->events.len);
	ev = &t->events.items[r->event];
	if (!ev->cells.len || !(s->type & PERF_SAMPLE_RAW))
		return 0;
	vec_each(c, &ev->cells) {
		buf_reset(&text);
		if (c->field)
			tracefield_print_field(ev->format, &t->env, c->field, c->plain, s->raw,
					       s->raw_size, &text);
		else
			tracefield_print(ev->format, &t->env, s->raw, s->raw_size, &text);
		row[c->column] = profile_string(t->profile, buf_str(&text));
	}
	return intern_bytes(&t->profile->trace_rows, row, sizeof(row));
}
