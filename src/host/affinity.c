/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/affinity.h"

#include "host/topology.h"

bool affinity_parse(const char *text, size_t len, range_list *ret)
{
	static const char key[] = "Cpus_allowed_list:";
	_cleanup_buf_ struct buf copy = BUF_INIT;
	const char *at;

	buf_add(&copy, text, len);
	at = strstr(buf_str(&copy), key);
	if (!at)
		return false;
	at += strlen(key);
	at += strspn(at, " \t");
	_cleanup_free_ char *list = xstrndup(at, strcspn(at, "\n"));

	return parse_ranges(list, TOPOLOGY_CPUS_MOST - 1, ret, NULL) >= 0;
}

static bool read_process(u32 pid, struct affinity *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct proc_stat stat;

	*ret = (struct affinity){ .pid = pid };
	if (procfs_read(pid, 0, "status", 1 << 20, &text, NULL) < 0 ||
	    procfs_stat(pid, 0, &stat) < 0 ||
	    !affinity_parse(buf_str(&text), text.len, &ret->allowed))
		return false;
	memcpy(ret->comm, stat.comm, sizeof(ret->comm));
	ret->cpu = stat.cpu;
	return true;
}

int affinity_read(struct affinity_list *ret, struct err *e)
{
	pid_list pids = { 0 };
	int rc = procfs_pids(&pids, e);

	*ret = (struct affinity_list){ 0 };
	for (size_t i = 0; rc >= 0 && i < pids.len; i++) {
		struct affinity a;

		if (read_process(pids.items[i], &a)) {
			vec_push(&ret->processes, a);
		} else {
			vec_release(&a.allowed);
			ret->unread++;
		}
	}
	vec_release(&pids);
	return rc;
}

void affinity_release(struct affinity_list *l)
{
	vec_each(p, &l->processes)
		vec_release(&p->allowed);
	vec_release(&l->processes);
}
