/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any text as a probe, as lines to show, as arguments of a note, and as a list of probes in
 * tracefs. */
#include "capture/probe_events.h"
#include "capture/probe_text.h"
#include "capture/probe_usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_free_ char *text = xasprintf("%.*s", (int)size, (const char *)data);
	probe_event_list list = { 0 };
	struct probe_spec s;
	u32 to;

	if (probe_parse(text, &arena, &s, NULL) >= 0) {
		if (!s.func && !(s.file && s.has_line))
			abort();
		vec_each(a, &s.args)
			if (!*a->expr)
				abort();
		probe_spec_release(&s);
	}
	if (probe_parse_lines(text, &arena, &s, &to, NULL) >= 0)
		probe_spec_release(&s);
	_cleanup_buf_ struct buf fields = BUF_INIT, shown = BUF_INIT;
	char *provider = NULL, *name = NULL;

	if (probe_usdt_parse(text, &provider, &name, NULL) >= 0 && (!*provider || !*name))
		abort();
	free(provider);
	free(name);
	(void)probe_usdt_args(text, NULL, &fields, &shown);
	probe_events_parse(text, strlen(text), size & 1, &arena, &list);
	vec_each(p, &list) {
		_cleanup_buf_ struct buf line = BUF_INIT;

		probe_event_text(p, &line);
	}
	vec_release(&list);
	return 0;
}
