/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Some tracepoints record the address of a constant string ("Start context switch"). Tracefs lists
 * these strings, and recordings carry its list. Where one does not, that of the kernel that runs
 * here is asked if it is the recorded one. After a reboot the addresses differ, and the number is
 * shown.
 */
#include "view/script_state.h"

#include "base/io.h"
#include "host/tracefs.h"

#include <sys/utsname.h>

enum { STRINGS_MOST = 16 << 20 };

/* 0xffffffff82819eb4 : "rcu_preempt-GPS" */
static void take_line(struct script *s, const char *line, const char *end)
{
	const char *open = memchr(line, '"', (size_t)(end - line));
	const char *close = memrchr(line, '"', (size_t)(end - line));
	u64 address;

	if (end - line < 3 || line[0] != '0' || line[1] != 'x' || !open || close == open)
		return;
	line += 2;
	if (!scan_u64(&line, end, 16, &address))
		return;
	map_put(&s->strings, address,
		intern_bytes(&s->machine.strings, open + 1, (size_t)(close - open - 1)));
}

static void take_lines(struct script *s, const char *p, const char *end)
{
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		take_line(s, p, nl ? nl : end);
		p = nl ? nl + 1 : end;
	}
}

static void read_strings(struct script *s)
{
	const struct recording_info *info = recording_info(s->recording);
	const char *release = info->osrelease;
	_cleanup_(tracefs_release) struct tracefs fs = TRACEFS_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct utsname here;

	s->strings_read = true;
	if (info->printk) {
		take_lines(s, info->printk, info->printk + strlen(info->printk));
		return;
	}
	if (!release || uname(&here) < 0 || !streq(here.release, release))
		return;
	if (tracefs_open(&fs, NULL) == 0 &&
	    tracefs_read(&fs, "printk_formats", STRINGS_MOST, &text, NULL) >= 0)
		take_lines(s, buf_str(&text), buf_str(&text) + text.len);
}

const char *script_kernel_string(void *script, u64 address)
{
	struct script *s = script;
	u64 id;

	if (!s->strings_read)
		read_strings(s);
	id = map_get(&s->strings, address, 0);
	return id ? machine_str(&s->machine, (u32)id) : NULL;
}
