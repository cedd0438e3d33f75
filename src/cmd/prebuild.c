/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/fmt.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/safedir.h"
#include "base/map.h"
#include "base/stop.h"
#include "symbol/symbol.h"
#include "unwind/table.h"

enum {
	MAX_DEPTH = 6, /* of directories below the ones that are named */
	PROGRESS_EVERY = 64,
	LINES_MOST = 32 << 20,       /* bytes of debug information of one file, unpacked */
	LINES_TOTAL_MOST = 64 << 20, /* bytes of all indexes that are made */
};

/* Where programs and libraries are, in addition to $PATH. */
static const char *const library_dirs[] = {
	"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/opt",
};

struct prebuild_args {
	bool yes;
	bool dry_run;
	bool lines;
};

struct prebuild {
	struct context *ctx;
	bool dry_run;
	bool lines;
	struct map seen; /* hash of device and inode */
	u64 files;
	u64 compiled;
	u64 cached;
	u64 no_cfi;
	u64 no_build_id;
	u64 failed;
	u64 rows;
	u64 bytes;
	u64 lines_made, lines_there, lines_large, lines_bytes;
	u64 begin_ns;
};

static bool first_sight(struct prebuild *p, const struct stat *st)
{
	u64 *seen = map_at(&p->seen, hash_mix(hash_mix(st->st_dev, st->st_ino), 0));

	return !(*seen)++;
}

static void progress(struct prebuild *p, const char *path)
{
	if (p->files % PROGRESS_EVERY == 0 && cli_progress_wanted(p->ctx) &&
	    clock_mono_ns() - p->begin_ns > NSEC_PER_SEC)
		cli_progress(p->ctx, "%llu files, now %s", (unsigned long long)p->files, path);
}

static void count_table(struct prebuild *p, const struct elf *elf, const struct unwind_table *t,
			bool cached)
{
	p->cached += cached;
	p->compiled += !cached;
	if (!elf->build_id_len) {
		p->no_build_id++;
		return;
	}
	p->rows += t->n_rows;
	p->bytes += unwind_table_bytes(t);
}

/* A store of its own for each file: debug information is large. */
static void one_index(struct prebuild *p, const char *path)
{
	struct symbols *s = symbols_new(NULL);
	const u32 module = symbols_module(s, &(struct module_key){ .path = path });
	u64 size = 0;

	switch (symbols_lines_build(s, module, LINES_MOST, &size)) {
	case 0:
		p->lines_made++;
		p->lines_bytes += size;
		break;
	case -EEXIST: p->lines_there++; break;
	case -EFBIG: p->lines_large++; break;
	default: break;
	}
	symbols_free(s);
}

static void one_file(struct prebuild *p, int dir, const char *name, const char *path)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	bool cached = false;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !first_sight(p, &st) ||
	    elf_use_fd(&elf, fd, path, NULL))
		return;
	p->files++;
	progress(p, path);
	if (p->dry_run)
		return;
	int rc = unwind_table_get(&elf, &t, &cached, NULL);

	if (!rc)
		count_table(p, &elf, t, cached);
	else if (rc == -ENODATA)
		p->no_cfi++;
	else
		p->failed++;
	if (p->lines && p->lines_bytes < LINES_TOTAL_MOST)
		one_index(p, path);
}

/* Only what can be a program or a library: executable files and names like libx.so.1. */
static bool looks_loadable(const struct stat *st, const char *name)
{
	return S_ISREG(st->st_mode) && ((st->st_mode & 0111) || strstr(name, ".so"));
}

static void one_dir(struct prebuild *p, const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	struct stat st;

	if (!dir)
		return;
	if (fstat(dirfd(dir), &st) || !first_sight(p, &st)) {
		closedir(dir);
		return;
	}
	while (!stop_requested() && (d = readdir(dir))) {
		_cleanup_buf_ struct buf full = BUF_INIT;

		if (d->d_name[0] == '.' || fstatat(dirfd(dir), d->d_name, &st, 0))
			continue;
		buf_addf(&full, "%s/%s", path, d->d_name);
		if (S_ISDIR(st.st_mode)) {
			/* links to directories lead out of the tree, or in circles */
			if (depth < MAX_DEPTH && d->d_type != DT_LNK)
				one_dir(p, buf_str(&full), depth + 1);
		} else if (looks_loadable(&st, d->d_name)) {
			one_file(p, dirfd(dir), d->d_name, buf_str(&full));
		}
	}
	closedir(dir);
}

static void path_dirs(struct prebuild *p)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *copy = xstrdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	char *rest = copy, *dir;

	while ((dir = strsep(&rest, ":"))) {
		if (dir[0] == '/')
			one_dir(p, dir, MAX_DEPTH);
	}
}

static int walk(struct prebuild *p)
{
	struct stat st;

	if (!p->ctx->operands.len) {
		path_dirs(p);
		for (size_t i = 0; i < ARRAY_SIZE(library_dirs); i++)
			one_dir(p, library_dirs[i], 0);
	}
	vec_each(name, &p->ctx->operands) {
		if (stat(*name, &st))
			return err_sys(&p->ctx->err, errno, "cannot read '%s'", *name);
		if (S_ISDIR(st.st_mode))
			one_dir(p, *name, 0);
		else
			one_file(p, AT_FDCWD, *name, *name);
	}
	return 0;
}

static void add_facts(struct prebuild *p, struct result *r)
{
	_cleanup_buf_ struct buf dir = BUF_INIT;

	result_fact(r, "files", "files", value_u(VALUE_COUNT, p->files));
	result_fact(r, "compiled", "compiled now", value_u(VALUE_COUNT, p->compiled));
	result_fact(r, "cached", "already cached", value_u(VALUE_COUNT, p->cached));
	result_fact(r, "no_cfi", "without frame information", value_u(VALUE_COUNT, p->no_cfi));
	result_fact(r, "rows", "rows", value_u(VALUE_COUNT, p->rows));
	result_fact(r, "bytes", "bytes in the cache", value_u(VALUE_BYTES, p->bytes));
	if (p->lines) {
		result_fact(r, "lines_made", "line indexes made now",
			    value_u(VALUE_COUNT, p->lines_made));
		result_fact(r, "lines_there", "line indexes already cached",
			    value_u(VALUE_COUNT, p->lines_there));
		result_fact(r, "lines_bytes", "bytes of the new ones",
			    value_u(VALUE_BYTES, p->lines_bytes));
	}
	result_fact(r, "duration", "took", value_u(VALUE_DURATION, clock_mono_ns() - p->begin_ns));
	if (!safedir_cache_path("unwind", &dir, NULL))
		result_fact(r, "cache", "cache", value_text(r, buf_str(&dir)));
	result_loss(r, "failed", "unreadable files", p->failed);
	result_loss(r, "no_build_id", "files without a build id, which are not cached",
		    p->no_build_id);
	result_loss(r, "lines_large", "files with too much debug information for an index",
		    p->lines_large);
}

/* A whole machine is a lot to cache: not without confirmation. */
static int ask(struct context *ctx)
{
	_cleanup_buf_ struct buf dir = BUF_INIT;
	char answer[8];

	if (safedir_cache_path("unwind", &dir, NULL))
		buf_addstr(&dir, "the cache");
	if (!isatty(STDIN_FILENO)) {
		err_set(&ctx->err, EINVAL, "all programs of this machine fill %s", buf_str(&dir));
		err_hint(&ctx->err,
			 "--yes does it without asking, -n only counts, PATH takes less");
		return EXIT_USAGE;
	}
	fprintf(stderr, "Compile tables for all programs and libraries into %s? [y/N] ",
		buf_str(&dir));
	if (!fgets(answer, sizeof(answer), stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
		return EXIT_FAILED;
	return 0;
}

static int prebuild_run(struct context *ctx, void *args)
{
	const struct prebuild_args *a = args;
	struct prebuild p = {
		.ctx = ctx, .dry_run = a->dry_run, .lines = a->lines, .begin_ns = clock_mono_ns()
	};
	_cleanup_result_ struct result r = { 0 };
	int rc;

	if (!ctx->operands.len && !a->dry_run && !a->yes) {
		rc = ask(ctx);
		if (rc)
			return rc;
	}
	result_init(&r, "prebuild");
	rc = walk(&p);
	if (cli_progress_wanted(ctx))
		cli_progress(ctx, "%s", "");
	map_release(&p.seen);
	if (rc < 0)
		return rc;
	add_facts(&p, &r);
	if (stop_requested())
		result_note(&r, NOTE_WARNING, "run it again to continue",
			    "stopped early: some files were not processed");
	if (!p.files) {
		err_set(&ctx->err, ENOENT, "no program or library was found");
		err_hint(&ctx->err, "name existing files or folders; without any, those of "
				    "$PATH and the library folders are taken");
		return -ENOENT;
	}
	return cli_show(ctx, &r);
}

static const struct opt prebuild_options[] = {
	{ 'n', "dry-run", OPT_FLAG, offsetof(struct prebuild_args, dry_run),
	  .help = "only count the files" },
	{ 0, "lines", OPT_FLAG, offsetof(struct prebuild_args, lines),
	  .help = "also index the source lines of files that have debug information" },
	{ 'y', "yes", OPT_FLAG, offsetof(struct prebuild_args, yes),
	  .help = "do not ask before all programs are compiled" },
	OPT_END,
};

static const struct example prebuild_examples[] = {
	{ "fathom prebuild --yes", "tables for all programs and libraries of this machine" },
	{ "fathom prebuild /usr/bin", "only files below this directory" },
	{ "fathom prebuild --lines /usr/lib/x86_64-linux-gnu/libc.so.6",
	  "its source lines as well, if its debug symbols are installed" },
	{ 0 },
};

const struct command cmd_prebuild = {
	.name = "prebuild",
	.summary = "compile unwind tables ahead of time",
	.description = "Compiles the frame information of programs and libraries into the tables "
		       "by which stacks are unwound, and keeps them in the cache on disk.\n\n"
		       "It is never needed: a table that is missing is compiled when it is first "
		       "met. But on a machine where many short processes run, the first samples of "
		       "each program are then complete at once. Without operands, the directories "
		       "of $PATH and the library directories are searched.\n\n"
		       "With --lines, source lines and inlined functions of files that have debug "
		       "information, or a debug file, are indexed, too. Without it, that is done "
		       "when the debug information of a file is opened for the second time.",
	.question = Q_SELF,
	.options = prebuild_options,
	.args_size = sizeof(struct prebuild_args),
	.operands = "[PATH]...",
	.max_operands = SIZE_MAX,
	.examples = prebuild_examples,
	.see_also = "fathom-record fathom-stack",
	.run = prebuild_run,
};
