/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/skid.h"

bool skid_function(const char *name)
{
	static const char *const begins[] = {
		"_raw_spin_unlock_irq",   "_raw_write_unlock_irq", "_raw_read_unlock_irq",
		"finish_task_switch",     "__local_bh_enable_ip",  "arch_local_irq_enable",
		"raw_spin_rq_unlock_irq", "handle_softirqs",       "__do_softirq",
	};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (starts_with(name, begins[i]))
			return true;
	return false;
}

bool skid_event(const struct profile *p, u16 event)
{
	const char *name = profile_str(p, p->events.items[event].name);

	return starts_with(name, "cpu-clock") || starts_with(name, "task-clock");
}

u32 skid_stack(const struct profile *p, u32 stack)
{
	u32 at = stack;

	while (at && profile_frame_of(p, at)->kind == FRAME_KERNEL &&
	       skid_function(profile_str(p, profile_frame_of(p, at)->name)) &&
	       p->stacks.items[at].parent)
		at = p->stacks.items[at].parent;
	return at;
}

double skid_percent(const struct profile *p, u16 event)
{
	u64 weight = 0, all = 0;

	if (!skid_event(p, event))
		return 0;
	vec_each(s, &p->samples) {
		if (s->event != event)
			continue;
		all += s->weight;
		weight += skid_stack(p, s->stack) != s->stack ? s->weight : 0;
	}
	return all ? 100.0 * (double)weight / (double)all : 0;
}

void skid_note(double percent, bool charged, struct result *ret)
{
	if (percent < 1)
		return;
	result_fact(ret, "skid_percent", NULL, value_d(VALUE_PERCENT, percent));
	result_note(ret, NOTE_INFO, "where there is a PMU, -e cycles samples inside as well",
		    "%.1f%% of samples fell where interrupts are enabled again "
		    "(_raw_spin_unlock_irqrestore, finish_task_switch): a clock cannot sample "
		    "before that, so the time is %s",
		    percent,
		    charged ? "charged to the callers"
			    : "that of the callers; such rows are marked (late)");
}
