/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/matrix.h"

enum { MATRIX_CPUS = 1 << 13 };

/* The numbers of the CPUs that the first line names: "CPU0 CPU2". */
static size_t read_cpus(struct span line, u32 *cpus)
{
	struct span word;
	size_t n = 0;
	u64 cpu;

	while (n < MATRIX_CPUS && line_word(&line, &word)) {
		if (word.n <= 3 || memcmp(word.s, "CPU", 3) != 0 ||
		    !span_number((struct span){ word.s + 3, word.n - 3 }, &cpu))
			break;
		cpus[n++] = (u32)cpu;
	}
	return n;
}

static void parse_line(struct reader *r, struct span line, const u32 *cpus, size_t n_cpus,
		       matrix_label label, u64 *values, struct buf *name)
{
	struct span first;
	size_t n = 0, base;
	u64 sum = 0;

	if (!line_word(&line, &first) || first.s[first.n - 1] != ':')
		return;
	first.n--;
	while (n < n_cpus && line_number(&line, &values[n]))
		n++;
	buf_reset(name);
	if (!first.n)
		return;
	if (label)
		label(first, line, name);
	else
		buf_add(name, first.s, first.n);
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	reader_put_row(r, 1, (struct span){ name->data, name->len }, sum);
	buf_addch(name, '/');
	base = name->len;
	for (size_t i = 0; i < n; i++) {
		/* ERR: and MIS: have one number for the whole machine */
		if (n > 1 || n_cpus == 1)
			buf_addu(name, cpus[i]);
		else
			buf_addstr(name, "all");
		reader_put_row(r, 0, (struct span){ name->data, name->len }, values[i]);
		buf_truncate(name, base);
	}
}

void parse_matrix(struct reader *r, const char *text, size_t len, matrix_label label)
{
	_cleanup_free_ u32 *cpus = xcalloc(MATRIX_CPUS, sizeof(*cpus));
	_cleanup_free_ u64 *values = xcalloc(MATRIX_CPUS, sizeof(*values));
	_cleanup_buf_ struct buf name = BUF_INIT;
	const char *end = text + len;
	struct span line;
	size_t n;

	if (!text_line(&text, end, &line))
		return;
	n = read_cpus(line, cpus);
	while (n && text_line(&text, end, &line))
		parse_line(r, line, cpus, n, label, values, &name);
}
