/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as BTF: whatever parses can be asked everything. */
#include "host/btf.h"

enum { ASKED_TYPES = 512, ASKED_MEMBERS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_members(const struct kbtf *btf, u32 id)
{
	u32 length = kbtf_length(btf, id);
	struct kbtf_member member;
	const char *name;
	u32 type;
	s64 value;

	for (u32 i = 0; i < length && i < ASKED_MEMBERS; i++) {
		if (kbtf_member_at(btf, id, i, &member) == 0 && *member.name)
			(void)kbtf_member(btf, id, member.name, &member);
		(void)kbtf_param(btf, id, i, &type, &name);
	}
	/* Members are found through typedefs, their number only at the struct itself. */
	if (kbtf_resolve(btf, id) == id && kbtf_member_at(btf, id, length, &member) == 0)
		abort();
	(void)kbtf_member(btf, id, "a.b", &member);
	(void)kbtf_enum_value(btf, id, "A", &value);
}

static void ask(struct kbtf *btf)
{
	u32 count = kbtf_count(btf);

	if (kbtf_type(btf, 0) || kbtf_type(btf, count + 1))
		abort();
	for (u32 id = 0; id <= count + 1 && id < ASKED_TYPES; id++) {
		const struct btf_type *type = kbtf_type(btf, id);

		(void)kbtf_size(btf, id);
		(void)kbtf_resolve(btf, id);
		ask_members(btf, id);
		if (type && *kbtf_name(btf, id) &&
		    !kbtf_find(btf, kbtf_kind(type), kbtf_name(btf, id)))
			abort();
	}
	(void)kbtf_find_tracepoint(btf, "sched_switch");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kbtf *btf;

	if (kbtf_parse(data, size, "input", &btf, NULL) < 0)
		return 0;
	ask(btf);
	kbtf_free(btf);
	return 0;
}
