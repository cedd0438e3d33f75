/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/func_btf.h"

#include "host/bpf_sys.h"

#include <linux/btf.h>

enum { ID_INT = 1, ID_PROTO, ID_MAIN, ID_CALLBACK };

static const char strings[] = "\0long\0fathom\0each";
enum { NAME_LONG = 1, NAME_MAIN = 6, NAME_EACH = 13 };

#define INFO(kind, vlen) ((u32)(kind) << 24 | (vlen))

int func_btf_load(void)
{
	struct {
		struct btf_header h;
		struct btf_type integer;
		u32 encoding;
		struct btf_type proto;
		struct btf_type main;
		struct btf_type callback;
		char strings[sizeof(strings)];
	} btf = {
		.h = { .magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(btf.h) },
		.integer = { NAME_LONG, INFO(BTF_KIND_INT, 0), { 8 } },
		.encoding = BTF_INT_SIGNED << 24 | 64,
		.proto = { 0, INFO(BTF_KIND_FUNC_PROTO, 0), { ID_INT } },
		.main = { NAME_MAIN, INFO(BTF_KIND_FUNC, BTF_FUNC_STATIC), { ID_PROTO } },
		.callback = { NAME_EACH, INFO(BTF_KIND_FUNC, BTF_FUNC_STATIC), { ID_PROTO } },
	};

	memcpy(btf.strings, strings, sizeof(strings));
	btf.h.type_len = (u32)(offsetof(typeof(btf), strings) - sizeof(btf.h));
	btf.h.str_off = btf.h.type_len;
	btf.h.str_len = sizeof(strings);
	return bpfsys_btf_load(&btf, offsetof(typeof(btf), strings) + sizeof(strings), NULL, 0);
}

void func_btf_info(const u32 *starts, size_t n, struct bpf_func_info *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = (struct bpf_func_info){ starts[i], i ? ID_CALLBACK : ID_MAIN };
}
