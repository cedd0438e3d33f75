/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/process.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <elf.h>
#include <time.h>

#include "base/clock.h"
#include "host/procfs.h"
#include "runtime/hotspot.h"
#include "runtime/python_trampoline.h"

enum { STOP_TIMEOUT_MS = 200, STOP_POLL_US = 50 };

int unwind_process_init(struct unwind_process *p, int pid, struct unwind_files *files,
			struct err *e)
{
	*p = (struct unwind_process){ .pid = pid, .files = files };
	return mappings_read(&p->maps, pid, e);
}

/* Rules of the code that the process made, as its machine describes it. */
struct process_code {
	struct hotspot hotspot;
	struct code_rows trampolines;
	struct code_names names;
	const struct code_rows *rows; /* the one or the other; NULL: nothing is known */
};

static void code_free(struct process_code *c)
{
	if (!c)
		return;
	hotspot_release(&c->hotspot);
	code_rows_release(&c->trampolines);
	code_names_release(&c->names);
	free(c);
}

static struct process_code *code_read(int pid)
{
	struct process_code *c = xcalloc(1, sizeof(*c));

	if (!hotspot_init(&c->hotspot, pid, NULL)) {
		c->hotspot.names = &c->names;
		if (!hotspot_refresh(&c->hotspot, NULL))
			c->rows = &c->hotspot.code;
	} else if (!python_trampolines(pid, &c->trampolines, NULL)) {
		c->rows = &c->trampolines;
	}
	return c;
}

void unwind_process_release(struct unwind_process *p)
{
	mappings_release(&p->maps);
	code_free(p->code);
	p->code = NULL;
}

const struct code_names *unwind_process_names(const struct unwind_process *p)
{
	return p->code ? &p->code->names : NULL;
}

void unwind_snapshot_release(struct unwind_snapshot *s)
{
	buf_release(&s->stack);
}

/* A stack grows: its mapping may have begun higher when the maps were read. */
static u64 stack_end(struct unwind_process *p, u64 sp)
{
	for (int round = 0; round < 2; round++) {
		const struct mapping *m = mappings_find(&p->maps, sp);

		if (m)
			return m->end;
		mappings_release(&p->maps);
		p->maps = (struct mappings){ 0 };
		if (mappings_read(&p->maps, p->pid, NULL))
			break;
	}
	return 0;
}

int unwind_process_copy(struct unwind_process *p, int tid, struct unwind_snapshot *s, struct err *e)
{
	struct user_regs_struct regs;
	struct iovec iov = { &regs, sizeof(regs) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov))
		return err_sys(e, errno, "cannot read the registers of thread %d", tid);
	if (iov.iov_len != sizeof(regs))
		return err_set(e, ENOTSUP, "thread %d is not a 64-bit thread", tid);
	unwind_regs_from_user(s->regs, &regs);
	u64 sp = s->regs[UNWIND_REG_SP], end = stack_end(p, sp);
	u64 n = end > sp ? end - sp : 0;

	s->cut = n > SNAPSHOT_MAX_STACK;
	n = MIN(n, (u64)SNAPSHOT_MAX_STACK);
	s->stack_start = sp;
	buf_reset(&s->stack);
	if (n && !procfs_memory(p->pid, sp, buf_reserve(&s->stack, n), n))
		buf_added(&s->stack, n);
	return 0;
}

/* 0 when stopped; the signal that stopped it instead of us goes to *ret_signal. */
static int wait_stop(int tid, int *ret_signal)
{
	for (u64 end = clock_mono_ns() + STOP_TIMEOUT_MS * NSEC_PER_MSEC;;) {
		int status;
		int got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == tid) {
			if (!WIFSTOPPED(status))
				return -ESRCH;
			*ret_signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
			return 0;
		}
		if (clock_mono_ns() > end)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){ .tv_nsec = STOP_POLL_US * 1000 }, NULL);
	}
}

int unwind_process_snapshot(struct unwind_process *p, int tid, struct unwind_snapshot *s,
			    struct err *e)
{
	int sig = 0;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
		int code = errno;

		err_sys(e, code, "cannot stop thread %d", tid);
		if (code == EPERM)
			err_hint(e, "run as root, or look for another debugger on it");
		return -code;
	}
	u64 begin = clock_mono_ns();

	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		return err_sys(e, errno, "cannot interrupt thread %d", tid);
	int rc = wait_stop(tid, &sig);

	if (rc)
		return err_sys(e, rc, "thread %d did not stop", tid);
	rc = unwind_process_copy(p, tid, s, e);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)sig);
	s->stopped_ns = clock_mono_ns() - begin;
	return rc;
}

struct reader {
	struct unwind_process *p;
	const struct unwind_snapshot *s;
};

static int reader_read(void *ctx, u64 address, void *to, size_t n)
{
	const struct reader *r = ctx;
	const struct unwind_copy copy = { r->s->stack.data, r->s->stack_start, r->s->stack.len };

	if (unwind_copy_read(&copy, address, to, n) == 0)
		return 0;
	return procfs_memory(r->p->pid, address, to, n);
}

static int reader_find(void *ctx, u64 pc, const struct unwind_rule **ret)
{
	const struct reader *r = ctx;
	struct mapping *m = mappings_find(&r->p->maps, pc);

	if (!m || !m->exec)
		return -ENOENT;
	*ret = NULL;
	if (!m->ino && !streq(m->path, "[vdso]")) {
		if (!r->p->code)
			r->p->code = code_read(r->p->pid);
		*ret = r->p->code->rows ? code_rows_find(r->p->code->rows, pc) : NULL;
		return 0;
	}
	const struct unwind_file *f = unwind_files_get(r->p->files, m, r->p->pid);

	if (f->unreadable)
		return -EAGAIN;
	*ret = unwind_table_rule(f->table, pc - m->start + m->offset);
	return 0;
}

void unwind_process_frames(struct unwind_process *p, const struct unwind_snapshot *s,
			   struct unwind_frames *f)
{
	struct reader r = { p, s };
	struct unwind_source source = { .ctx = &r, .read = reader_read, .find = reader_find };

	memcpy(source.regs, s->regs, sizeof(source.regs));
	unwind_user(&source, f);
	for (size_t i = 0; p->code && i < f->n; i++)
		hotspot_name_word(&p->code->hotspot, f->ip[i]);
}
