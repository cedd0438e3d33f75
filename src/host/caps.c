/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/caps.h"

#include <ctype.h>
#include <errno.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang-format off */
static const char *const cap_names[] = {
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID",
	"SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW",
	"IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT",
	"SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD",
	"LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG",
	"WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
};
/* clang-format on */
_Static_assert(ARRAY_SIZE(cap_names) == 41, "one name per capability");

u64 caps_effective(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	memset(data, 0, sizeof(data));
	if (syscall(SYS_capget, &head, data) != 0)
		return 0;
	return (u64)data[1].effective << 32 | data[0].effective;
}

bool caps_allow(u64 have, u64 needed)
{
	if (have & CAP_BIT(CAP_SYS_ADMIN))
		have |= CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON);
	return (needed & ~have) == 0;
}

/* "CAP_PERFMON", or "CAP_63" for a number that has no name yet. Valid for 0 to 63. */
static void caps_name(struct buf *b, unsigned int cap)
{
	if (cap < ARRAY_SIZE(cap_names))
		buf_addf(b, "CAP_%s", cap_names[cap]);
	else
		buf_addf(b, "CAP_%u", cap);
}

void caps_list(struct buf *b, u64 set, const char *separator, bool lower)
{
	const char *between = "";

	for (unsigned int cap = 0; cap < 64; cap++) {
		size_t start;

		if (!(set >> cap & 1))
			continue;
		buf_addstr(b, between);
		between = separator;
		start = b->len;
		caps_name(b, cap);
		for (size_t i = start; lower && i < b->len; i++)
			b->data[i] = (char)tolower((unsigned char)b->data[i]);
	}
}

/* Watching, reading what belongs to others, writing where the user may, priorities, signals. */
#define CAPS_USED                                                                                 \
	(CAP_BIT(CAP_SYS_ADMIN) | CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_SYSLOG) | \
	 CAP_BIT(CAP_SYS_PTRACE) | CAP_BIT(CAP_DAC_READ_SEARCH) | CAP_BIT(CAP_DAC_OVERRIDE) |     \
	 CAP_BIT(CAP_SYS_NICE) | CAP_BIT(CAP_SYS_RESOURCE) | CAP_BIT(CAP_KILL) |                  \
	 CAP_BIT(CAP_IPC_LOCK) | CAP_BIT(CAP_NET_ADMIN) | CAP_BIT(CAP_CHECKPOINT_RESTORE) |       \
	 CAP_BIT(CAP_LEASE))

void caps_drop_unused(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data) < 0)
		return;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		const u32 used = (u32)(CAPS_USED >> (32 * i));

		data[i].effective &= used;
		data[i].permitted &= used;
		data[i].inheritable &= used;
	}
	(void)syscall(SYS_capset, &header, data);
}
