/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counters say of themselves, for ? on any figure. */
#include "top/screens.h"

#include "counters/counter.h"

enum { NAME_MOST = 64 };

static const struct counter *find(const char *name, const struct counter_source **ret_source)
{
	size_t n;
	const struct counter_source *const *sources = counter_sources(&n);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sources[i]->n_rows; k++)
			if (streq(sources[i]->rows[k].name, name)) {
				*ret_source = sources[i];
				return &sources[i]->rows[k];
			}
	return NULL;
}

static const char *unit_of(const struct counter *c)
{
	static const char *const units[] = {
		[UNIT_COUNT] = "a count",  [UNIT_BYTES] = "bytes",
		[UNIT_TIME] = "ns",        [UNIT_PERCENT] = "%",
		[UNIT_HERTZ] = "Hz",       [UNIT_CELSIUS] = "degrees Celsius",
		[UNIT_NUMBER] = "a number"
	};

	return c->unit < ARRAY_SIZE(units) && units[c->unit] ? units[c->unit] : "a number";
}

bool explain_counter(struct buf *out, const char *name)
{
	const struct counter_source *source;
	const struct counter *c = find(name, &source);

	if (!c)
		return false;
	buf_addf(out, "  %s: %s\n    from: /%s%s%s, in %s%s\n", c->name, c->meaning, source->path,
		 c->field ? ", " : "", c->field ? c->field : "", unit_of(c),
		 c->kind == CUMULATIVE ? " since boot" : "");
	if (c->formula)
		buf_addf(out, "    = %s\n", c->formula);
	if (c->high)
		buf_addf(out, "    high: %s\n", c->high);
	return true;
}

int explain_formula(struct buf *out, const char *formula)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._";
	int n = 0;

	for (const char *s = formula; *s;) {
		size_t len = strspn(s, letters);
		char name[NAME_MOST];

		if (len && len < sizeof(name) && memchr(s, '.', len)) {
			memcpy(name, s, len);
			name[len] = '\0';
			n += explain_counter(out, name);
		}
		s += len + (s[len] && !strchr(letters, s[len]));
	}
	return n;
}
