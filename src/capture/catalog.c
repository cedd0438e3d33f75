/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/catalog.h"

#include <linux/perf_event.h>

#include "base/buf.h"
#include "capture/catalog_vendor.h"
#include "capture/event.h"
#include "capture/names.h"
#include "capture/pmu.h"
#include "capture/tracepoint.h"
#include "host/tracefs.h"

const char *catalog_kind_name(enum catalog_kind kind)
{
	static const char *const names[] = { "hardware",   "software", "cache", "pmu",
					     "tracepoint", "vendor",   "other", "field" };

	return names[kind];
}

static bool wanted(const struct catalog_query *q, enum catalog_kind kind, const char *name,
		   const char *alias)
{
	return !q->wanted || q->wanted(q->ctx, kind, name, alias);
}

static bool opens(u32 type, u64 config)
{
	return event_opens(&(struct perf_event_attr){
		.type = type, .size = PERF_ATTR_SIZE_VER7, .config = config, .exclude_guest = 1 });
}

static void walk_names(const struct catalog_query *q, u32 type, enum catalog_kind kind)
{
	char encoding[64];

	for (const struct event_name *n = event_names(); n->name; n++) {
		if (n->type != type || !wanted(q, kind, n->name, n->alias) ||
		    (!q->all && !opens(type, n->config)))
			continue;
		snprintf(encoding, sizeof(encoding), "type=%u config=%llu", type,
			 (unsigned long long)n->config);
		q->entry(q->ctx, &(struct catalog_entry){ .kind = kind,
							  .name = n->name,
							  .alias = n->alias,
							  .encoding = encoding,
							  .description = n->help });
	}
}

static void walk_caches(const struct catalog_query *q)
{
	char name[CACHE_NAME_MOST], encoding[64];

	for (u32 i = 0; i < CACHE_COUNT * CACHE_OP_COUNT * CACHE_RESULT_COUNT; i++) {
		u32 cache = i / 6, op = i / 2 % 3, result = i % 2;
		u64 config = cache | op << 8 | result << 16;

		if (!cache_name_make(cache, op, result, name) ||
		    !wanted(q, CATALOG_CACHE, name, NULL) ||
		    (!q->all && !opens(PERF_TYPE_HW_CACHE, config)))
			continue;
		snprintf(encoding, sizeof(encoding), "type=%u config=0x%llx", PERF_TYPE_HW_CACHE,
			 (unsigned long long)config);
		q->entry(q->ctx, &(struct catalog_entry){ .kind = CATALOG_CACHE,
							  .name = name,
							  .encoding = encoding });
	}
}

static void walk_aliases(const struct catalog_query *q, const struct pmu *pmu)
{
	_cleanup_buf_ struct buf name = BUF_INIT, encoding = BUF_INIT, text = BUF_INIT;

	vec_each(a, &pmu->aliases) {
		buf_reset(&name);
		buf_addf(&name, "%s/%s/", pmu->name, a->name);
		if (!wanted(q, CATALOG_PMU, buf_str(&name), a->name))
			continue;
		buf_reset(&encoding);
		buf_addf(&encoding, "type=%u %s", pmu->type, a->terms);
		buf_reset(&text);
		if (a->unit)
			buf_addf(&text, "in %s", a->unit);
		if (pmu->cpus)
			buf_addf(&text, "%son CPUs %s", text.len ? ", " : "", pmu->cpus);
		q->entry(q->ctx, &(struct catalog_entry){ .kind = CATALOG_PMU,
							  .name = buf_str(&name),
							  .encoding = buf_str(&encoding),
							  .description = buf_str(&text) });
	}
}

/* A line for the form itself: which terms the PMU takes. */
static void walk_form(const struct catalog_query *q, const struct pmu *pmu)
{
	_cleanup_buf_ struct buf name = BUF_INIT, terms = BUF_INIT, encoding = BUF_INIT;

	if (pmu->formats.len == 0)
		return;
	buf_addf(&name, "%s/TERM=VALUE,.../", pmu->name);
	if (!wanted(q, CATALOG_PMU, buf_str(&name), NULL))
		return;
	vec_each(f, &pmu->formats)
		buf_addf(&terms, "%s%s", terms.len ? ", " : "terms: ", f->name);
	buf_addf(&encoding, "type=%u", pmu->type);
	q->entry(q->ctx, &(struct catalog_entry){ .kind = CATALOG_PMU,
						  .name = buf_str(&name),
						  .encoding = buf_str(&encoding),
						  .description = buf_str(&terms) });
}

static void walk_pmus(const struct catalog_query *q)
{
	pmu_list pmus = { 0 };

	if (pmu_load_all(NULL, &pmus, NULL) < 0)
		return;
	vec_each(pmu, &pmus) {
		walk_aliases(q, pmu);
		walk_form(q, pmu);
	}
	pmu_list_release(&pmus);
}

static void field_entries(const struct catalog_query *q, const char *root,
			  const struct tracepoint_name *tp)
{
	_cleanup_buf_ struct buf name = BUF_INIT, text = BUF_INIT, encoding = BUF_INIT;
	struct tracepoint_format f;

	if (tracepoint_format_read(root, tp->sys, tp->name, &f, NULL) < 0)
		return;
	vec_each(field, &f.fields) {
		if (field->is_common)
			continue;
		buf_reset(&name);
		buf_addf(&name, "%s:%s.%s", tp->sys, tp->name, field->name);
		buf_reset(&encoding);
		buf_addf(&encoding, "offset=%u size=%u", field->offset, field->size);
		buf_reset(&text);
		buf_addstr(&text, field->type);
		if (field->array_len)
			buf_addf(&text, "[%u]", field->array_len);
		q->entry(q->ctx, &(struct catalog_entry){ .kind = CATALOG_FIELD,
							  .name = buf_str(&name),
							  .encoding = buf_str(&encoding),
							  .description = buf_str(&text) });
	}
	tracepoint_format_release(&f);
}

static void tracepoint_entry(const struct catalog_query *q, const char *root,
			     const struct tracepoint_name *tp, const char *name)
{
	char encoding[64] = "";
	u64 id;

	if (tracepoint_id(root, tp->sys, tp->name, &id, NULL) >= 0)
		snprintf(encoding, sizeof(encoding), "type=%u config=%llu", PERF_TYPE_TRACEPOINT,
			 (unsigned long long)id);
	else if (!q->all)
		return; /* some of ftrace's own have none: perf cannot open them */
	q->entry(q->ctx, &(struct catalog_entry){ .kind = CATALOG_TRACEPOINT,
						  .name = name,
						  .encoding = *encoding ? encoding : NULL });
	if (q->details)
		field_entries(q, root, tp);
}

static void walk_tracepoints(const struct catalog_query *q, struct err *e)
{
	_cleanup_(tracefs_release) struct tracefs fs = TRACEFS_INIT;
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct tracepoint_list list = { 0 };
	const char *root;

	if (tracefs_open(&fs, e) < 0)
		return;
	root = tracefs_root(&fs);
	if (tracepoint_find(root, "*", "*", &list, e) < 0)
		return;
	vec_each(tp, &list.names) {
		buf_reset(&name);
		buf_addf(&name, "%s:%s", tp->sys, tp->name);
		if (wanted(q, CATALOG_TRACEPOINT, buf_str(&name), NULL))
			tracepoint_entry(q, root, tp, buf_str(&name));
	}
	tracepoint_list_release(&list);
}

static void walk_forms(const struct catalog_query *q)
{
	static const struct catalog_entry forms[] = {
		{ CATALOG_OTHER, "rNNN", NULL, "type=4 config=0xNNN",
		  "raw hardware event in hexadecimal" },
		{ CATALOG_OTHER, "TYPE:CONFIG", NULL, NULL, "numbers of perf_event_attr" },
		{ CATALOG_OTHER, "mem:ADDR[/LEN][:rwx]", NULL, "type=5",
		  "hardware breakpoint: an address is read, written or executed" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (!wanted(q, CATALOG_OTHER, forms[i].name, NULL) ||
		    (i == 0 && !q->all && !opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES)))
			continue;
		q->entry(q->ctx, &forms[i]);
	}
}

int catalog_walk(const struct catalog_query *q, struct err *e)
{
	walk_names(q, PERF_TYPE_HARDWARE, CATALOG_HARDWARE);
	walk_names(q, PERF_TYPE_SOFTWARE, CATALOG_SOFTWARE);
	walk_caches(q);
	walk_pmus(q);
	walk_tracepoints(q, e);
	if (q->all || opens(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
		catalog_walk_vendor(q);
	walk_forms(q);
	return 0;
}
