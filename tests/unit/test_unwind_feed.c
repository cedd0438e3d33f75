/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests of the kernel's unwinder about processes that are gone: the path in them must do. */
#include "harness.h"

#include <bpf/bpf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "unwind/feed.h"

enum { GONE = INT32_MAX }; /* no kernel has as many processes */

struct fixture {
	int bins, rules, slab, pool;
	struct unwind_feed *feed;
	char *dir; /* with its links resolved */
	char *path;
	struct stat st;
};

static bool make_maps(struct fixture *x)
{
	LIBBPF_OPTS(bpf_map_create_opts, shared, .map_flags = BPF_F_MMAPABLE);
	LIBBPF_OPTS(bpf_map_create_opts, outer);

	x->bins = bpf_map_create(BPF_MAP_TYPE_HASH, "t_bins", sizeof(struct unwind_key),
				 sizeof(struct unwind_bin), 64, NULL);
	x->rules = bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_rules", 4, sizeof(struct unwind_rule),
				  UNWIND_MAX_RULES, &shared);
	x->slab = bpf_map_create(BPF_MAP_TYPE_ARRAY, "t_slab", 4, sizeof(struct unwind_chunk),
				 UNWIND_SLAB_CHUNKS, &shared);
	outer.inner_map_fd = (u32)x->slab;
	x->pool = x->slab < 0 ? -1
			      : bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "t_pool", 4, 4,
					       UNWIND_MAX_SLABS, &outer);
	return x->bins >= 0 && x->rules >= 0 && x->pool >= 0;
}

static void teardown(struct fixture *x)
{
	unwind_feed_free(x->feed);
	free(x->dir);
	free(x->path);
	for (int *fd = &x->bins; fd <= &x->pool; fd++) {
		if (*fd >= 0)
			close(*fd);
	}
}

/* A file that nobody has mapped. */
static bool setup(struct fixture *x)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;

	*x = (struct fixture){ .bins = -1, .rules = -1, .slab = -1, .pool = -1 };
	if (!make_maps(x)) {
		teardown(x);
		SKIP("maps of BPF are not allowed");
		return false;
	}
	const struct unwind_feed_maps maps = { .bins = x->bins,
					       .rules = x->rules,
					       .pool = x->pool };

	CHECK_EQ(unwind_feed_new(&x->feed, &maps, NULL), 0);
	x->dir = realpath(test_tmpdir(), NULL);
	x->path = xasprintf("%s/copy", x->dir);
	CHECK_EQ(io_read_file("/bin/true", 16 << 20, &bytes, NULL), 0);
	CHECK_EQ(io_write_file_atomic(x->path, bytes.data, bytes.len, NULL), 0);
	CHECK_EQ(stat(x->path, &x->st), 0);
	return true;
}

/* The path under which the file is known; "": it is not. */
static const char *path_of(const struct fixture *x, const struct unwind_key *key)
{
	u32 number = unwind_feed_number(x->feed, key, NULL);
	const struct numbered_file *file = numbered_get(unwind_feed_numbered(x->feed), number);

	return file ? file->path : "";
}

static struct unwind_need need_with(const struct fixture *x, const char *path)
{
	struct unwind_need need = {
		.type = UNWIND_RECORD_NEED,
		.pid = GONE,
		.start = 0x400000,
		.end = 0x800000,
		.version = { .size = (u64)x->st.st_size },
		.key = { .ino = x->st.st_ino, .dev = 7 },
		.path = (u32)(UNWIND_PATH - 1 - strlen(path)),
	};

	memcpy(need.text + need.path, path, strlen(path));
	return need;
}

TEST("a request about a process that is gone leads to its file")
{
	struct fixture x;
	struct unwind_bin bin;
	const struct unwind_rule *rule = NULL;

	if (!setup(&x))
		return;
	struct unwind_need need = need_with(&x, x.path);

	CHECK(!unwind_feed_rule(x.feed, &need.key, NULL, 0x3000, &rule));
	CHECK_STR(path_of(&x, &need.key), "");
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), 0);
	CHECK(unwind_feed_rule(x.feed, &need.key, NULL, 0x3000, &rule));
	CHECK(rule);
	CHECK_STR(path_of(&x, &need.key), x.path);
	CHECK_EQ(bpf_map_lookup_elem(x.bins, &need.key, &bin), 0);
	CHECK_EQ(bin.version.size, x.st.st_size);
	CHECK(bin.version.changed > 0);
	CHECK(bin.pages > 0);
	teardown(&x);
}

TEST("a path in a request is believed only if it leads to that very file")
{
	struct fixture x;

	if (!setup(&x))
		return;
	struct unwind_need need = need_with(&x, x.path);

	need.key.ino++;
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	need = need_with(&x, x.path);
	CHECK_EQ(unlink(x.path), 0);
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	CHECK_STR(path_of(&x, &need.key), "");
	teardown(&x);
}

TEST("a path in a request that is damaged is none")
{
	struct fixture x;

	if (!setup(&x))
		return;
	CHECK_EQ(chdir(x.dir), 0);
	struct unwind_need need = need_with(&x, "copy");

	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	need = need_with(&x, "");
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	need = need_with(&x, x.path);
	need.path = 0;
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	need.path = UNWIND_PATH;
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	need.path = UINT32_MAX;
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	/* a name that was changed while it was read ends early; what is left must not do */
	_cleanup_free_ char *longer = xasprintf("%s-and-more", x.path);

	need = need_with(&x, longer);
	need.text[need.path + strlen(x.path)] = '\0';
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	need = need_with(&x, x.path);
	need.text[UNWIND_PATH - 1] = 'x';
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	need.text[UNWIND_PATH - 1] = '\0';
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), 0);
	teardown(&x);
}

TEST("a path that leads nowhere leaves the one that was seen in an event")
{
	struct fixture x;

	if (!setup(&x))
		return;
	struct unwind_need need = need_with(&x, "/no/such/file");

	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), -ENOENT);
	unwind_feed_hint(x.feed, &need.key, x.path);
	CHECK_EQ(unwind_feed_need(x.feed, &need, NULL), 0);
	CHECK_STR(path_of(&x, &need.key), x.path);
	teardown(&x);
}
