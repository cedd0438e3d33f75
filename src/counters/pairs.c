/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/pairs.h"

#include <ctype.h>

enum { PREFIX_MOST = 32 };

/* "Tcp:" -> "tcp" */
static bool group_name(struct span word, char *ret)
{
	if (word.n < 2 || word.n >= PREFIX_MOST || word.s[word.n - 1] != ':')
		return false;
	for (size_t i = 0; i < word.n - 1; i++) {
		if (!isalnum((unsigned char)word.s[i]))
			return false;
		ret[i] = (char)tolower((unsigned char)word.s[i]);
	}
	ret[word.n - 1] = '\0';
	return true;
}

static void put_pair(struct reader *r, struct span names, struct span values)
{
	struct span first, second, name, value;
	char prefix[PREFIX_MOST];
	u64 number;

	if (!line_word(&names, &first) || !line_word(&values, &second) || first.n != second.n ||
	    memcmp(first.s, second.s, first.n) != 0 || !group_name(first, prefix))
		return;
	while (line_word(&names, &name) && line_word(&values, &value)) {
		/* MaxConn is -1: there is no limit */
		if (span_number(value, &number))
			reader_put_in(r, prefix, name, SPAN_NONE, number);
	}
}

void parse_pairs(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct span names, values;

	while (text_line(&text, end, &names) && text_line(&text, end, &values))
		put_pair(r, names, values);
}
