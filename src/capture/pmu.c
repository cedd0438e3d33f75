/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/pmu.h"

#include <dirent.h>
#include <fcntl.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/parse.h"

#define PMU_ROOT "/sys/bus/event_source/devices"

void pmu_release(struct pmu *pmu)
{
	vec_each(f, &pmu->formats)
		free(f->name);
	vec_release(&pmu->formats);
	vec_each(a, &pmu->aliases) {
		free(a->name);
		free(a->terms);
		free(a->unit);
	}
	vec_release(&pmu->aliases);
	free(pmu->name);
	free(pmu->cpus);
	*pmu = (struct pmu){ 0 };
}

void pmu_list_release(pmu_list *list)
{
	vec_each(p, list)
		pmu_release(p);
	vec_release(list);
}

static int read_in(const char *dir, const char *name, struct buf *ret)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", dir, name);
	buf_reset(ret);
	int r = io_read_file(buf_str(&path), PMU_FILE_MOST, ret, NULL);

	while (r >= 0 && ret->len && (ret->data[ret->len - 1] == '\n'))
		buf_truncate(ret, ret->len - 1);
	return r;
}

static int word_parse(const char **s, u32 *ret)
{
	const char *rest = starts_with(*s, "config");

	if (!rest)
		return -EINVAL;
	*ret = 0;
	if (*rest >= '1' && *rest < '0' + PMU_WORDS)
		*ret = (u32)(*rest++ - '0');
	if (*rest++ != ':')
		return -EINVAL;
	*s = rest;
	return 0;
}

int pmu_format_parse(const char *text, struct pmu_format *ret)
{
	const char *s = text, *end = text + strlen(text);
	struct pmu_format f = { 0 };
	int r = word_parse(&s, &f.word);

	if (r < 0)
		return r;
	for (;;) {
		u64 first, last;

		if (!scan_u64(&s, end, 10, &first))
			return -EINVAL;
		last = first;
		if (*s == '-' && (s++, !scan_u64(&s, end, 10, &last)))
			return -EINVAL;
		if (first > last || last > 63)
			return -EINVAL;
		f.bits |= (~0ull >> (63 - (last - first))) << first;
		if (*s == '\0' || *s == '\n')
			break;
		if (*s++ != ',')
			return -EINVAL;
	}
	ret->word = f.word;
	ret->bits = f.bits;
	return 0;
}

int pmu_format_put(const struct pmu_format *format, u64 value, u64 words[static PMU_WORDS])
{
	int n = __builtin_popcountll(format->bits);
	u64 word = words[format->word] & ~format->bits, left = value;

	if (n < 64 && value >> n)
		return -ERANGE;
	for (u64 bits = format->bits; bits; bits &= bits - 1, left >>= 1) {
		if (left & 1)
			word |= bits & -bits;
	}
	words[format->word] = word;
	return 0;
}

static DIR *open_sub(const char *dir, const char *sub)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	buf_addf(&path, "%s/%s", dir, sub);
	return opendir(buf_str(&path));
}

static void load_formats(struct pmu *pmu, const char *dir)
{
	_cleanup_buf_ struct buf text = BUF_INIT, name = BUF_INIT;
	DIR *d = open_sub(dir, "format");
	struct dirent *entry;

	if (!d)
		return;
	while ((entry = readdir(d)) && pmu->formats.len < PMU_ENTRY_MOST) {
		struct pmu_format f = { 0 };

		if (entry->d_name[0] == '.')
			continue;
		buf_reset(&name);
		buf_addf(&name, "format/%s", entry->d_name);
		if (read_in(dir, buf_str(&name), &text) < 0 ||
		    pmu_format_parse(buf_str(&text), &f) < 0)
			continue;
		f.name = xstrdup(entry->d_name);
		vec_push(&pmu->formats, f);
	}
	closedir(d);
}

static bool is_alias_detail(const char *name)
{
	return ends_with(name, ".scale") || ends_with(name, ".unit") ||
	       ends_with(name, ".per-pkg") || ends_with(name, ".snapshot");
}

static void load_alias(struct pmu *pmu, const char *dir, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT, path = BUF_INIT;
	struct pmu_alias a = { .scale = 1 };

	buf_addf(&path, "events/%s", name);
	if (read_in(dir, buf_str(&path), &text) < 0)
		return;
	a.name = xstrdup(name);
	a.terms = xstrdup(buf_str(&text));
	buf_addstr(&path, ".unit");
	if (read_in(dir, buf_str(&path), &text) >= 0)
		a.unit = xstrdup(buf_str(&text));
	buf_reset(&path);
	buf_addf(&path, "events/%s.scale", name);
	if (read_in(dir, buf_str(&path), &text) >= 0)
		a.scale = strtod(buf_str(&text), NULL); /* "2.3283064365386962890625e-10" */
	vec_push(&pmu->aliases, a);
}

static int alias_order(const void *a, const void *b)
{
	return strcmp(((const struct pmu_alias *)a)->name, ((const struct pmu_alias *)b)->name);
}

static int format_order(const void *a, const void *b)
{
	return strcmp(((const struct pmu_format *)a)->name, ((const struct pmu_format *)b)->name);
}

static void load_aliases(struct pmu *pmu, const char *dir)
{
	DIR *d = open_sub(dir, "events");
	struct dirent *entry;

	if (!d)
		return;
	while ((entry = readdir(d)) && pmu->aliases.len < PMU_ENTRY_MOST) {
		if (entry->d_name[0] != '.' && !is_alias_detail(entry->d_name))
			load_alias(pmu, dir, entry->d_name);
	}
	closedir(d);
}

static char *load_cpus(const char *dir)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (read_in(dir, "cpumask", &text) < 0 && read_in(dir, "cpus", &text) < 0)
		return NULL;
	return text.len ? xstrdup(buf_str(&text)) : NULL;
}

int pmu_load(const char *root, const char *name, struct pmu *ret, struct err *e)
{
	_cleanup_buf_ struct buf dir = BUF_INIT, text = BUF_INIT;
	struct pmu pmu = { 0 };
	u64 type;

	if (!*name || strchr(name, '/') || name[0] == '.')
		return err_set(e, ENOENT, "no PMU '%s'", name);
	buf_addf(&dir, "%s/%s", root ? root : PMU_ROOT, name);
	if (read_in(buf_str(&dir), "type", &text) < 0)
		return err_set(e, ENOENT, "no PMU '%s'", name);
	int r = parse_u64_range(buf_str(&text), 0, UINT32_MAX, &type, e);

	if (r < 0)
		return err_prefix(e, "type of PMU '%s'", name);
	pmu.name = xstrdup(name);
	pmu.type = (u32)type;
	pmu.cpus = load_cpus(buf_str(&dir));
	load_formats(&pmu, buf_str(&dir));
	load_aliases(&pmu, buf_str(&dir));
	vec_sort(&pmu.aliases, alias_order);
	vec_sort(&pmu.formats, format_order);
	*ret = pmu;
	return 0;
}

static int pmu_order(const void *a, const void *b)
{
	return strcmp(((const struct pmu *)a)->name, ((const struct pmu *)b)->name);
}

int pmu_load_all(const char *root, pmu_list *ret, struct err *e)
{
	const char *path = root ? root : PMU_ROOT;
	DIR *d = opendir(path);
	struct dirent *entry;
	pmu_list list = { 0 };

	if (!d)
		return err_sys(e, errno, "cannot open '%s'", path);
	while ((entry = readdir(d)) && list.len < PMU_MOST) {
		struct pmu pmu;

		if (entry->d_name[0] != '.' && pmu_load(root, entry->d_name, &pmu, NULL) >= 0)
			vec_push(&list, pmu);
	}
	closedir(d);
	vec_sort(&list, pmu_order);
	*ret = list;
	return 0;
}

const struct pmu_format *pmu_format_find(const struct pmu *pmu, const char *name, size_t n)
{
	vec_each(f, &pmu->formats) {
		if (strlen(f->name) == n && memcmp(f->name, name, n) == 0)
			return f;
	}
	return NULL;
}

const struct pmu_alias *pmu_alias_find(const struct pmu *pmu, const char *name, size_t n)
{
	vec_each(a, &pmu->aliases) {
		if (strlen(a->name) == n && memcmp(a->name, name, n) == 0)
			return a;
	}
	return NULL;
}
