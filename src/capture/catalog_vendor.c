/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/catalog_vendor.h"

#include "base/buf.h"
#include "capture/pfm.h"

#ifdef HAVE_LIBPFM

static void entry(const struct catalog_query *q, const char *name, u64 code, const char *text)
{
	char encoding[64];

	snprintf(encoding, sizeof(encoding), "code=0x%llx", (unsigned long long)code);
	if (!q->wanted || q->wanted(q->ctx, CATALOG_VENDOR, name, NULL))
		q->entry(q->ctx, &(struct catalog_entry){ .kind = CATALOG_VENDOR,
							  .name = name,
							  .encoding = encoding,
							  .description = text });
}

static void walk_masks(const struct catalog_query *q, const struct pfm *pfm, const char *pmu,
		       const pfm_event_info_t *event, int index)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	for (int i = 0; i < event->nattrs; i++) {
		pfm_event_attr_info_t mask = { .size = sizeof(mask) };

		if (pfm->attr_info(index, i, PFM_OS_NONE, &mask) != PFM_SUCCESS ||
		    mask.type != PFM_ATTR_UMASK)
			continue;
		buf_reset(&name);
		buf_addf(&name, "%s::%s:%s", pmu, event->name, mask.name);
		entry(q, buf_str(&name), mask.code, mask.desc);
	}
}

static void walk_pmu(const struct catalog_query *q, const struct pfm *pfm,
		     const pfm_pmu_info_t *pmu)
{
	_cleanup_buf_ struct buf name = BUF_INIT;

	for (int i = pmu->first_event; i != -1; i = pfm->event_next(i)) {
		pfm_event_info_t event = { .size = sizeof(event) };

		if (pfm->event_info(i, PFM_OS_NONE, &event) != PFM_SUCCESS)
			continue;
		buf_reset(&name);
		buf_addf(&name, "%s::%s", pmu->name, event.name);
		entry(q, buf_str(&name), event.code, event.desc);
		if (q->details)
			walk_masks(q, pfm, pmu->name, &event, i);
	}
}

void catalog_walk_vendor(const struct catalog_query *q)
{
	struct pfm pfm;

	if (pfm_open(&pfm) < 0)
		return;
	for (int id = PFM_PMU_NONE + 1; id < PFM_PMU_MAX; id++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (pfm.pmu_info((pfm_pmu_t)id, &pmu) == PFM_SUCCESS && pmu.is_present &&
		    id != PFM_PMU_PERF_EVENT && id != PFM_PMU_PERF_EVENT_RAW)
			walk_pmu(q, &pfm, &pmu);
	}
}

#else

void catalog_walk_vendor(const struct catalog_query *q UNUSED)
{
}

#endif
