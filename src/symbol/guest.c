/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of a guest's kernel: from copies of its /proc/kallsyms and /proc/modules. */
#include "symbol/store.h"

#include "base/io.h"

#define GUEST_KERNEL_NAME "[guest.kernel]"

enum { GUEST_MODULES_MOST = 1 << 16 };

void guest_release(struct guest *g)
{
	kallsyms_release(&g->table);
	vec_release(&g->modules);
	span_table_release(&g->spans);
}

/* "[guest.ext4]" */
static u32 module_name(struct symbols *s, const char *name, size_t n)
{
	_cleanup_free_ char *copy = xstrndup(name, n);
	const char *shown = intern_get(&s->names, store_shown_name(s, copy, ""));

	buf_reset(&s->scratch);
	buf_addf(&s->scratch, "[guest.%s]", shown);
	return intern_bytes(&s->names, s->scratch.data, s->scratch.len);
}

/* "ext4 933888 1 - Live 0xffffffffc0123000 (E)" */
static bool add_module(struct symbols *s, struct span *ret, const char *line)
{
	size_t name = strcspn(line, " \n");
	u64 size, address;
	char *at;

	if (!name || line[name] != ' ')
		return false;
	size = strtoull(line + name, &at, 10);
	for (int word = 0; word < 3; word++) {
		at += strspn(at, " ");
		at += strcspn(at, " \n");
	}
	address = *at == ' ' ? strtoull(at, NULL, 16) : 0;
	if (!address || !size || size > UINT64_MAX - address)
		return false;
	*ret = (struct span){ .start = address,
			      .end = address + size,
			      .id = (u32)s->guest.modules.len };
	vec_push(&s->guest.modules, module_name(s, line, name));
	return true;
}

static void parse_modules(struct symbols *s, const char *text)
{
	VEC(struct span) spans = { 0 };
	struct span span;

	for (const char *at = text; at && *at && spans.len < GUEST_MODULES_MOST;) {
		if (add_module(s, &span, at))
			vec_push(&spans, span);
		at = strchr(at, '\n');
		at += at ? 1 : 0;
	}
	span_sort(spans.items, spans.len);
	span_table_build(&s->guest.spans, spans.items, spans.len);
	vec_release(&spans);
}

static int open_kallsyms(struct symbols *s, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_file(path, IO_MAX_PROC, &text, e);

	if (r < 0)
		return r;
	kallsyms_parse(&s->guest.table, buf_str(&text), text.len);
	if (s->guest.table.hidden) {
		err_set(e, EINVAL, "the addresses in '%s' are all 0", path);
		err_hint(e, "copy the guest's /proc/kallsyms as its root user");
		return -EINVAL;
	}
	if (!s->guest.table.symbols.len) {
		err_set(e, EINVAL, "there are no kernel functions in '%s'", path);
		err_hint(e, "it is to be a copy of the guest's /proc/kallsyms");
		return -EINVAL;
	}
	return 0;
}

static int open_modules(struct symbols *s, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_file(path, IO_MAX_PROC, &text, e);

	if (r < 0)
		return r;
	parse_modules(s, buf_str(&text));
	if (!s->guest.modules.len) {
		err_set(e, EINVAL, "there are no modules with addresses in '%s'", path);
		err_hint(e, "it is to be a copy of the guest's /proc/modules, made as its root "
			    "user");
		return -EINVAL;
	}
	return 0;
}

int symbols_guest_open(struct symbols *s, const char *kallsyms, const char *modules, struct err *e)
{
	int r = kallsyms ? open_kallsyms(s, kallsyms, e) : 0;

	if (r >= 0 && modules)
		r = open_modules(s, modules, e);
	return r < 0 ? r : 0;
}

/* The module at an address, by the guest's list; NULL: none. */
static const char *module_at(struct symbols *s, u64 address)
{
	u32 id = span_find(&s->guest.spans, address);

	return id == SPAN_NONE ? NULL : intern_get(&s->names, s->guest.modules.items[id]);
}

bool symbols_guest(struct symbols *s, u64 address, struct symbol *ret, const char **ret_module)
{
	struct guest *g = &s->guest;
	const char *module = module_at(s, address), *name;
	const struct kallsyms_symbol *sym = kallsyms_find(&g->table, address);

	*ret_module = module ? module : GUEST_KERNEL_NAME;
	if (!sym)
		return false;
	if (sym->module) {
		name = intern_get(&g->table.modules, sym->module);
		*ret_module = intern_get(&s->names, module_name(s, name, strlen(name)));
	}
	name = g->table.names + sym->name;
	*ret = (struct symbol){
		.name = intern_get(&s->names, store_shown_name(s, name, "")),
		.raw_name = intern_get(&s->names, intern_str(&s->names, name)),
		.start = sym->start,
		.size = sym->end - sym->start,
		.flags = SYM_KERNEL,
	};
	return true;
}
