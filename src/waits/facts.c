/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/facts.h"

#include <bpf/btf.h>

#include "base/hash.h"
#include "base/io.h"
#include "host/kernel_types.h"
#include "unwind/coretypes.h"

#define FACTS_MAGIC  0x3130544341464b31ull /* "1KFACT01": with each change of the struct another */
#define FACTS_SUFFIX ".facts"

/* In the cache. */
struct facts_file {
	u64 magic;
	struct waits_facts facts;
	u64 sum;
};
_Static_assert(sizeof(struct facts_file) == 32, "no gaps: it is summed up");

/* Offset of a variable in the per-CPU section; -1: there is none. */
static s64 percpu_offset(const struct btf *btf, const char *name)
{
	s32 sec = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	s32 var = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);
	const struct btf_type *t = sec > 0 ? btf__type_by_id(btf, (u32)sec) : NULL;

	if (!t || var <= 0)
		return -1;
	const struct btf_var_secinfo *info = btf_var_secinfos(t);

	for (u32 i = 0; i < btf_vlen(t); i++) {
		if (info[i].type == (u32)var)
			return info[i].offset;
	}
	return -1;
}

/* Also in anonymous structs and unions. */
static s64 member_offset(const struct btf *btf, const struct btf_type *t, const char *member)
{
	for (u32 i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		s64 at = btf_member_bit_offset(t, i) / 8, inner;

		if (streq(btf__name_by_offset(btf, m->name_off), member))
			return at;
		if (m->name_off)
			continue;
		inner = member_offset(btf, btf__type_by_id(btf, m->type), member);
		if (inner >= 0)
			return at + inner;
	}
	return -1;
}

/* From a CPU's run queue to its preempt count; 0: not known. */
static s64 preempt_distance(const struct btf *btf)
{
	s64 rq = percpu_offset(btf, "runqueues"), count = percpu_offset(btf, "__preempt_count");

	if (count < 0) {
		s64 hot = percpu_offset(btf, "pcpu_hot");
		s32 type = btf__find_by_name_kind(btf, "pcpu_hot", BTF_KIND_STRUCT);
		s64 member = type > 0 ? member_offset(btf, btf__type_by_id(btf, (u32)type),
						      "preempt_count")
				      : -1;

		count = hot < 0 || member < 0 ? -1 : hot + member;
	}
	return rq < 0 || count < 0 ? 0 : count - rq;
}

/* Since 5.18 the tracepoint hands the state over, which may have changed in the task by then. */
static bool has_prev_state(const struct btf *btf)
{
	s32 id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (u32)id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) && btf_vlen(t) >= 5;
}

static bool has_member(const struct btf *btf, const char *type, const char *member)
{
	s32 id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	return id > 0 && member_offset(btf, btf__type_by_id(btf, (u32)id), member) >= 0;
}

static int read_types(struct waits_facts *ret, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	int rc = kernel_types_path(&path, e);
	struct btf *btf;
	s32 word;

	if (rc < 0)
		return rc;
	btf = btf__parse(buf_str(&path), NULL);
	if (!btf)
		return err_sys(e, errno, "cannot read the kernel's types from '%s'",
			       buf_str(&path));
	word = btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0
		       ? btf__find_by_name_kind(btf, "pt_regs", BTF_KIND_STRUCT)
		       : 0;
	*ret = (struct waits_facts){
		.preempt_distance = preempt_distance(btf),
		.word_type = (u32)MAX(word, 0),
		.has_prev_state = has_prev_state(btf),
		.has_delay = has_member(btf, "task_struct", "sched_info") &&
			     has_member(btf, "cfs_rq", "rq"),
	};
	btf__free(btf);
	return 0;
}

static u64 sum_of(const struct facts_file *f)
{
	return hash_bytes(f, offsetof(struct facts_file, sum));
}

static bool load_facts(const char *path, struct waits_facts *ret)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct facts_file f;

	if (io_read_file(path, sizeof(f), &bytes, NULL) < 0 || bytes.len != sizeof(f))
		return false;
	memcpy(&f, bytes.data, sizeof(f));
	if (f.magic != FACTS_MAGIC || f.sum != sum_of(&f))
		return false;
	*ret = f.facts;
	return true;
}

int waits_facts_find(struct waits_facts *ret, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	bool kept = coretypes_cache_path(FACTS_MAGIC, FACTS_SUFFIX, &path) >= 0;
	struct facts_file f = { .magic = FACTS_MAGIC };
	int rc;

	if (kept && load_facts(buf_str(&path), ret))
		return 0;
	rc = read_types(&f.facts, e);
	if (rc < 0)
		return rc;
	*ret = f.facts;
	f.sum = sum_of(&f);
	if (kept)
		(void)io_write_file_atomic(buf_str(&path), &f, sizeof(f), NULL);
	return 0;
}

void waits_facts_forget(void)
{
	_cleanup_buf_ struct buf path = BUF_INIT;

	if (coretypes_cache_path(FACTS_MAGIC, FACTS_SUFFIX, &path) >= 0)
		(void)unlink(buf_str(&path));
}
