/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/store.h"

#include "base/io.h"
#include "elf/note.h"
#include "host/kallsyms.h"
#include "symbol/kallsyms_cache.h"
#include "symbol/open.h"

#define KERNEL_NAME "[kernel.kallsyms]"

void kernel_release(struct kernel *k)
{
	ask_free(k->ask);
	kallsyms_release(&k->table);
	free(k->base_name);
	vec_release(&k->ksymbols);
	span_table_release(&k->ksymbol_spans);
	carried_release(&k->carried);
	answers_release(&k->answers);
	map_release(&k->modules);
}

void symbols_set_kallsyms(struct symbols *s, const char *text, size_t len)
{
	struct kernel *k = &s->kernel;

	kallsyms_release(&k->table);
	kallsyms_parse(&k->table, text, len);
	k->loaded = true;
	k->shift = 0;
	k->why = k->hint = NULL;
	if (k->table.hidden)
		k->why = "the recording was made without the right to see kernel addresses";
	else if (!k->table.symbols.len)
		k->why = "the recording has no kernel symbols";
}

void symbols_set_kernel_base(struct symbols *s, const char *symbol, u64 address, const u8 *build_id,
			     size_t build_id_len)
{
	struct kernel *k = &s->kernel;

	free(k->base_name);
	k->base_name = xstrdup(symbol);
	k->base_address = address;
	k->build_id_len = MIN(build_id_len, sizeof(k->build_id));
	if (k->build_id_len)
		memcpy(k->build_id, build_id, k->build_id_len);
}

void symbols_add_ksymbol(struct symbols *s, u64 address, u64 size, const char *name, bool bpf)
{
	struct ksymbol sym = { .start = address,
			       .size = MIN(size, UINT64_MAX - address),
			       .name = intern_str(&s->names, name),
			       .bpf = bpf };

	vec_push(&s->kernel.ksymbols, sym);
	s->kernel.ksymbols_stale = true;
}

static const struct ksymbol *find_ksymbol(struct kernel *k, u64 address)
{
	u32 id;

	if (k->ksymbols_stale) {
		_cleanup_free_ struct span *spans = xcalloc(k->ksymbols.len, sizeof(*spans));

		for (size_t i = 0; i < k->ksymbols.len; i++) {
			const struct ksymbol *sym = &k->ksymbols.items[i];

			spans[i] = (struct span){ .start = sym->start,
						  .end = sym->start + sym->size,
						  .id = (u32)i,
						  .rank = (u32)i };
		}
		span_sort(spans, k->ksymbols.len);
		span_table_release(&k->ksymbol_spans);
		span_table_build(&k->ksymbol_spans, spans, k->ksymbols.len);
		k->ksymbols_stale = false;
	}
	id = span_find(&k->ksymbol_spans, address);
	return id == SPAN_NONE ? NULL : &k->ksymbols.items[id];
}

/* Whether the running kernel is the recorded one, as far as can be known. */
static bool same_kernel(const struct kernel *k)
{
	u8 id[MODULE_BUILD_ID_MAX];
	size_t n;

	if (!k->build_id_len)
		return true;
	n = elf_notes_file_build_id("/sys/kernel/notes", id, sizeof(id));
	return !n || (n == k->build_id_len && memcmp(id, k->build_id, n) == 0);
}

static void find_shift(struct kernel *k)
{
	u64 here = k->base_name ? kallsyms_address(&k->table, k->base_name) : 0;

	k->shift = here ? k->base_address - here : 0;
}

static void explain_hidden(struct kernel *k)
{
	k->why = "/proc/kallsyms shows no addresses to this user";
	k->hint = "run as root, or set kernel.kptr_restrict to 0 and kernel.perf_event_paranoid "
		  "to 1";
}

/* All of it; the table before is replaced if there is a text. */
static void read_kallsyms(struct symbols *s)
{
	struct kernel *k = &s->kernel;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (kallsyms_read(NULL, IO_MAX_PROC, &text, NULL) < 0) {
		k->why = "/proc/kallsyms cannot be read";
		return;
	}
	kallsyms_release(&k->table);
	kallsyms_parse(&k->table, buf_str(&text), text.len);
	if (k->table.hidden)
		explain_hidden(k);
	else if (!k->table.symbols.len)
		k->why = "/proc/kallsyms is empty";
	else if (s->opts.cache_dir)
		kallsyms_cache_store(&k->table, s->opts.cache_dir);
}

/* perf keeps the text of every kernel that it recorded. */
static bool read_kept(struct kernel *k)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int fd = perf_kept_open(k->build_id, k->build_id_len, "kallsyms");

	if (fd < 0 || io_read_fd(fd, "kallsyms", IO_MAX_PROC, &text, NULL) < 0)
		return false;
	kallsyms_parse(&k->table, buf_str(&text), text.len);
	if (k->table.symbols.len)
		return true;
	kallsyms_release(&k->table);
	return false;
}

static void kernel_load(struct symbols *s)
{
	struct kernel *k = &s->kernel;

	k->loaded = true;
	if (s->opts.offline) {
		k->why = "the recording has no kernel symbols";
		return;
	}
	if (!same_kernel(k)) {
		if (read_kept(k)) {
			find_shift(k);
			return;
		}
		k->why = "the recording was made on another kernel";
		k->hint = "look at it where it was made";
		return;
	}
	k->cached = s->opts.cache_dir && kallsyms_cache_load(&k->table, s->opts.cache_dir) >= 0;
	if (!k->cached)
		read_kallsyms(s);
	find_shift(k);
}

/* The id of "[ext4]", "bpf" or the kernel's own name. */
static u32 module_name(struct symbols *s, const char *module)
{
	if (!*module)
		return intern_str(&s->names, KERNEL_NAME);
	if (streq(module, "bpf"))
		return intern_str(&s->names, "bpf");
	buf_reset(&s->scratch);
	buf_addf(&s->scratch, "[%s]", module);
	return intern_bytes(&s->names, s->scratch.data, s->scratch.len);
}

/* One address may have had several functions over time: the answer is by name, too. */
static const struct symbol *answer(struct symbols *s, const struct symbol *symbol,
				   const char *module)
{
	struct kernel *k = &s->kernel;
	const struct symbol *known = answers_find(&k->answers, symbol->start);

	if (known && streq(known->raw_name, symbol->raw_name))
		return known;
	struct symbol ret = *symbol;

	ret.flags |= SYM_KERNEL;
	if (streq(module, "bpf"))
		ret.flags |= SYM_BPF;
	ret.raw_name = intern_get(&s->names, intern_str(&s->names, symbol->raw_name));
	ret.name = intern_get(&s->names, store_shown_name(s, ret.raw_name, ""));
	known = answers_add(&k->answers, ret.start, &ret);
	map_put(&k->modules, known->id, module_name(s, module));
	return known;
}

static const struct symbol *from_ksymbol(struct symbols *s, const struct ksymbol *sym)
{
	const struct symbol ret = { .start = sym->start,
				    .size = sym->size,
				    .raw_name = intern_get(&s->names, sym->name) };

	return answer(s, &ret, sym->bpf ? "bpf" : "");
}

/* Carried kernel names are written as in kallsyms: "name\t[module]". */
static const struct symbol *from_carried(struct symbols *s, const struct carried_name *c)
{
	_cleanup_free_ char *name = xstrdup(intern_get(&s->names, c->name));
	char *tab = strchr(name, '\t'), *end;
	const struct symbol ret = {
		.start = c->start, .size = c->size, .flags = SYM_CARRIED, .raw_name = name
	};

	if (!tab)
		return answer(s, &ret, "");
	*tab++ = '\0';
	tab += *tab == '[';
	end = strchr(tab, ']');
	if (end)
		*end = '\0';
	return answer(s, &ret, tab);
}

static const struct symbol *from_table(struct symbols *s, u64 address)
{
	struct kernel *k = &s->kernel;
	const struct kallsyms_symbol *sym = kallsyms_find(&k->table, address - k->shift);

	if (!sym && k->cached) {
		k->cached = false;
		read_kallsyms(s);
		sym = kallsyms_find(&k->table, address - k->shift);
	}
	/* Modules of another boot were elsewhere. */
	if (!sym || (k->shift && sym->module))
		return NULL;
	const struct symbol ret = { .start = sym->start + k->shift,
				    .size = sym->end - sym->start,
				    .raw_name = k->table.names + sym->name };

	return answer(s, &ret, intern_get(&k->table.modules, sym->module));
}

/*
 * Of several names for an address the kernel says the first, where the table has the one that perf
 * shows, too. System calls without arguments are where that matters.
 */
static void choose_alias(struct ask *ask, struct ask_answer *a)
{
	static const char *const others[] = { "__ia32_sys_", "__x64_sys_" };
	const char *call = starts_with(a->name, "__do_sys_");
	char name[ASK_NAME];

	for (size_t i = 0; call && i < ARRAY_SIZE(others); i++) {
		size_t n = (size_t)snprintf(name, sizeof(name), "%s%s", others[i], call);

		if (n < sizeof(name) && ask_name(ask, name) == a->start) {
			memcpy(a->name, name, n + 1);
			return;
		}
	}
}

/* False: not available in this way. NULL: nothing is there. */
static bool from_ask(struct symbols *s, u64 address, const struct symbol **ret)
{
	struct kernel *k = &s->kernel;
	struct ask_answer a;

	if (!s->opts.ask_kernel || k->loaded)
		return false;
	if (!k->ask && ask_new(&k->ask) < 0) {
		s->opts.ask_kernel = false;
		return false;
	}
	*ret = NULL;
	if (!ask_address(k->ask, address, &a))
		return true;
	choose_alias(k->ask, &a);
	const struct symbol sym = { .start = a.start, .size = a.size, .raw_name = a.name };

	*ret = answer(s, &sym, a.module);
	return true;
}

static const struct symbol *find(struct symbols *s, u64 address)
{
	struct kernel *k = &s->kernel;
	const struct ksymbol *ksymbol = find_ksymbol(k, address);
	const struct symbol *asked;
	const struct carried_name *c;

	if (ksymbol)
		return from_ksymbol(s, ksymbol);
	c = carried_find(&k->carried, address);
	if (c)
		return from_carried(s, c);
	if (from_ask(s, address, &asked))
		return asked;
	if (!k->loaded)
		kernel_load(s);
	return from_table(s, address);
}

bool symbols_kernel(struct symbols *s, u64 address, struct symbol *ret, const char **ret_module)
{
	const struct symbol *found = find(s, address);

	if (ret_module)
		*ret_module = KERNEL_NAME;
	if (!found) {
		s->kernel.nameless++;
		return false;
	}
	s->kernel.named++;
	*ret = *found;
	if (ret_module)
		*ret_module = intern_get(&s->names, (u32)map_get(&s->kernel.modules, found->id, 0));
	return true;
}

const char *symbols_kernel_why(const struct symbols *s, const char **ret_hint)
{
	if (ret_hint)
		*ret_hint = s->kernel.hint;
	return s->kernel.why;
}

u64 symbols_kernel_nameless(const struct symbols *s)
{
	return s->kernel.nameless;
}
