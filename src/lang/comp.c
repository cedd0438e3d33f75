/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/comp.h"

#include "base/clock.h"
#include "base/parse.h"
#include "lang/probe/debuginfo.h"
#include "lang/run/unwinder.h"

#include <linux/bpf.h>
#include <sys/utsname.h>

enum {
	RING_DEFAULT = 1 << 20,
	MAX_KEYS_LIMIT = 1 << 24,
	RESERVE_MOST = 32 << 20, /* bytes of a map that are allocated beforehand */
	ENTRY_BYTES = 64,        /* the kernel's part of an entry */
};

void comp_init(struct comp *c, const struct lang_opts *opts)
{
	*c = (struct comp){ .opts = opts, .tracefs = TRACEFS_INIT };
	program_init(&c->prog);
	types_init(&c->types);
	c->config = (struct lang_config){
		.max_strlen = opts->compat ? 1024 : 256,
		.max_map_keys = opts->compat ? 4096 : 65536,
		.max_probes = opts->compat ? 1024 : 4096,
		.max_cat_bytes = 10240,
		.ring_bytes = RING_DEFAULT,
		.percentiles = opts->percentiles,
		.latency_bits = opts->latency_bits,
		.print_maps_on_exit = true,
		.cpp_demangle = true,
		.cfi_stacks = true,
		.str_trunc_trailer = "..",
	};
}

void comp_release(struct comp *c)
{
	vec_each(it, &c->units) {
		ir_code_release(&it->code);
		/* Callbacks are here only when the unit's code could not be finished. */
		for (size_t i = 0; i < it->subs.len; i++)
			ir_code_release(&it->subs.items[i]);
		vec_release(&it->subs);
		vec_release(&it->funcs);
	}
	unwinder_free(c->unwinder);
	debuginfo_free(c->debuginfo);
	err_release(&c->unwinder_err);
	vec_release(&c->targets);
	vec_release(&c->units);
	vec_release(&c->maps);
	vec_release(&c->bpf_maps);
	vec_release(&c->events);
	vec_release(&c->notes);
	program_release(&c->prog);
	types_release(&c->types);
	diags_release(&c->diags);
	tracefs_release(&c->tracefs);
	arena_release(&c->arena);
	buf_release(&c->imported);
	free(c->text);
}

bool comp_calls_unwinder(const struct comp *c)
{
	vec_each(it, &c->units) {
		if (it->calls_unwinder)
			return true;
	}
	return false;
}

struct map_def *comp_map(struct comp *c, const char *name, bool create)
{
	struct map_def *m;

	vec_each(it, &c->maps) {
		if (streq((*it)->name, name))
			return *it;
	}
	if (!create)
		return NULL;
	m = arena_zalloc(&c->arena, sizeof(*m));
	m->name = name;
	m->value = type_new(&c->types, T_NONE, 0);
	m->max_keys = c->config.max_map_keys;
	vec_push(&c->maps, m);
	return m;
}

u32 comp_bpf_map(struct comp *c, const char *name, u32 type, u32 key, u32 value, u32 entries)
{
	struct bpf_map *m = vec_new(&c->bpf_maps);
	size_t n = MIN(strlen(name), sizeof(m->name) - 1);

	memcpy(m->name, name, n);
	m->type = type;
	m->key_size = key;
	m->value_size = value;
	m->max_entries = entries;
	return (u32)c->bpf_maps.len - 1;
}

u32 comp_event(struct comp *c, const struct event *e)
{
	vec_push(&c->events, *e);
	return (u32)c->events.len - 1;
}

bool comp_tracefs(struct comp *c)
{
	struct err e = ERR_INIT;

	if (c->tracefs.fd >= 0)
		return true;
	if (tracefs_open(&c->tracefs, &e) < 0)
		diag_error(&c->diags, SPAN_NOWHERE, "%s", e.what);
	err_release(&e);
	return c->tracefs.fd >= 0;
}

/* --- settings --------------------------------------------------------------------------------- */

enum setting_type { SET_NUMBER, SET_BOOL, SET_CHOICE, SET_TEXT, SET_IGNORED };

struct setting {
	const char *name; /* also BPFTRACE_NAME in the environment */
	enum setting_type type;
	size_t offset;
	const char *const *choices;
	u64 min, max;
};

static const char *const stack_modes[] = { "bpftrace", "perf", "raw", "build_id", NULL };
static const char *const kernel_modes[] = { "auto", "fentry", "kprobe", NULL };
static const char *const missing_modes[] = { "error", "warn", "ignore", NULL };

static const char *const caches[] = { "PER_PID", "PER_PROGRAM", "NONE", NULL };

static const char *const licenses[] = {
	"GPL",          "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL",
	"Dual MPL/GPL", NULL
};

#define AT(field) offsetof(struct lang_config, field)

static const struct setting settings[] = {
	{ "max_strlen", SET_NUMBER, AT(max_strlen), NULL, 0, UINT32_MAX },
	{ "strlen", SET_NUMBER, AT(max_strlen), NULL, 0, UINT32_MAX },
	{ "max_map_keys", SET_NUMBER, AT(max_map_keys), NULL, 1, MAX_KEYS_LIMIT },
	{ "map_keys_max", SET_NUMBER, AT(max_map_keys), NULL, 1, MAX_KEYS_LIMIT },
	{ "max_probes", SET_NUMBER, AT(max_probes), NULL, 1, COMP_MAX_TARGETS },
	{ "max_cat_bytes", SET_NUMBER, AT(max_cat_bytes), NULL, 0, 1 << 30 },
	{ "cat_bytes_max", SET_NUMBER, AT(max_cat_bytes), NULL, 0, 1 << 30 },
	{ "stack_mode", SET_CHOICE, AT(stack_mode), stack_modes, 0, 0 },
	{ "kernel_probes", SET_CHOICE, AT(kernel_probes), kernel_modes, 0, 0 },
	{ "missing_probes", SET_CHOICE, AT(missing_probes), missing_modes, 0, 0 },
	{ "percentiles", SET_BOOL, AT(percentiles), NULL, 0, 0 },
	{ "hist_bits", SET_NUMBER, AT(hist_bits), NULL, 0, 5 },
	{ "latency_bits", SET_NUMBER, AT(latency_bits), NULL, 0, 5 },
	{ "print_maps_on_exit", SET_BOOL, AT(print_maps_on_exit), NULL, 0, 0 },
	{ "cpp_demangle", SET_BOOL, AT(cpp_demangle), NULL, 0, 0 },
	{ "cfi_stacks", SET_BOOL, AT(cfi_stacks), NULL, 0, 0 },
	{ "walk_always", SET_BOOL, AT(walk_always), NULL, 0, 0 },
	{ "no_cpp_demangle", SET_IGNORED, 0, NULL, 0, 0 },
	{ "str_trunc_trailer", SET_TEXT, AT(str_trunc_trailer), NULL, 0, 0 },
	{ "perf_rb_pages", SET_IGNORED, 0, NULL, 0, 0 },
	{ "cache_user_symbols", SET_IGNORED, 0, caches, 0, 0 },
	{ "lazy_symbolication", SET_IGNORED, 0, NULL, 0, 0 },
	{ "license", SET_CHOICE, AT(license), licenses, 0, 0 },
	{ "log_size", SET_IGNORED, 0, NULL, 0, 0 },
	{ "max_bpf_progs", SET_IGNORED, 0, NULL, 0, 0 },
	{ "max_ast_nodes", SET_IGNORED, 0, NULL, 0, 0 },
	{ "max_type_res_iterations", SET_IGNORED, 0, NULL, 0, 0 },
	{ "on_stack_limit", SET_IGNORED, 0, NULL, 0, 0 },
	{ "show_debug_info", SET_IGNORED, 0, NULL, 0, 0 },
	{ "symbol_source", SET_IGNORED, 0, NULL, 0, 0 },
	{ "use_blazesym", SET_IGNORED, 0, NULL, 0, 0 },
};

bool comp_truth(const char *text, bool *ret)
{
	static const char *const words[] = { "false", "no", "off", "0", "true", "yes", "on", "1" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(text, words[i]) == 0) {
			*ret = i >= ARRAY_SIZE(words) / 2;
			return true;
		}
	}
	return false;
}

static bool apply_number(struct comp *c, const struct setting *s, const char *value)
{
	u64 n;

	if (parse_u64(value, &n, NULL) < 0 || n < s->min || n > s->max)
		return false;
	memcpy((char *)&c->config + s->offset, &n, sizeof(n));
	return true;
}

static bool apply_choice(struct comp *c, const struct setting *s, const char *value)
{
	for (u64 i = 0; s->choices[i]; i++) {
		if (streq(s->choices[i], value)) {
			memcpy((char *)&c->config + s->offset, &i, sizeof(i));
			return true;
		}
	}
	return false;
}

static bool is_choice(const struct setting *s, const char *value)
{
	bool any;

	for (u64 i = 0; s->choices[i]; i++) {
		if (streq(s->choices[i], value))
			return true;
	}
	return comp_truth(value, &any);
}

static bool apply(struct comp *c, const struct setting *s, const char *value)
{
	bool yes = false, valid;
	u64 number;

	switch (s->type) {
	case SET_NUMBER: return apply_number(c, s, value);
	case SET_CHOICE: return apply_choice(c, s, value);
	case SET_BOOL:
		valid = comp_truth(value, &yes);
		if (!valid && parse_u64(value, &number, NULL) == 0)
			yes = valid = true;
		memcpy((char *)&c->config + s->offset, &yes, sizeof(yes));
		return valid;
	case SET_TEXT:
		value = arena_strdup(&c->arena, value);
		memcpy((char *)&c->config + s->offset, &value, sizeof(value));
		return true;
	default: return !s->choices || is_choice(s, value);
	}
}

static const char *setting_name_at(void *ctx, size_t i)
{
	(void)ctx;
	return i < ARRAY_SIZE(settings) ? settings[i].name : NULL;
}

static void wrong_value(struct comp *c, const struct setting *s, const struct config_entry *entry)
{
	_cleanup_buf_ struct buf valid = BUF_INIT;

	for (u64 i = 0; s->type == SET_CHOICE && s->choices[i]; i++)
		buf_addf(&valid, "%s%s", i ? ", " : " Valid values: ", s->choices[i]);
	diag_error(&c->diags, entry->at, "Invalid value for %s. Found: %s.%s%s", s->name,
		   entry->value, buf_str(&valid), valid.len ? "." : "");
}

static void say_deprecated(struct comp *c, const struct config_entry *entry, const char *name)
{
	if (c->opts->compat)
		diag_warning(&c->diags, entry->at, "%s is deprecated and has no effect", name);
}

/* What is not forbidden is allowed here. */
static bool apply_unstable(struct comp *c, const char *feature, const char *value)
{
	bool warn = streq(value, "warn"), yes = warn || streq(value, "enable");

	if (!yes && !streq(value, "error") && !comp_truth(value, &yes))
		return false;
	if (streq(feature, "tseries")) {
		c->config.no_tseries = !yes;
		c->config.tseries = yes && !warn;
	}
	if (streq(feature, "typeinfo"))
		c->config.typeinfo = yes;
	return true;
}

static void apply_script(struct comp *c, const struct config_entry *entry)
{
	const char *name = entry->key, *nearest;
	char *lower = arena_strdup(&c->arena, name);

	for (char *p = lower; *p; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p + 32 : *p);
	name = starts_with(lower, "bpftrace_") ? lower + strlen("bpftrace_") : lower;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (!streq(settings[i].name, name))
			continue;
		if (settings[i].type == SET_IGNORED && c->opts->compat &&
		    (streq(name, "max_type_res_iterations") || streq(name, "symbol_source")))
			say_deprecated(c, entry, name);
		if (!apply(c, &settings[i], entry->value))
			wrong_value(c, &settings[i], entry);
		return;
	}
	if (starts_with(name, "unstable_")) {
		if (!apply_unstable(c, name + strlen("unstable_"), entry->value))
			diag_error(&c->diags, entry->at,
				   "%s: valid values are enable, warn, and error", name);
		if (streq(name, "unstable_import") || streq(name, "unstable_macro") ||
		    streq(name, "unstable_map_decl") || streq(name, "unstable_addr"))
			say_deprecated(c, entry, name);
		return;
	}
	diag_error(&c->diags, entry->at, "Unrecognized config variable: %s", entry->key);
	nearest = diag_nearest(name, setting_name_at, NULL);
	if (nearest)
		diag_hint(&c->diags, "did you mean '%s'?", nearest);
}

static void apply_environment(struct comp *c)
{
	static const char *const unstable[][2] = {
		{ "tseries", "BPFTRACE_UNSTABLE_TSERIES" },
		{ "typeinfo", "BPFTRACE_UNSTABLE_TYPEINFO" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(unstable); i++) {
		const char *value = getenv(unstable[i][1]);

		if (value && !apply_unstable(c, unstable[i][0], value))
			diag_error(&c->diags, SPAN_NOWHERE, "Invalid value for %s: '%s'",
				   unstable[i][1], value);
	}
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		struct buf name = BUF_INIT;
		const char *value;

		buf_addf(&name, "BPFTRACE_%s", settings[i].name);
		for (char *p = name.data; *p; p++)
			*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p);
		value = getenv(buf_str(&name));
		if (value && !apply(c, &settings[i], value))
			diag_error(&c->diags, SPAN_NOWHERE, "Invalid value for %s: '%s'",
				   buf_str(&name), value);
		buf_release(&name);
	}
}

bool comp_setting(const struct comp *c, const char *name, u64 *ret_number, const char **ret_text)
{
	const struct setting *s = NULL;
	const char *at;
	bool yes;

	for (size_t i = 0; i < ARRAY_SIZE(settings) && !s; i++) {
		if (streq(settings[i].name, name) && settings[i].type != SET_IGNORED)
			s = &settings[i];
	}
	if (!s)
		return false;
	at = (const char *)&c->config + s->offset;
	*ret_text = NULL;
	*ret_number = 0;
	if (s->type == SET_TEXT) {
		memcpy(ret_text, at, sizeof(*ret_text));
		return *ret_text != NULL;
	}
	if (s->type == SET_BOOL) {
		memcpy(&yes, at, sizeof(yes));
		*ret_number = yes;
		return true;
	}
	memcpy(ret_number, at, sizeof(*ret_number));
	if (s->type == SET_CHOICE)
		*ret_text = s->choices[*ret_number];
	return true;
}

void comp_configure(struct comp *c)
{
	vec_each(it, &c->prog.config)
		apply_script(c, it);
	apply_environment(c);
	/* Longer ones than the kernel lets a program hold are cut, with a warning. */
	c->strings_cut = c->config.max_strlen > c->string_room;
	c->config.max_strlen = MIN(MAX(c->config.max_strlen, (u64)2), (u64)c->string_room);
}

/* --- the maps of the script ------------------------------------------------------------------- */

static bool old_kernel(void)
{
	struct utsname u;
	const char *s = u.release;
	u64 major = 0, minor = 0;

	if (uname(&u) < 0)
		return false;
	scan_u64(&s, s + strlen(s), 10, &major);
	if (*s == '.') {
		s++;
		scan_u64(&s, s + strlen(s), 10, &minor);
	}
	/* Before 6.1 perf events could only use maps that are allocated beforehand. */
	return major < 6 || (major == 6 && minor < 1);
}

static u32 map_type(const struct map_def *m)
{
	bool lru = m->kind && strstr(m->kind, "lru");
	bool percpu = type_is_agg(m->value);

	if (!m->key)
		return percpu ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY;
	if (lru)
		return percpu ? BPF_MAP_TYPE_LRU_PERCPU_HASH : BPF_MAP_TYPE_LRU_HASH;
	return percpu ? BPF_MAP_TYPE_PERCPU_HASH : BPF_MAP_TYPE_HASH;
}

static void apply_declarations(struct comp *c)
{
	vec_each(it, &c->prog.map_decls) {
		struct map_def *m = comp_map(c, it->name, false);

		if (it->size < 1 || it->size > MAX_KEYS_LIMIT)
			diag_error(&c->diags, it->at, "a map has between 1 and %d keys",
				   MAX_KEYS_LIMIT);
		if (!streq(it->kind, "hash") && !streq(it->kind, "lruhash") &&
		    !streq(it->kind, "percpuhash") && !streq(it->kind, "percpulruhash"))
			diag_error(&c->diags, it->at, "Invalid bpf map type: %s", it->kind);
		if (!m && c->opts->compat)
			diag_warning(&c->diags, it->at, "Unused map: %s", it->name);
		if (m && c->opts->compat && m->key &&
		    !starts_with(it->kind, "percpu") == type_is_agg(m->value))
			diag_error(&c->diags, m->at,
				   "Incompatible map types. Type from declaration: %s. Type from "
				   "value/key type: %s",
				   it->kind, type_is_agg(m->value) ? "percpuhash" : "hash");
		if (m) {
			m->max_keys = it->size;
			m->kind = it->kind;
		}
	}
}

/*
 * Memory for a new key may not be there in time when many come at once, and an update is lost then.
 * Maps whose size the program declares get it beforehand, if it is not much.
 */
static bool is_reserved(const struct map_def *m, u32 type, u32 size)
{
	long cpus = type == BPF_MAP_TYPE_PERCPU_HASH ? sysconf(_SC_NPROCESSORS_CONF) : 1;
	u64 each = m->key ? m->key->size + (u64)size * (u64)MAX(cpus, 1) + ENTRY_BYTES : 0;

	return m->kind && m->max_keys * each <= RESERVE_MOST;
}

void comp_place_maps(struct comp *c)
{
	bool prealloc = old_kernel();

	apply_declarations(c);
	vec_each(it, &c->maps) {
		struct map_def *m = *it;
		u32 size = type_stored(m->value), type = map_type(m);

		c->too_large = c->too_large || size > TYPE_MAX_STORED;
		if (size > TYPE_MAX_STORED)
			diag_error(&c->diags, m->at, "values of %s need more than %d bytes",
				   m->name, TYPE_MAX_STORED);
		if (m->key)
			m->index = comp_bpf_map(c, m->name + 1, type, m->key->size, size,
						(u32)m->max_keys);
		else
			m->index = comp_bpf_map(c, m->name + 1, type, 4, size + 8, 1);
		if (!prealloc && !is_reserved(m, type, size) &&
		    (type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_PERCPU_HASH))
			c->bpf_maps.items[m->index].flags = BPF_F_NO_PREALLOC;
	}
}
