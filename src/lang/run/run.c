/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading, attaching, the loop, and shutdown. */
#include "lang/run/run.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "host/bpf_sys.h"
#include "elf/find.h"
#include "lang/gen/func_btf.h"
#include "symbol/procmaps.h"
#include "lang/gen/refusal.h"
#include "lang/run/unwinder.h"
#include "symbol/symbol.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

enum { LOG_SIZE = 1 << 20, RECORD_BUSY = 1u << 31, RECORD_DISCARD = 1u << 30, RECORD_HEADER = 8 };

void run_keep(struct run *r, int fd, bool slow)
{
	if (slow)
		vec_push(&r->slow_fds, fd);
	else
		vec_push(&r->fds, fd);
}

u32 run_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n > 0 ? (u32)n : 1;
}

/* --- loading ---------------------------------------------------------------------------------- */

static int create_maps(struct run *r, struct err *e)
{
	for (size_t i = 0; i < r->c->bpf_maps.len; i++) {
		const struct bpf_map *m = &r->c->bpf_maps.items[i];
		struct bpfsys_map def = { .type = m->type,
					  .key_size = m->key_size,
					  .value_size = m->value_size,
					  .max_entries = m->max_entries,
					  .flags = m->flags };
		int fd;

		def.name = m->name[0] >= 'a' ? m->name : "map";
		fd = bpfsys_map_create(&def);
		if (fd < 0) {
			err_sys(e, -fd, "cannot make the map '%s' (%u keys, %u bytes each)",
				m->name[0] ? m->name : "@", m->max_entries,
				m->key_size + m->value_size);
			if (fd == -EPERM)
				err_hint(e, "run as root or with CAP_BPF and CAP_PERFMON");
			return fd;
		}
		vec_push(&r->map_fds, fd);
	}
	return 0;
}

/* Puts descriptors where the generator left numbers of maps. */
static void relocate(const struct run *r, struct ir_code *code)
{
	for (size_t i = 0; i < code->insns.len; i++) {
		struct bpf_insn *in = &code->insns.items[i];

		if (in->code != (BPF_LD | BPF_DW | BPF_IMM))
			continue;
		if (in->src_reg == BPF_PSEUDO_MAP_FD || in->src_reg == BPF_PSEUDO_MAP_VALUE)
			in->imm = r->map_fds.items[in->imm];
		i++;
	}
}

/* Programs of more than one function come with the types of those, refused ones with lines. */
static int load_with_types(const struct run *r, const struct unit *u, struct bpfsys_prog *prog,
			   bool lines)
{
	struct func_btf btf = FUNC_BTF_INIT;
	bpf_insns insns = { 0 };
	func_types funcs = { 0 };
	int fd;

	prog->insns = u->code.insns.items;
	prog->n_insns = u->code.insns.len;
	if (!u->funcs.len && !u->calls_unwinder && !lines)
		return bpfsys_prog_load(prog);
	vec_new(&funcs);
	for (size_t i = 1; i < u->funcs.len; i++)
		vec_new(&funcs)->start = u->funcs.items[i];
	if (u->calls_unwinder) {
		vec_each(it, &u->code.insns)
			vec_push(&insns, *it);
		unwinder_link(r->c->unwinder, &insns, &funcs);
		prog->insns = insns.items;
		prog->n_insns = insns.len;
	}
	fd = func_btf_load(&funcs, lines ? &r->c->src : NULL, u->code.lines.items,
			   u->code.insns.len, &btf);
	if (fd == 0) {
		prog->btf_fd = (u32)btf.fd;
		prog->func_info = btf.funcs;
		prog->func_info_rec_size = sizeof(*btf.funcs);
		prog->func_info_cnt = (u32)funcs.len;
		prog->line_info = btf.lines;
		prog->line_info_rec_size = btf.n_lines ? sizeof(*btf.lines) : 0;
		prog->line_info_cnt = btf.n_lines;
		fd = bpfsys_prog_load(prog);
	}
	func_btf_release(&btf);
	vec_release(&insns);
	vec_release(&funcs);
	return fd;
}

/* Once more, with a log: says why, about the script. */
static int explain(struct run *r, const struct unit *u, struct bpfsys_prog *prog, int why,
		   struct err *e)
{
	const char *name = r->c->targets.items[u->first].name;
	char *log = xcalloc(1, LOG_SIZE);
	int fd = -1;

	prog->log = log;
	prog->log_size = LOG_SIZE;
	prog->log_level = 1;
	/* Following a million instructions again would take seconds and say nothing new. */
	if (why != -E2BIG)
		fd = load_with_types(r, u, prog, true);
	if (fd >= 0) {
		free(log);
		return fd;
	}
	err_sys(e, -why, "cannot load the program of '%s'", name);
	if (log[0] || why == -E2BIG)
		refusal_report(r->c, u, -why, log);
	else if (why == -EPERM)
		err_hint(e, "run as root or with CAP_BPF and CAP_PERFMON; the kernel may also "
			    "forbid this kind of probe");
	if (log[0])
		log_info("%s", log);
	free(log);
	return why;
}

/* A kind of probe that this kernel does not have may be done without, if the program says so. */
static bool leave_out(struct run *r, const struct unit *u, int why, struct err *e)
{
	const struct target *t = &r->c->targets.items[u->first];
	u64 missing = r->c->config.missing_probes;

	if (missing == MISSING_ERROR || (t->provider->flags & PROBE_TIMED) || r->c->diags.errors ||
	    (why != -EPERM && why != -ENOTSUP && why != -ENOENT && why != -EOPNOTSUPP))
		return false;
	if (missing == MISSING_WARN) {
		diag_warning(&r->c->diags, r->c->prog.probes.items[u->probe].at, "%s", e->what);
		r->left_out += u->n;
	}
	err_release(e);
	*e = (struct err)ERR_INIT;
	return true;
}

static int load_unit(struct run *r, struct unit *u, struct err *e)
{
	struct bpfsys_prog prog = {
		.type = u->prog_type,
		.expected_attach_type = u->attach_type,
		.name = "fathom",
		.attach_btf_id = u->attach_btf,
		.flags = u->prog_flags,
	};
	_cleanup_close_ int of = u->attach_prog ? bpfsys_prog_by_id(u->attach_prog) : -1;
	int fd;

	if (u->attach_prog && of < 0)
		return err_sys(e, -of, "the program of '%s' is gone",
			       r->c->targets.items[u->first].name);
	if (of >= 0)
		prog.attach_btf_obj_fd = (u32)of;
	fd = load_with_types(r, u, &prog, false);
	if (fd < 0)
		fd = explain(r, u, &prog, fd, e);
	if (fd < 0 && leave_out(r, u, fd, e))
		fd = -1;
	else if (fd < 0)
		return fd;
	vec_push(&r->prog_fds, fd);
	return 0;
}

static int map_ring(struct run *r, struct err *e)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = r->c->config.ring_bytes;
	int fd;

	if (!r->c->ring_map)
		return 0;
	fd = r->map_fds.items[r->c->ring_map - 1];
	r->ring.page = page;
	r->ring.mask = size - 1;
	r->ring.consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->ring.consumer == MAP_FAILED)
		goto failed;
	r->ring.producer = mmap(NULL, page + 2 * size, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (r->ring.producer == MAP_FAILED) {
		munmap(r->ring.consumer, page);
		goto failed;
	}
	return 0;
failed:
	r->ring.consumer = NULL;
	return err_sys(e, errno, "cannot map the event buffer");
}

static int load_unwinder(const struct run *r, struct err *e)
{
	if (!comp_calls_unwinder(r->c) || r->c->unwinder)
		return 0;
	return unwinder_new(r->map_fds.items[r->c->ustack_map - 1], r->c->config.walk_always,
			    &r->c->unwinder, e);
}

int run_load(struct run *r, struct err *e)
{
	int rc = create_maps(r, e);

	if (rc == 0)
		rc = map_ring(r, e);
	if (rc == 0)
		rc = load_unwinder(r, e);
	for (size_t i = 0; rc == 0 && i < r->c->units.len; i++) {
		relocate(r, &r->c->units.items[i].code);
		rc = load_unit(r, &r->c->units.items[i], e);
	}
	return rc;
}

/* --- events ----------------------------------------------------------------------------------- */

int run_drain(struct run *r)
{
	u64 *consumer = (u64 *)(void *)r->ring.consumer, at, end, most;
	const u64 *producer = (const u64 *)(const void *)r->ring.producer;
	int n = 0;

	if (!consumer)
		return 0;
	at = *consumer;
	end = __atomic_load_n(producer, __ATOMIC_ACQUIRE);
	/* a flood may continue forever: after one turn of the ring others have to be checked */
	most = at + r->ring.mask + 1;
	while (at < end && !r->output_error) {
		const u8 *rec = r->ring.producer + r->ring.page + (at & r->ring.mask);
		u32 len = __atomic_load_n((const u32 *)(const void *)rec, __ATOMIC_ACQUIRE);

		if (len & RECORD_BUSY)
			break;
		/* Output after exit() is not shown. */
		if (!(len & RECORD_DISCARD) && !r->mute && (!r->stopping || r->ending))
			run_event(r, rec + RECORD_HEADER, len & ~RECORD_DISCARD);
		at += ALIGN_UP((u64)(len & ~RECORD_DISCARD) + RECORD_HEADER, 8ull);
		__atomic_store_n(consumer, at, __ATOMIC_RELEASE);
		n++;
		if (at >= end && at < most)
			end = __atomic_load_n(producer, __ATOMIC_ACQUIRE);
	}
	if (n && r->sink && r->sink->flush && !r->output_error)
		r->output_error = r->sink->flush(r->sink->ctx);
	return n;
}

int run_once(int prog_fd, u32 *ret_value)
{
	u64 ctx[12] = { 0 };
	u32 result;
	int rc = bpfsys_prog_run(prog_fd, ctx, sizeof(ctx), &result);

	if (rc == 0 && ret_value)
		*ret_value = result;
	return rc;
}

static int run_timed(struct run *r, const struct provider *p, struct err *e)
{
	vec_each(it, &r->timed) {
		int rc;

		if (it->provider != p || it->done)
			continue;
		rc = run_once(it->prog_fd, NULL);
		if (rc < 0)
			return err_sys(e, -rc, "cannot run '%s'", p->name);
		/* What 'begin' sends is read when everything is attached: see run_attach(). */
		if (p != &probe_begin)
			run_drain(r);
	}
	return 0;
}

/* A short program is over before it could be asked for. */
static void prepare_command(const struct run *r)
{
	elf_paths files = { 0 };

	if (r->c->opts->command)
		elf_find_needed(r->c->opts->command, &r->c->arena, &files);
	vec_each(it, &files)
		unwinder_file(r->c->unwinder, *it);
	vec_release(&files);
}

/* Tables for what will be met first; the kernel asks for the others. */
static void prepare_unwinder(const struct run *r)
{
	const char *last = NULL;
	bool all = false;

	if (!r->c->unwinder)
		return;
	vec_each(it, &r->c->targets) {
		bool user = it->provider->flags & PROBE_USER;

		if (user && it->group && it->group != last)
			unwinder_file(r->c->unwinder, it->group);
		last = it->group;
		all = all || !user || !it->pid;
	}
	prepare_command(r);
	unwinder_process(r->c->unwinder, all ? 0 : r->c->opts->pid);
}

/* Another unit of the same probe that is attached, or still may be. */
static bool has_sibling(const struct run *r, size_t i)
{
	const struct unit *u = r->c->units.items;

	for (size_t k = 0; k < r->c->units.len; k++) {
		if (k != i && u[k].probe == u[i].probe && (k > i || u[k].attached))
			return true;
	}
	return false;
}

/* Of a list of probes those that do not exist are left out, as long as one does. */
static bool is_optional(struct run *r, size_t i, int why, struct err *e)
{
	const struct unit *u = &r->c->units.items[i];

	if ((why != -ENOENT && why != -EINVAL) || !has_sibling(r, i))
		return false;
	if (r->c->config.missing_probes != MISSING_IGNORE) {
		diag_warning(&r->c->diags, r->c->prog.probes.items[u->probe].at, "%s", e->what);
		r->left_out += u->n;
	}
	err_release(e);
	*e = (struct err)ERR_INIT;
	return true;
}

/* The peer's message first, then the reason. */
static void say_as_peer(const char *name, struct err *e)
{
	_cleanup_free_ char *why = xstrdup(e->what ? e->what : "");
	int code = e->code;

	err_release(e);
	*e = (struct err)ERR_INIT;
	err_set(e, code,
		"Unable to attach probe: %s. If this is expected, set the 'missing_probes' config "
		"variable to 'warn'.",
		name);
	err_hint(e, "%s", why);
}

static int attach_unit(struct run *r, size_t i, struct err *e)
{
	struct unit *u = &r->c->units.items[i];
	const struct provider *p = r->c->targets.items[u->first].provider;
	struct attach_ctx a = { r, u, r->prog_fds.items[i], e };
	int rc;

	if (a.prog_fd < 0)
		return 0;
	rc = p->attach(&a);
	if (rc < 0 && !leave_out(r, u, rc, e) && !is_optional(r, i, rc, e)) {
		if (!r->c->opts->compat)
			return rc;
		say_as_peer(r->c->targets.items[u->first].name, e);
		return rc == -ENOENT ? -ENODEV : rc; /* no file of the user's is missing */
	}
	if (rc < 0)
		return 0;
	u->attached = true;
	r->attached += u->n;
	return 0;
}

/* The kernel runs the newest probe of a user function first: the script's last one is attached
 * first. */
static bool newest_runs_first(const struct run *r, size_t i)
{
	const struct unit *u = &r->c->units.items[i];

	return r->c->targets.items[u->first].provider->flags & PROBE_USER;
}

static bool is_begin(const struct run *r, size_t i)
{
	return r->c->targets.items[r->c->units.items[i].first].provider == &probe_begin;
}

/* 'begin' has run before anything else can: other probes may rely on what it sets. */
static int attach_begin(struct run *r, struct err *e)
{
	for (size_t i = 0; i < r->c->units.len; i++) {
		int rc = is_begin(r, i) ? attach_unit(r, i, e) : 0;

		if (rc < 0)
			return rc;
	}
	return r->c->opts->dry_run ? 0 : run_timed(r, &probe_begin, e);
}

int run_attach(struct run *r, struct err *e)
{
	int rc = run_skb_open(r, e);

	if (rc < 0)
		return rc;
	if (r->c->user_symbols)
		run_watch_maps(r);
	prepare_unwinder(r);
	rc = attach_begin(r, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < r->c->units.len; i++) {
		rc = is_begin(r, i) || newest_runs_first(r, i) ? 0 : attach_unit(r, i, e);
		if (rc < 0)
			return rc;
	}
	for (size_t i = r->c->units.len; i-- > 0;) {
		rc = newest_runs_first(r, i) ? attach_unit(r, i, e) : 0;
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* --- the loop --------------------------------------------------------------------------------- */

static size_t fill_polls(struct run *r, struct pollfd *p, int child_fd)
{
	size_t n = 0;

	p[n++] = (struct pollfd){ .fd = r->c->ring_map ? r->map_fds.items[r->c->ring_map - 1] : -1,
				  .events = POLLIN };
	p[n++] = (struct pollfd){ .fd = stop_fd(), .events = POLLIN };
	p[n++] = (struct pollfd){ .fd = child_fd, .events = POLLIN };
	vec_each(it, &r->timed)
		p[n++] = (struct pollfd){ .fd = it->timer_fd, .events = POLLIN };
	p[n++] = (struct pollfd){ .fd = unwinder_fd(r->c->unwinder), .events = POLLIN };
	p[n++] = (struct pollfd){ .fd = procmaps_fd(r->maps), .events = POLLIN };
	p[n++] = (struct pollfd){ .fd = run_skb_fd(r), .events = POLLIN };
	return n;
}

/* A signal is read once: the other probes of it run now. */
static void run_other_handlers(struct run *r, size_t first)
{
	const char *event = r->timed.items[first].event;

	for (size_t i = 0; event && i < r->timed.len && !r->stopping; i++) {
		const struct timed *t = &r->timed.items[i];

		if (i == first || t->timer_fd < 0 || !t->event || !streq(t->event, event))
			continue;
		run_once(t->prog_fd, NULL);
		run_drain(r);
	}
}

static void run_timers(struct run *r, const struct pollfd *p)
{
	for (size_t i = 0; i < r->timed.len && !r->stopping; i++) {
		char what[sizeof(struct signalfd_siginfo)];

		if (!(p[i].revents & POLLIN) ||
		    read(r->timed.items[i].timer_fd, what, sizeof(what)) <= 0)
			continue;
		run_once(r->timed.items[i].prog_fd, NULL);
		run_drain(r);
		run_other_handlers(r, i);
	}
}

/* Nothing but begin, end and iterators: there is nothing to wait for. */
static bool nothing_to_wait_for(const struct run *r, int child_fd)
{
	if (child_fd >= 0)
		return false;
	vec_each(it, &r->c->targets) {
		if (it->provider != &probe_begin && it->provider != &probe_end &&
		    it->provider != &probe_iter)
			return false;
	}
	return true;
}

/* Iterators run when they are read. */
static void run_iters(struct run *r)
{
	char sink[4096];

	if (r->pinned)
		run_write(r, false, r->pinned, strlen(r->pinned));
	vec_each(it, &r->iters) {
		while (read(*it, sink, sizeof(sink)) > 0)
			run_drain(r);
		run_drain(r);
	}
}

/* Milliseconds until the next tick; -1: none. */
static int tick_timeout(const struct run *r, u64 next)
{
	u64 now = clock_mono_ns();

	if (!r->sink->tick)
		return -1;
	return now >= next ? 0 : (int)MIN((next - now) / NSEC_PER_MSEC + 1, 1000000ull);
}

static int wait_for_events(struct run *r, int child_fd)
{
	struct pollfd *polls = xcalloc(6 + r->timed.len, sizeof(*polls));
	u64 next = clock_mono_ns() + r->sink->tick_ns, give_back = 0;
	int rc = 0;

	while (!r->stopping && !r->output_error && !stop_requested()) {
		size_t n = fill_polls(r, polls, child_fd);

		if (poll(polls, (nfds_t)n, tick_timeout(r, next)) < 0 && errno != EINTR) {
			rc = -errno;
			break;
		}
		mem_give_back(&give_back);
		unwinder_serve(r->c->unwinder);
		procmaps_drain(r->maps);
		run_skb_drain(r);
		run_drain(r);
		run_timers(r, polls + 3);
		if (polls[2].revents) {
			run_drain(r);
			break;
		}
		if (r->sink->tick && clock_mono_ns() >= next) {
			next += r->sink->tick_ns;
			r->stopping = r->stopping || r->sink->tick(r->sink->ctx);
		}
	}
	free(polls);
	return rc;
}

void run_read_counters(struct run *r)
{
	u32 zero = 0;

	r->misses = 0;
	vec_each(it, &r->prog_fds)
		r->misses += bpfsys_prog_misses(*it);
	if (r->c->counter_map)
		bpfsys_map_lookup(r->map_fds.items[r->c->counter_map - 1], &zero, r->counters);
}

/* No more hits: links go, slow ones are switched off and closed later. */
static void disarm(struct run *r)
{
	const u32 first = 0;
	const u64 yes = 1;

	if (r->c->stop_map && r->map_fds.len >= r->c->stop_map)
		bpfsys_map_update(r->map_fds.items[r->c->stop_map - 1], &first, &yes, BPF_ANY);
	vec_each(it, &r->fds)
		close(*it);
	vec_clear(&r->fds);
	vec_each(it, &r->slow_fds)
		ioctl(*it, PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * Programs that were running when their links went may still write to maps. The kernel waits for
 * them in a grace period; END needs that if it clears or prints maps.
 */
static void wait_for_running_programs(const struct run *r)
{
	vec_each(it, &r->c->targets) {
		if (it->provider == &probe_end) {
			syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
			return;
		}
	}
}

int run_loop(struct run *r, int child_fd, struct err *e)
{
	bool shows_maps;
	int rc = 0;

	run_drain(r);
	if (r->c->opts->mode != LANG_TRACE) {
		rc = r->c->opts->mode == LANG_TEST ? run_tests(r, e) : run_benches(r, e);
		if (rc < 0)
			return rc;
	} else {
		run_iters(r);
		if (!r->stopping && !nothing_to_wait_for(r, child_fd))
			rc = wait_for_events(r, child_fd);
		if (rc < 0)
			return err_sys(e, -rc, "cannot wait for events");
	}
	disarm(r);
	wait_for_running_programs(r);
	run_skb_drain(r);
	run_drain(r);
	r->ending = true;
	rc = run_timed(r, &probe_end, e);
	run_drain(r);
	run_read_counters(r);
	shows_maps = !r->c->opts->compat || r->c->opts->mode != LANG_BENCH;
	if (!r->output_error && r->c->opts->compat && shows_maps && r->c->opts->format == LANG_TEXT)
		run_write(r, false, "\n\n", 2);
	if (!r->output_error && shows_maps && r->c->config.print_maps_on_exit)
		run_print_maps(r);
	if (r->output_error == -EPIPE || !r->output_error)
		return rc < 0 ? rc : r->exit_code;
	return err_sys(e, -r->output_error, "cannot write the output");
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Grandchild: waits until it holds the last reference, then closes for as long as it takes. */
static void close_in_background(const struct run *r, const int pipes[2])
{
	int null = open("/dev/null", O_RDWR);
	char byte;

	/* A reader that waits for the end of our output must not wait for this. */
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	setsid();
	close(pipes[1]);
	if (fork() == 0) {
		while (read(pipes[0], &byte, 1) < 0 && errno == EINTR)
			;
		vec_each(it, &r->slow_fds)
			close(*it);
	}
	_exit(0);
}

/* Closing a perf tracepoint takes the kernel 50 to 100 ms each: a child does it, we go on. */
static void close_slow(struct run *r, bool background)
{
	int pipes[2] = { -1, -1 };
	pid_t pid = -1;

	if (!r->slow_fds.len)
		return;
	vec_each(it, &r->slow_fds)
		ioctl(*it, PERF_EVENT_IOC_DISABLE, 0);
	if (background && pipe2(pipes, O_CLOEXEC) == 0)
		pid = fork();
	if (pid == 0)
		close_in_background(r, pipes);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	vec_each(it, &r->slow_fds)
		close(*it);
	vec_clear(&r->slow_fds);
	if (pipes[0] >= 0) {
		close(pipes[0]);
		close(pipes[1]);
	}
}

void run_close(struct run *r, bool background)
{
	disarm(r);
	close_slow(r, background);
	run_skb_close(r);
	vec_each(it, &r->prog_fds) {
		if (*it >= 0)
			close(*it);
	}
	vec_clear(&r->prog_fds);
	if (r->ring.consumer) {
		munmap(r->ring.producer, r->ring.page + 2 * (r->ring.mask + 1));
		munmap(r->ring.consumer, r->ring.page);
		r->ring.consumer = NULL;
	}
	vec_each(it, &r->map_fds)
		close(*it);
	vec_clear(&r->map_fds);
}

void run_release(struct run *r)
{
	run_close(r, false);
	vec_release(&r->map_fds);
	vec_release(&r->prog_fds);
	vec_release(&r->fds);
	vec_release(&r->slow_fds);
	vec_release(&r->timed);
	vec_release(&r->iters);
	vec_release(&r->code);
	buf_release(&r->line);
	procmaps_free(r->maps);
	symbols_free(r->symbols);
}
