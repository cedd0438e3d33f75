/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Our unwinder against libdw's, in the same stop of the same thread:
 *
 *	unwind STOPS program args...	runs the program again and again, stops it STOPS times
 *	unwind --dump FILE		the compiled table, for the comparison with readelf
 *
 * The first form prints "stops equal explained ours_root" and, for the first differences, both
 *stacks as lines that begin with '#'.
 *
 * A difference is explained only if libdw had nothing to go by: its stack ends, as the beginning of
 * ours, in code that no frame description covers, and every further return address of ours follows
 *a call up to the root. glibc's clone3 is such code: it ends its description before the system
 *call, because the new thread could not use it, and for some instructions the calling thread has
 *none either, although its frame has not changed.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/hash.h"
#include "base/io.h"
#include "unwind/process.h"

enum { MAX_FRAMES = 4096, SHOW_DIFFERENCES = 3, STOP_MIN_US = 500, STOP_SPREAD_US = 6000 };

struct oracle {
	Dwfl *dwfl;
	u64 maps_hash;
	u64 ip[MAX_FRAMES];
	size_t n;
};

struct tally {
	int stops;
	int equal;
	int explained;
	int root;
	int shown;
};

static int on_frame(Dwfl_Frame *frame, void *arg)
{
	struct oracle *o = arg;
	Dwarf_Addr pc;
	bool active;

	if (!dwfl_frame_pc(frame, &pc, &active) || o->n == MAX_FRAMES)
		return DWARF_CB_ABORT;
	o->ip[o->n++] = pc;
	return DWARF_CB_OK;
}

static char *debuginfo_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debuginfo_path,
};

/* A new Dwfl when the mappings have changed: libdw does not notice. */
static bool oracle_refresh(struct oracle *o, int pid)
{
	_cleanup_buf_ struct buf maps = BUF_INIT;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (io_read_file(path, IO_MAX_PROC, &maps, NULL) || !maps.len)
		return false;
	u64 h = hash_mix(hash_bytes(maps.data, maps.len), (u64)pid);

	if (o->dwfl && h == o->maps_hash)
		return true;
	if (o->dwfl)
		dwfl_end(o->dwfl);
	o->dwfl = dwfl_begin(&callbacks);
	o->maps_hash = h;
	return o->dwfl && !dwfl_linux_proc_report(o->dwfl, pid) &&
	       !dwfl_report_end(o->dwfl, NULL, NULL) && !dwfl_linux_proc_attach(o->dwfl, pid, true);
}

static void show(const char *who, const u64 *ip, size_t n)
{
	printf("# %s %zu:", who, n);
	for (size_t i = 0; i < n && i < 40; i++)
		printf(" %llx", (unsigned long long)ip[i]);
	printf("\n");
}

/* True when neither .eh_frame nor .debug_frame of its module describes @pc. */
static bool no_description(struct oracle *o, u64 pc)
{
	Dwfl_Module *m = dwfl_addrmodule(o->dwfl, pc);
	Dwarf_CFI *cfi[2];
	Dwarf_Addr bias[2] = { 0 };
	bool described = !m;

	if (!m)
		return false;
	cfi[0] = dwfl_module_eh_cfi(m, &bias[0]);
	cfi[1] = dwfl_module_dwarf_cfi(m, &bias[1]);
	for (int i = 0; i < 2 && !described; i++) {
		Dwarf_Frame *frame = NULL;

		described = cfi[i] && !dwarf_cfi_addrframe(cfi[i], pc - bias[i], &frame);
		free(frame);
	}
	return !described;
}

/* A call of any form: direct, through a register, through memory with or without offsets. */
static bool follows_call(int pid, u64 address)
{
	enum { LONGEST = 7 };
	u8 b[LONGEST];
	struct iovec local = { b, sizeof(b) };
	struct iovec remote = { (void *)(uintptr_t)(address - LONGEST), sizeof(b) };

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) != (ssize_t)sizeof(b))
		return false;
	if (b[LONGEST - 5] == 0xe8)
		return true;
	for (int n = 2; n <= LONGEST; n++) {
		if (b[LONGEST - n] == 0xff && (b[LONGEST - n + 1] >> 3 & 7) == 2)
			return true;
	}
	return false;
}

static bool explained(struct oracle *o, int pid, const struct unwind_frames *f)
{
	if (!o->n || o->n >= f->n || memcmp(f->ip, o->ip, o->n * sizeof(*f->ip)) != 0 ||
	    f->end != UNWIND_END_ROOT || !no_description(o, o->ip[o->n - 1] - (o->n > 1)))
		return false;
	for (size_t i = o->n; i < f->n; i++) {
		if (!follows_call(pid, f->ip[i]))
			return false;
	}
	return true;
}

static void compare(struct oracle *o, struct unwind_process *p, const struct unwind_snapshot *s,
		    struct tally *t)
{
	static u64 ip[MAX_FRAMES];
	struct unwind_frames f = { .ip = ip, .max = MAX_FRAMES };

	o->n = 0;
	dwfl_getthread_frames(o->dwfl, p->pid, on_frame, o);
	unwind_process_frames(p, s, &f);
	t->stops++;
	t->root += f.end == UNWIND_END_ROOT;
	if (f.n == o->n && !memcmp(f.ip, o->ip, f.n * sizeof(*f.ip))) {
		t->equal++;
		return;
	}
	bool known = explained(o, p->pid, &f);

	t->explained += known;
	if (t->shown++ < SHOW_DIFFERENCES) {
		printf("# differ%s; ours ended with: %s\n", known ? " (libdw has no rule)" : "",
		       unwind_end_text(f.end));
		show("ours ", f.ip, f.n);
		show("libdw", o->ip, o->n);
	}
}

static pid_t start(char **argv)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	execvp(argv[0], argv);
	_exit(127);
}

static bool stop_thread(pid_t pid)
{
	int status;

	return !ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) && waitpid(pid, &status, __WALL) == pid &&
	       WIFSTOPPED(status);
}

/* Runs the program once; false when it could not be started or ends without a stop. */
static bool one_run(char **argv, int wanted, struct unwind_files *files, struct tally *t)
{
	_cleanup_(unwind_snapshot_release) struct unwind_snapshot snap = { 0 };
	struct oracle o = { 0 };
	pid_t pid = start(argv);
	int before = t->stops;

	usleep(30000);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL)) {
		waitpid(pid, NULL, 0);
		return false;
	}
	while (t->stops < wanted) {
		usleep(STOP_MIN_US + (unsigned int)rand() % STOP_SPREAD_US);
		if (!stop_thread(pid))
			break;
		struct unwind_process p;

		if (oracle_refresh(&o, pid) && !unwind_process_init(&p, pid, files, NULL)) {
			if (!unwind_process_copy(&p, pid, &snap, NULL))
				compare(&o, &p, &snap, t);
			unwind_process_release(&p);
		}
		ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, __WALL) > 0)
		;
	if (o.dwfl)
		dwfl_end(o.dwfl);
	return t->stops > before;
}

static int dump(const char *path)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_close_ int fd = -1;
	_cleanup_elf_ struct elf elf = ELF_INIT;

	if (io_open_read(path, &fd, &e) || elf_use_fd(&elf, fd, path, &e) ||
	    unwind_table_compile(&elf, &t, &e)) {
		fprintf(stderr, "%s\n", e.what);
		return 1;
	}
	for (size_t i = 0; i < elf.segment_count; i++) {
		const struct elf_segment *s = &elf.segments[i];

		if (s->type == PT_LOAD && s->filesz)
			printf("S %llx %llx %llx\n", (unsigned long long)s->vaddr,
			       (unsigned long long)s->offset, (unsigned long long)s->filesz);
	}
	for (u32 p = 0; p < t->n_pages; p++) {
		for (u32 i = 0; i < t->pages[p].count; i++) {
			u32 row = t->rows[t->pages[p].first + i];
			const struct unwind_rule *r = &t->rules[row & 0xffff];

			printf("R %llx %u %u %u %u %d %d %d %d\n",
			       (unsigned long long)p << UNWIND_PAGE_BITS | row >> 16, r->cfa, r->bp,
			       r->ra, r->reg, r->cfa_off, r->bp_off, r->aux, r->bx_off);
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct unwind_files files = { 0 };
	struct tally t = { 0 };

	if (argc == 3 && streq(argv[1], "--dump"))
		return dump(argv[2]);
	if (argc < 3) {
		fprintf(stderr, "usage: unwind STOPS program args...\n");
		return 2;
	}
	int wanted = (int)strtol(argv[1], NULL, 10);

	srand(1);
	for (int run = 0; run < 50 && t.stops < wanted; run++) {
		if (!one_run(argv + 2, wanted, &files, &t) && run > 5)
			break;
	}
	unwind_files_release(&files);
	printf("%d %d %d %d\n", t.stops, t.equal, t.explained, t.root);
	return t.stops ? 0 : 1;
}
