/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/store.h"

#define LINES_SUFFIX ".lines"

/*
 * Opening debug information costs more than all else in a report, and what one report asks for, the
 * next one does only in part. So the second time that a file is opened, all of it is read: two to
 * five times the cost of opening it. That needs memory six times the size of what is read; of more
 * than this, always only the units requested are read.
 */
enum { WHOLE_MOST = 32 << 20 };

bool lines_cache_wanted(const struct symbols *s, const struct image *img)
{
	return s->opts.cache_dir && (img->build_id_len >= 8 || img->file_id[0]);
}

static struct lineindex_owner owner_of(const struct image *img)
{
	const bool named = img->build_id_len >= 8;

	return (struct lineindex_owner){ .build_id = named ? img->build_id : img->file_id,
					 .build_id_len =
						 named ? img->build_id_len : sizeof(img->file_id),
					 .fingerprint = img->fingerprint };
}

static struct lineindex *index_of(const struct symbols *s, struct image *img)
{
	struct image_lines *l = &img->lines;
	const struct lineindex_owner owner = owner_of(img);
	u64 size = 0;
	int fd;

	if (l->index_tried || !lines_cache_wanted(s, img))
		return l->index;
	l->index_tried = true;
	fd = cache_open(s->opts.cache_dir,
			&(struct cache_key){ owner.build_id, owner.build_id_len, img->identity },
			LINES_SUFFIX, LINEINDEX_MAX_FILE, &size);
	if (fd >= 0)
		(void)lineindex_open_fd(&l->index, fd, size, &owner);
	return l->index;
}

bool lines_cache_is_whole(const struct symbols *s, struct image *img)
{
	const struct lineindex *x = index_of(s, img);

	return x && lineindex_is_whole(x);
}

/* The store's spelling of a string of the index: made once. */
static const char *shown(struct symbols *s, struct image_lines *l, u32 ref, bool is_name)
{
	_cleanup_buf_ struct buf raw = BUF_INIT;
	u64 *known;

	if (!ref)
		return NULL;
	known = map_at(&l->index_names, (u64)ref << 1 | is_name);
	if (!*known && lineindex_str(l->index, ref, &raw))
		*known = is_name ? store_shown_name(s, buf_str(&raw), "")
				 : store_shown_text(s, buf_str(&raw));
	return *known ? intern_get(&s->names, (u32)*known) : NULL;
}

bool lines_cache_find(struct symbols *s, struct image *img, u64 vaddr, struct source_frame *ret,
		      size_t max, size_t *ret_n)
{
	struct srcline_frame found[SOURCE_MAX_FRAMES];
	struct lineindex *x = index_of(s, img);
	size_t n;

	if (!x || !lineindex_find(x, vaddr, found, MIN(max, ARRAY_SIZE(found)), &n))
		return false;
	for (size_t i = 0; i < n; i++)
		ret[i] = (struct source_frame){ .function = shown(s, &img->lines, found[i].function,
								  true),
						.file = shown(s, &img->lines, found[i].file, false),
						.line = found[i].line,
						.column = found[i].column,
						.inlined = found[i].inlined };
	*ret_n = n;
	return !lineindex_is_broken(x);
}

static bool whole_is_due(const struct srcline_counts *c, const struct lineindex *old)
{
	return old && !lineindex_is_broken(old) && !lineindex_is_whole(old) &&
	       c->bytes <= WHOLE_MOST;
}

int lines_cache_write(const struct symbols *s, struct image *img, bool all, u64 *ret_size)
{
	struct image_lines *l = &img->lines;
	const struct lineindex_owner owner = owner_of(img);
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	int r;

	l->written = true;
	if (all)
		srcline_index_all(l->srcline);
	r = srcline_pack(l->srcline, l->shift, l->index, &owner, &bytes);
	if (r == 0)
		r = cache_write(s->opts.cache_dir,
				&(struct cache_key){ owner.build_id, owner.build_id_len,
						     img->identity },
				LINES_SUFFIX, bytes.data, bytes.len);
	if (r == 0)
		*ret_size = bytes.len;
	return r;
}

void symbols_lines_rest(struct symbols *s)
{
	vec_each(img, &s->images) {
		struct image_lines *l = &(*img)->lines;
		struct srcline_counts c;
		u64 size;

		if (!l->srcline || l->asked) {
			l->asked = false;
			continue;
		}
		srcline_counts(l->srcline, &c);
		if (lines_cache_wanted(s, *img) &&
		    (c.indexed || !l->index || lineindex_is_broken(l->index)))
			(void)lines_cache_write(s, *img, false, &size);
		image_close_lines(*img);
	}
}

void lines_cache_save(const struct symbols *s, struct image *img)
{
	const struct image_lines *l = &img->lines;
	struct srcline_counts c;
	bool all;
	u64 size;

	if (!l->srcline || l->written || !lines_cache_wanted(s, img))
		return;
	srcline_counts(l->srcline, &c);
	all = whole_is_due(&c, l->index);
	if (all || c.indexed || !l->index || lineindex_is_broken(l->index))
		(void)lines_cache_write(s, img, all, &size);
}
