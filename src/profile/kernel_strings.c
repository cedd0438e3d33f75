/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/kernel_strings.h"

#include "base/io.h"
#include "base/parse.h"
#include "host/tracefs.h"

#include <sys/utsname.h>

enum { STRINGS_MOST = 16 << 20 };

/* 0xffffffff82819eb4 : "rcu_preempt-GPS" */
static void take_line(struct kernel_strings *k, const char *line, const char *end)
{
	const char *open = memchr(line, '"', (size_t)(end - line));
	const char *close = memrchr(line, '"', (size_t)(end - line));
	u64 address;

	if (end - line < 3 || line[0] != '0' || line[1] != 'x' || !open || close == open)
		return;
	line += 2;
	if (!scan_u64(&line, end, 16, &address))
		return;
	map_put(&k->ids, address, intern_bytes(&k->texts, open + 1, (size_t)(close - open - 1)));
}

static void take_lines(struct kernel_strings *k, const char *p, const char *end)
{
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		take_line(k, p, nl ? nl : end);
		p = nl ? nl + 1 : end;
	}
}

static void read_strings(struct kernel_strings *k, const struct recording *r)
{
	const struct recording_info *info = recording_info(r);
	const char *release = info->osrelease;
	_cleanup_(tracefs_release) struct tracefs fs = TRACEFS_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct utsname here;

	k->read = true;
	if (info->printk) {
		take_lines(k, info->printk, info->printk + strlen(info->printk));
		return;
	}
	if (!release || uname(&here) < 0 || !streq(here.release, release))
		return;
	if (tracefs_open(&fs, NULL) == 0 &&
	    tracefs_read(&fs, "printk_formats", STRINGS_MOST, &text, NULL) >= 0)
		take_lines(k, buf_str(&text), buf_str(&text) + text.len);
}

void kernel_strings_release(struct kernel_strings *k)
{
	map_release(&k->ids);
	intern_release(&k->texts);
}

const char *kernel_strings_get(struct kernel_strings *k, const struct recording *r, u64 address)
{
	u64 id;

	if (!k->read)
		read_strings(k, r);
	id = map_get(&k->ids, address, 0);
	return id ? intern_get(&k->texts, (u32)id) : NULL;
}
