/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording gets its names when it ends. A program that was made for one run ("go run", tests of
 * configure) is deleted by then: its names go to the cache of names, which is kept by build id, as
 * soon as it is met. What was installed stays, and is left for later.
 */
#include "recorder/state.h"

#include "base/hash.h"
#include "base/io.h"
#include "symbol/symbol.h"

enum {
	PRIME_MOST = 16 << 20, /* bytes of a file: reading names must not hold up samples */
	PRIMED_MOST = 1 << 16, /* files; then each is read once more */
};

static bool is_installed(const char *path)
{
	static const char *const places[] = { "/usr/", "/lib",  "/bin/", "/sbin/",
					      "/opt/", "/nix/", "/snap/" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		if (starts_with(path, places[i]))
			return true;
	}
	return false;
}

void recorder_prime_names(void *ctx, int fd, const struct elf *elf)
{
	struct recorder *r = ctx;

	if (r->kernel.primed.len >= PRIMED_MOST)
		map_clear(&r->kernel.primed);

	u64 *known = map_at(&r->kernel.primed, hash_bytes(elf->build_id, elf->build_id_len));
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct symbols *symbols;
	struct symbol sym;
	char link[32];

	if (r->o.no_names || !elf->build_id_len || elf->size > PRIME_MOST || *known ||
	    io_fd_path(fd, &path) < 0)
		return;
	*known = 1;
	if (is_installed(buf_str(&path)))
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	symbols = symbols_new(&(struct symbols_opts){ .keep = true });
	(void)symbols_lookup(
		symbols,
		symbols_module(symbols, &(struct module_key){ .path = link,
							      .build_id = elf->build_id,
							      .build_id_len = elf->build_id_len }),
		0, &sym);
	symbols_free(symbols);
}
