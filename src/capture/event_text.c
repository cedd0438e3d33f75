/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The grammar of -e: lists, groups, and one function per kind of event.
 *
 *	list: item (',' item)*    item: [NAME] '{' list '}' [':' MODS] | event
 */
#include "capture/event_text.h"

#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <linux/hw_breakpoint.h>
#include <stdarg.h>

#include "base/buf.h"
#include "base/parse.h"
#include "base/suggest.h"
#include "capture/names.h"
#include "capture/tracepoint.h"
#include "host/tracefs.h"

int event_fault(struct event_text *t, const char *at, const char *fmt, ...)
{
	_cleanup_buf_ struct buf what = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&what, fmt, ap);
	va_end(ap);
	return err_set(t->err, EINVAL, "event '%.200s': %s (column %zu)", t->text, buf_str(&what),
		       (size_t)(at - t->text) + 1);
}

static int event_full(struct event_text *t)
{
	if (t->out->events.len < EVENT_MOST)
		return 0;
	return err_set(t->err, E2BIG, "event '%.200s': more than %d events", t->text, EVENT_MOST);
}

/* Appends an event with defaults; EVENT_MOST is checked by the caller through event_full(). */
static struct event *event_new(struct event_text *t, u32 type, u64 config)
{
	struct event *ev = vec_new(&t->out->events);

	ev->attr.type = type;
	ev->attr.size = PERF_ATTR_SIZE_VER7;
	ev->attr.config = config;
	ev->attr.exclude_guest = 1;
	ev->leader = (u32)(t->out->events.len - 1);
	ev->scale = 1;
	ev->inherit = -1;
	ev->overwrite = -1;
	return ev;
}

static void skip_space(struct event_text *t)
{
	while (isspace((unsigned char)*t->s))
		t->s++;
}

static bool ends_token(char c)
{
	return c == '\0' || strchr(",/:{}", c) || isspace((unsigned char)c);
}

static size_t token_length(const char *s)
{
	size_t n = 0;

	while (!ends_token(s[n]))
		n++;
	return n;
}

/* "[:mods]" after an event, or nothing. */
static int optional_modifiers(struct event_text *t, size_t first, bool after_slash)
{
	if (*t->s == ':')
		t->s++;
	else if (!after_slash || ends_token(*t->s))
		return 0;
	return event_modifiers(t, first);
}

/* Names all unnamed events from @first by the text they came from. */
static void name_events(struct event_text *t, size_t first, const char *start)
{
	for (size_t i = first; i < t->out->events.len; i++) {
		struct event *ev = &t->out->events.items[i];

		if (!ev->name)
			ev->name = xstrndup(start, (size_t)(t->s - start));
	}
}

/* The part that all kinds share: [/terms/] [:mods]. */
static int finish(struct event_text *t, size_t first, const char *start)
{
	struct event_terms terms = { .len = 0 };
	bool slash = *t->s == '/';
	int r = slash ? event_terms_read(t, &terms) : 0;

	for (size_t i = first; slash && r >= 0 && i < t->out->events.len; i++)
		r = event_terms_apply(t, &terms, NULL, &t->out->events.items[i]);
	if (r >= 0)
		r = optional_modifiers(t, first, slash);
	if (r >= 0)
		name_events(t, first, start);
	return r;
}

static int parse_simple(struct event_text *t, u32 type, u64 config, size_t n)
{
	size_t first = t->out->events.len;
	const char *start = t->s;
	int r = event_full(t);

	if (r < 0)
		return r;
	event_new(t, type, config);
	t->s += n;
	return finish(t, first, start);
}

/* "r1a8": the letter and only hexadecimal digits. */
static bool raw_config(const char *s, size_t n, u64 *ret)
{
	const char *digits = s + 1;

	return n >= 2 && n <= 17 && s[0] == 'r' && scan_u64(&digits, s + n, 16, ret) &&
	       digits == s + n;
}

static bool number(const char *s, size_t n, u64 *ret)
{
	const char *at = s;
	u32 base = 10;

	if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		at += 2;
		base = 16;
	}
	return n > 0 && scan_u64(&at, s + n, base, ret) && at == s + n;
}

/* "TYPE:CONFIG" */
static int parse_numeric(struct event_text *t, u64 type, size_t n)
{
	size_t first = t->out->events.len, len = token_length(t->s + n + 1);
	const char *start = t->s;
	u64 config;
	int r = event_full(t);

	if (r < 0)
		return r;
	if (!number(start + n + 1, len, &config) || type > UINT32_MAX)
		return event_fault(t, start + n + 1, "a number is missing after the type");
	event_new(t, (u32)type, config);
	t->s += n + 1 + len;
	return finish(t, first, start);
}

static int breakpoint_access(struct event_text *t, u32 *ret)
{
	size_t n = *t->s == ':' ? strspn(t->s + 1, "rwx") : 0;

	*ret = HW_BREAKPOINT_RW;
	if (n == 0 || !ends_token(t->s[1 + n]))
		return 0;
	*ret = 0;
	for (const char *c = t->s + 1; c < t->s + 1 + n; c++) {
		u32 bit = *c == 'r'   ? HW_BREAKPOINT_R
			  : *c == 'w' ? HW_BREAKPOINT_W
				      : HW_BREAKPOINT_X;

		if (*ret & bit)
			return event_fault(t, c, "'%c' is given twice", *c);
		*ret |= bit;
	}
	t->s += 1 + n;
	return 0;
}

/* "mem:ADDR[/LEN][:rwx]" */
static int parse_breakpoint(struct event_text *t)
{
	const char *start = t->s;
	size_t first = t->out->events.len, n;
	u64 address, len = 0;
	u32 access;
	int r = event_full(t);

	if (r < 0)
		return r;
	t->s += strlen("mem:");
	n = token_length(t->s);
	if (!number(t->s, n, &address))
		return event_fault(t, t->s, "an address is missing: mem:0xADDR[/LEN][:rwx]");
	t->s += n;
	if (*t->s == '/') {
		n = token_length(++t->s);
		if (!number(t->s, n, &len) || (len != 1 && len != 2 && len != 4 && len != 8))
			return event_fault(t, t->s, "the length must be 1, 2, 4 or 8");
		t->s += n;
	}
	r = breakpoint_access(t, &access);
	if (r < 0)
		return r;
	struct event *ev = event_new(t, PERF_TYPE_BREAKPOINT, 0);

	ev->attr.bp_addr = address;
	ev->attr.bp_type = access;
	ev->attr.bp_len = len ? len : access == HW_BREAKPOINT_X ? sizeof(long) : 4;
	ev->attr.sample_period = 1;
	r = optional_modifiers(t, first, false);
	if (r >= 0)
		name_events(t, first, start);
	return r;
}

static int add_tracepoint(struct event_text *t, const struct tracepoint_name *tp)
{
	u64 id;
	int r = event_full(t);

	if (r >= 0)
		r = tracepoint_id(t->source->tracefs, tp->sys, tp->name, &id, t->err);
	if (r < 0)
		return r;
	struct event *ev = event_new(t, PERF_TYPE_TRACEPOINT, id);

	ev->attr.sample_period = 1;
	ev->name = xasprintf("%s:%s", tp->sys, tp->name);
	ev->sysname = xstrdup(tp->sys);
	return 0;
}

/* Programs register these events themselves, in a file that only such kernels have. */
static bool user_events_hint(struct event_text *t, const char *sys)
{
	char path[512];

	if (!streq(sys, "user_events"))
		return false;
	snprintf(path, sizeof(path), "%s/user_events_status", t->source->tracefs);
	if (access(path, F_OK) != 0)
		err_hint(t->err, "this kernel has no user_events (CONFIG_USER_EVENTS, Linux 6.4); "
				 "markers of include/fathom.h need none");
	else
		err_hint(t->err, "it exists while a program has registered it");
	return true;
}

static void tracepoint_hint(struct event_text *t, const char *sys, const char *name)
{
	struct tracepoint_list list = { 0 };
	struct suggestion near;

	if (user_events_hint(t, sys))
		return;
	if (tracepoint_find(t->source->tracefs, sys, "*", &list, NULL) >= 0 && list.names.len) {
		suggest_init(&near, name);
		vec_each(tp, &list.names)
			suggest_try(&near, tp->name);
		if (near.best[0])
			err_hint(t->err, "did you mean '%s:%s'?", sys, near.best);
		else
			err_hint(t->err, "'fathom list '%s:*'' lists them", sys);
	} else {
		err_hint(t->err, "'fathom list' shows all events of this machine");
	}
	tracepoint_list_release(&list);
}

/* The whole rest of the item is offered to libpfm4: "INST_RETIRED:ANY_P:u". */
static int parse_pfm(struct event_text *t)
{
	size_t n = strcspn(t->s, ",{}");
	_cleanup_free_ char *name = xstrndup(t->s, n);
	struct perf_event_attr attr;
	int r = event_full(t);

	if (r >= 0)
		r = event_pfm_encode(name, &attr);
	if (r == -EINVAL) {
		event_fault(t, t->s, "'%s' has a wrong unit mask, or none", name);
		err_hint(t->err, "'fathom list --all -v '*%.*s*'' shows them",
			 (int)strcspn(name, ":"), name);
	}
	if (r < 0)
		return r;
	struct event *ev = event_new(t, attr.type, attr.config);
	u32 size = ev->attr.size;

	ev->attr = attr;
	ev->attr.size = size;
	ev->name = TAKE_PTR(name);
	t->s += n;
	return 0;
}

/* "pmu::EVENT:MASK": only libpfm4 has two colons. */
static int parse_vendor(struct event_text *t)
{
	int r = parse_pfm(t);

	if (r == -ENOENT || r == -ENOSYS) {
		r = event_fault(t, t->s, "unknown event '%.*s'", (int)strcspn(t->s, ",{}"), t->s);
		err_hint(t->err, "'fathom list --all vendor' shows those of this CPU");
	}
	return r;
}

/* "sys:name" with globs in both; @n is the length of sys. */
static int parse_tracepoint(struct event_text *t, size_t n)
{
	const char *start = t->s;
	size_t first = t->out->events.len, name_n = token_length(start + n + 1);
	_cleanup_free_ char *sys = xstrndup(start, n);
	_cleanup_free_ char *name = xstrndup(start + n + 1, name_n);
	struct tracepoint_list list = { 0 };
	int r;

	if (starts_with(start + n, "::"))
		return parse_vendor(t);
	r = tracepoint_find(t->source->tracefs, sys, name, &list, t->err);
	if (r < 0 || list.names.len == 0) {
		int vendor = parse_pfm(t);

		if (vendor >= 0 || vendor == -EINVAL) {
			tracepoint_list_release(&list);
			return vendor;
		}
	}
	if (r >= 0 && list.names.len == 0) {
		r = event_fault(t, start, "no tracepoint '%s:%s'", sys, name);
		tracepoint_hint(t, sys, name);
	}
	for (size_t i = 0; r >= 0 && i < list.names.len; i++)
		r = add_tracepoint(t, &list.names.items[i]);
	tracepoint_list_release(&list);
	if (r < 0)
		return r;
	t->s += n + 1 + name_n;
	return finish(t, first, start);
}

static int add_pmu_event(struct event_text *t, const char *pmu_name,
			 const struct event_terms *terms)
{
	struct pmu pmu;
	int r = event_full(t);

	if (r >= 0)
		r = pmu_load(t->source->sysfs_devices, pmu_name, &pmu, t->err);
	if (r < 0)
		return r;
	struct event *ev = event_new(t, pmu.type, 0);

	ev->cpus = pmu.cpus ? xstrdup(pmu.cpus) : NULL;
	r = event_terms_apply(t, terms, &pmu, ev);
	pmu_release(&pmu);
	return r;
}

/* "uncore_imc" stands for uncore_imc_0, uncore_imc_1 ...; "imc*" and "uncore_*" work, too. */
static bool pmu_matches(const char *wanted, const char *name)
{
	const char *bare = starts_with(name, "uncore_");
	const char *rest = starts_with(name, wanted);

	if (fnmatch(wanted, name, 0) == 0 || (bare && fnmatch(wanted, bare, 0) == 0))
		return true;
	if (!rest && bare)
		rest = starts_with(bare, wanted);
	if (!rest || *rest++ != '_')
		return false;
	return *rest && strspn(rest, "0123456789") == strlen(rest);
}

static int add_matching_pmus(struct event_text *t, const char *name,
			     const struct event_terms *terms, const char *at)
{
	const char *root = t->source->sysfs_devices;
	_cleanup_buf_ struct buf names = BUF_INIT;
	DIR *d = opendir(root ? root : "/sys/bus/event_source/devices");
	struct dirent *entry;
	size_t found = 0;
	int r = 0;

	while (d && r >= 0 && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		buf_addf(&names, "%s%s", names.len ? ", " : "", entry->d_name);
		if (!pmu_matches(name, entry->d_name))
			continue;
		r = add_pmu_event(t, entry->d_name, terms);
		found++;
	}
	if (d)
		closedir(d);
	if (r >= 0 && !found) {
		r = event_fault(t, at, "no PMU '%s' on this machine", name);
		err_hint(t->err, "its PMUs are: %s", buf_str(&names));
	}
	return r;
}

/* "pmu/terms/mods" */
static int parse_pmu(struct event_text *t, size_t n)
{
	const char *start = t->s;
	size_t first = t->out->events.len;
	_cleanup_free_ char *name = xstrndup(start, n);
	struct event_terms terms = { .len = 0 };
	struct pmu pmu;
	int r;

	t->s += n;
	r = event_terms_read(t, &terms);
	if (r < 0)
		return r;
	if (pmu_load(t->source->sysfs_devices, name, &pmu, NULL) >= 0) {
		pmu_release(&pmu);
		r = add_pmu_event(t, name, &terms);
	} else {
		r = add_matching_pmus(t, name, &terms, start);
	}
	if (r >= 0)
		r = optional_modifiers(t, first, true);
	if (r >= 0)
		name_events(t, first, start);
	return r;
}

/* A bare name that some PMU lists in its events folder: "mem-loads". */
static int parse_alias(struct event_text *t, size_t n, bool *ret_found)
{
	struct event_terms terms = { .items = { { .name = t->s, .n = n } }, .len = 1 };
	const char *start = t->s;
	size_t first = t->out->events.len;
	pmu_list pmus = { 0 };
	int r = 0;

	*ret_found = false;
	if (pmu_load_all(t->source->sysfs_devices, &pmus, NULL) < 0)
		return 0;
	vec_each(p, &pmus) {
		if (r < 0 || !pmu_alias_find(p, start, n))
			continue;
		*ret_found = true;
		r = add_pmu_event(t, p->name, &terms);
	}
	pmu_list_release(&pmus);
	if (r < 0 || !*ret_found)
		return r;
	t->s += n;
	return finish(t, first, start);
}

static int unknown_event(struct event_text *t, size_t n)
{
	char cache[CACHE_NAME_MOST];
	struct suggestion near;

	event_fault(t, t->s, n ? "unknown event '%.*s'" : "an event is missing%.*s",
		    (int)MIN(n, 100), n ? t->s : "");
	suggest_init_n(&near, t->s, n);
	for (const struct event_name *e = event_names(); e->name; e++) {
		suggest_try(&near, e->name);
		if (e->alias)
			suggest_try(&near, e->alias);
	}
	for (u32 i = 0; i < CACHE_COUNT * CACHE_OP_COUNT * CACHE_RESULT_COUNT; i++) {
		if (cache_name_make(i / 6, i / 2 % 3, i % 2, cache))
			suggest_try(&near, cache);
	}
	if (near.best[0])
		err_hint(t->err, "did you mean '%s'?", near.best);
	else
		err_hint(t->err, "'fathom list' shows all events of this machine");
	return -EINVAL;
}

static int parse_event(struct event_text *t)
{
	size_t n = token_length(t->s);
	const struct event_name *name = event_name_find(t->s, n);
	u64 config;
	bool found;
	int r;

	if (name)
		return parse_simple(t, name->type, name->config, n);
	if (starts_with(t->s, "mem:"))
		return parse_breakpoint(t);
	if (cache_name_find(t->s, n, &config))
		return parse_simple(t, PERF_TYPE_HW_CACHE, config, n);
	if (raw_config(t->s, n, &config))
		return parse_simple(t, PERF_TYPE_RAW, config, n);
	if (t->s[n] == ':' && number(t->s, n, &config))
		return parse_numeric(t, config, n);
	if (n && t->s[n] == '/')
		return parse_pmu(t, n);
	if (n) {
		r = parse_alias(t, n, &found);
		if (r < 0 || found)
			return r;
	}
	if (n && t->s[n] == ':')
		return parse_tracepoint(t, n);
	r = n ? parse_pfm(t) : -ENOENT;
	return r == -ENOENT || r == -ENOSYS ? unknown_event(t, n) : r;
}

static int parse_list(struct event_text *t, bool in_group);

/* At '{': members up to '}', then modifiers for all. */
static int parse_group(struct event_text *t)
{
	size_t first = t->out->events.len;
	const char *open = t->s++;
	int r = parse_list(t, true);

	if (r < 0)
		return r;
	if (*t->s != '}')
		return event_fault(t, open, "'{' without its '}'");
	t->s++;
	for (size_t i = first; i < t->out->events.len; i++)
		t->out->events.items[i].leader = (u32)first;
	return optional_modifiers(t, first, false);
}

static int parse_item(struct event_text *t, bool in_group)
{
	size_t n = token_length(t->s);

	if (t->s[n] != '{')
		return parse_event(t);
	if (in_group)
		return event_fault(t, t->s + n, "a group cannot hold a group");
	t->s += n; /* the name of a group has no use */
	return parse_group(t);
}

static int parse_list(struct event_text *t, bool in_group)
{
	for (;;) {
		skip_space(t);
		int r = parse_item(t, in_group);

		if (r < 0)
			return r;
		skip_space(t);
		if (*t->s != ',')
			return 0;
		t->s++;
	}
}

static void take_events(struct event_list *list, struct event_list *from)
{
	u32 base = (u32)list->events.len;

	vec_each(ev, &from->events) {
		ev->leader += base;
		ev->argument = list->arguments;
		vec_push(&list->events, *ev);
	}
	vec_release(&from->events);
	list->arguments++;
}

/* Opens tracefs once for all events of a list. */
static void find_tracefs(struct event_list *list, const char *text)
{
	struct tracefs fs = TRACEFS_INIT;

	if (list->source.tracefs || !strchr(text, ':') || tracefs_open(&fs, NULL) < 0)
		return;
	list->own = xmemdup(&fs, sizeof(fs));
	list->source.tracefs = tracefs_root(list->own);
}

int event_parse(struct event_list *list, const char *text, struct err *e)
{
	_cleanup_event_list_ struct event_list out = EVENT_LIST_INIT;
	struct event_text t = {
		.text = text, .s = text, .source = &list->source, .out = &out, .err = e
	};

	if (strlen(text) > EVENT_TEXT_MOST)
		return err_set(e, E2BIG, "the event description is longer than %d bytes",
			       EVENT_TEXT_MOST);
	find_tracefs(list, text);
	int r = parse_list(&t, false);

	if (r >= 0 && *t.s)
		r = event_fault(&t, t.s, "'%c' does not belong here", *t.s);
	if (r < 0)
		return r;
	if (list->events.len + out.events.len > EVENT_MOST)
		return err_set(e, E2BIG, "more than %d events", EVENT_MOST);
	take_events(list, &out);
	return 0;
}
