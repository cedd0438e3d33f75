/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/names.h"

#include <pwd.h>

#include "base/hash.h"
#include "host/procfs.h"

enum {
	COMMAND_MOST = 4096,
	STRINGS_MOST = 1 << 16, /* then all are read again */
	AGAIN = 16, /* a command line may change: it is read again after this many looks */
};

void task_names_init(struct task_names *n, bool live)
{
	_cleanup_err_ struct err e = ERR_INIT;

	*n = (struct task_names){ .live = live };
	if (live)
		(void)cgroup_mounts_read(&n->mounts, &e);
}

static void forget_all(struct task_names *n)
{
	intern_release(&n->strings);
	n->strings = (struct intern)INTERN_INIT;
	map_clear(&n->by_key);
	map_clear(&n->users);
	map_clear(&n->cgroups);
	vec_clear(&n->list);
}

void task_names_release(struct task_names *n)
{
	forget_all(n);
	map_release(&n->by_key);
	map_release(&n->users);
	map_release(&n->cgroups);
	vec_release(&n->list);
	cgroup_mounts_release(&n->mounts);
}

static void forget_gone(struct task_names *n)
{
	size_t to = 0;

	map_clear(&n->by_key);
	for (size_t i = 0; i < n->list.len; i++) {
		if (n->list.items[i].seen + 1 < n->round)
			continue;
		n->list.items[to] = n->list.items[i];
		map_put(&n->by_key, n->list.items[to].key, to + 1);
		to++;
	}
	n->list.len = to;
}

void task_names_begin(struct task_names *n)
{
	n->round++;
	if (n->strings.len > STRINGS_MOST)
		forget_all(n);
	else if (n->round % AGAIN == 0)
		forget_gone(n);
}

u32 task_names_user(struct task_names *n, u32 uid)
{
	u64 *at = map_at(&n->users, uid);
	struct passwd pw, *found = NULL;
	char room[4096], number[16];

	if (*at)
		return (u32)*at;
	snprintf(number, sizeof(number), "%u", uid);
	if (n->live && getpwuid_r(uid, &pw, room, sizeof(room), &found) == 0 && found)
		*at = intern_str(&n->strings, pw.pw_name);
	else
		*at = intern_str(&n->strings, number);
	return (u32)*at;
}

static u32 cgroup_name(struct task_names *n, u64 id)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	u64 *at;

	if (!id || !n->live)
		return 0;
	at = map_at(&n->cgroups, id);
	if (!*at && cgroup_by_id(&n->mounts, id, &path) == 0)
		*at = intern_str(&n->strings, buf_str(&path));
	return (u32)*at;
}

/* Arguments are separated by NULs; a kernel thread, and a process that has ended, has none. */
static u32 read_command(struct task_names *n, const struct task_row *row)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!n->live || row->kernel || row->ended ||
	    procfs_read(row->pid, 0, "cmdline", COMMAND_MOST, &text, NULL) < 0 || !text.len)
		return 0;
	while (text.len && !text.data[text.len - 1])
		buf_truncate(&text, text.len - 1);
	for (size_t i = 0; i < text.len; i++)
		if (!text.data[i])
			text.data[i] = ' ';
	return text.len ? intern_str(&n->strings, buf_str(&text)) : 0;
}

const struct task_name *task_names_get(struct task_names *n, const struct task_row *row)
{
	u64 key = hash_mix((u64)row->tid << 32 | row->pid, row->start),
	    *at = map_at(&n->by_key, key);
	struct task_name *name;

	if (!*at) {
		name = vec_new(&n->list);
		name->key = key;
		*at = n->list.len;
		name->seen = n->round;
	}
	name = &n->list.items[*at - 1];
	/* a new program under the same number, or a title that may have changed */
	if (memcmp(name->comm, row->comm, sizeof(name->comm)) != 0 ||
	    (n->round + row->pid) % AGAIN == 0) {
		u32 command = read_command(n, row);

		memcpy(name->comm, row->comm, sizeof(name->comm));
		if (command || !row->ended)
			name->command = command;
		name->cgroup = cgroup_name(n, row->cgroup);
	}
	name->seen = n->round;
	return name;
}

/* --- containers ------------------------------------------------------------------------------- */

/* How runtimes call the group of a container: the name is between the two. */
static const struct {
	const char *before, *after, *runtime;
} container_forms[] = {
	{ "docker-", ".scope", "docker" },
	{ "/docker/", "", "docker" },
	{ "libpod-", ".scope", "podman" },
	{ "crio-", ".scope", "crio" },
	{ "cri-containerd-", ".scope", "k8s" },
	{ "/lxc.payload.", "", "lxc" },
	{ "/lxc/", "", "lxc" },
	{ "/machine.slice/machine-", ".scope", "machine" },
	{ "/kubepods/", "", "k8s" },
};

enum { ID_SHOWN = 12 };

bool container_of_cgroup(const char *path, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(container_forms); i++) {
		const char *at = strstr(path, container_forms[i].before), *end;

		if (!at)
			continue;
		at += strlen(container_forms[i].before);
		end = *container_forms[i].after ? strstr(at, container_forms[i].after)
						: at + strcspn(at, "/");
		if (!end || end == at)
			continue;
		buf_addf(out, "%s:", container_forms[i].runtime);
		/* ids are 64 digits: the first of them do */
		buf_add(out, at, end - at == 64 ? ID_SHOWN : (size_t)(end - at));
		return true;
	}
	return false;
}
