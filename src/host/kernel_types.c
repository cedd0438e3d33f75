/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/kernel_types.h"

#include "host/btf.h"

#include <fcntl.h>
#include <sys/utsname.h>

bool kernel_types_own(void)
{
	const char *hidden = getenv("FATHOM_NO_BTF");

	return !(hidden && *hidden) && access(KERNEL_TYPES, R_OK) == 0;
}

/* Where distributions put a vmlinux. */
static const char *const places[] = {
	"/boot/vmlinux-%s",
	"/lib/modules/%s/vmlinux-%s",
	"/lib/modules/%s/build/vmlinux",
	"/usr/lib/modules/%s/kernel/vmlinux",
	"/usr/lib/debug/boot/vmlinux-%s",
	"/usr/lib/debug/boot/vmlinux-%s.debug",
	"/usr/lib/debug/lib/modules/%s/vmlinux",
};

static void add_place(struct buf *out, const char *place, const char *release)
{
	for (const char *s = place; *s; s++) {
		if (s[0] == '%' && s[1] == 's') {
			buf_addstr(out, release);
			s++;
		} else {
			buf_addch(out, *s);
		}
	}
}

/* A vmlinux without the section is as good as none. */
static bool find_vmlinux(struct buf *ret)
{
	struct utsname u;

	if (uname(&u) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_buf_ struct buf path = BUF_INIT;

		add_place(&path, places[i], u.release);
		if (access(buf_str(&path), R_OK) < 0 || kbtf_read_elf(buf_str(&path), NULL) < 0)
			continue;
		buf_addstr(ret, buf_str(&path));
		return true;
	}
	return false;
}

static int say_none(struct err *e)
{
	err_set(e, EOPNOTSUPP,
		"this kernel does not describe its types: '" KERNEL_TYPES "' is not there");
	err_hint(e, "it was built without CONFIG_DEBUG_INFO_BTF; FATHOM_BTF=FILE names a file with "
		    "its types, which 'pahole --btf_encode_detached=FILE vmlinux' makes");
	return -EOPNOTSUPP;
}

/* Bare types, or a file with a section of them. */
static bool holds_types(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	u16 magic = 0;

	if (fd >= 0 && read(fd, &magic, sizeof(magic)) == sizeof(magic) && magic == BTF_MAGIC)
		return true;
	return kbtf_read_elf(path, NULL) >= 0;
}

static int use_named(const char *path, struct buf *ret, struct err *e)
{
	if (access(path, R_OK) < 0)
		return err_sys(e, errno, "cannot read '%s', which FATHOM_BTF names", path);
	if (!holds_types(path)) {
		err_set(e, EINVAL, "'%s', which FATHOM_BTF names, holds no kernel types", path);
		err_hint(e, "'pahole --btf_encode_detached=FILE vmlinux' writes such a file");
		return -EINVAL;
	}
	buf_addstr(ret, path);
	return 0;
}

int kernel_types_path(struct buf *ret, struct err *e)
{
	const char *named = getenv("FATHOM_BTF");

	if (kernel_types_own()) {
		buf_addstr(ret, KERNEL_TYPES);
		return 0;
	}
	if (named && *named)
		return use_named(named, ret, e);
	if (find_vmlinux(ret))
		return 0;
	return say_none(e);
}
