/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/store.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "base/safedir.h"
#include "symbol/demangle.h"

static const char *default_cache_dir(struct symbols *s)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	return safedir_cache_path("symbols", &b, NULL) < 0 ? NULL : arena_strdup(&s->arena, b.data);
}

static const char *keep(struct symbols *s, const char *text)
{
	return text ? arena_strdup(&s->arena, text) : NULL;
}

struct symbols *symbols_new(const struct symbols_opts *opts)
{
	struct symbols *s = xcalloc(1, sizeof(*s));

	s->began = clock_mono_ns();
	if (opts)
		s->opts = *opts;
	s->opts.debug_dir = keep(s, s->opts.debug_dir ? s->opts.debug_dir : "/usr/lib/debug");
	s->opts.cache_dir = s->opts.cache_dir ? keep(s, s->opts.cache_dir) : default_cache_dir(s);
	s->server.urls =
		keep(s, opts && opts->debuginfod ? opts->debuginfod : getenv("FATHOM_DEBUGINFOD"));
	/* An entry of the cache does not say whether it needed a debug file. */
	if (s->opts.no_cache || s->opts.no_debug_files)
		s->opts.cache_dir = NULL;
	return s;
}

static void module_free(struct module *m)
{
	carried_release(&m->carried);
	answers_release(&m->answers);
	known_lines_release(&m->lines);
	module_bytes_free(m);
	free(m);
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	vec_each(m, &s->modules) {
		module_free(*m);
	}
	vec_each(img, &s->images) {
		lines_cache_save(s, *img);
		image_free(*img);
	}
	vec_each(r, &s->runtimes) {
		runtime_names_free(*r);
	}
	vec_release(&s->modules);
	vec_release(&s->images);
	vec_release(&s->runtimes);
	map_release(&s->image_of_file);
	map_release(&s->runtime_of_pid);
	kernel_release(&s->kernel);
	guest_release(&s->guest);
	intern_release(&s->names);
	intern_release(&s->identities);
	buf_release(&s->scratch);
	arena_release(&s->arena);
	free(s);
}

static bool needs_cleaning(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

/* The version that a full symbol table appends: "memcpy@@GLIBC_2.14". */
static const char *version_of(const char *raw)
{
	const char *at = strchr(raw, '@');

	return at && at > raw && (at[1] == '@' || (at[1] >= 'A' && at[1] <= 'Z')) ? at : NULL;
}

u32 store_shown_text(struct symbols *s, const char *text)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;

	if (!needs_cleaning(text))
		return intern_str(&s->names, text);
	fmt_clean(&clean, text, strlen(text));
	return intern_bytes(&s->names, buf_str(&clean), clean.len);
}

u32 store_shown_name(struct symbols *s, const char *raw, const char *suffix)
{
	_cleanup_free_ char *bare = NULL;
	const char *version = s->opts.no_demangle ? NULL : version_of(raw);

	if (version) {
		bare = xstrndup(raw, (size_t)(version - raw));
		raw = bare;
	}
	buf_reset(&s->scratch);
	if (s->opts.no_demangle || !demangle(raw, &s->scratch))
		buf_addstr(&s->scratch, raw);
	buf_addstr(&s->scratch, suffix);
	return store_shown_text(s, s->scratch.data);
}

const struct symbol *answers_find(const struct answers *a, u64 key)
{
	u64 id = map_get(&a->by_start, key, 0);

	return id ? &a->list.items[id - 1] : NULL;
}

const struct symbol *answers_add(struct answers *a, u64 key, const struct symbol *symbol)
{
	vec_push(&a->list, *symbol);
	vec_last(&a->list)->id = (u32)a->list.len;
	map_put(&a->by_start, key, a->list.len);
	return vec_last(&a->list);
}

void answers_release(struct answers *a)
{
	map_release(&a->by_start);
	vec_release(&a->list);
}
