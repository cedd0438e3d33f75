/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code/listing.h"

#include "base/buf.h"
#include "code/kcore.h"
#include "host/procfs.h"
#include "runtime/hotspot.h"

static int missing_file(const struct hits *h, const struct hits_function *f, struct err *e)
{
	struct module_info info;

	err_set(e, ENOENT, "the code of '%s' cannot be read: '%s' is not here as it was recorded",
		f->name, f->dso ? f->dso : "its file");
	if (symbols_module_info(h->symbols, f->module, &info) && info.build_id_len)
		err_hint(e, "another file has its place, or none: bring the one with the recorded "
			    "build id ('fathom buildid-list' names it), or use 'fathom archive' "
			    "where it was recorded");
	else
		err_hint(e, "bring the file that was recorded");
	return -ENOENT;
}

static int kernel_bytes(const struct hits_function *f, const struct listing_opts *o, u64 from,
			size_t n, struct buf *ret, struct err *e)
{
	const char *path = o->vmlinux ? o->vmlinux : "/proc/kcore";
	ssize_t got = kcore_read(path, f->start + from, buf_reserve(ret, n), n, e);

	if (got < 0) {
		err_prefix(e, "the code of '%s' cannot be read", f->name);
		err_hint(e, "root can read /proc/kcore of the running kernel; --vmlinux names a "
			    "file of another");
		return (int)got;
	}
	buf_added(ret, (size_t)got);
	return 0;
}

/* The same function is at the same place now. */
static bool is_there(struct symbols *now, const struct hits_function *f)
{
	struct symbol s;

	return symbols_jit(now, f->pid, 0, NULL, f->start, 0, &s) && s.start == f->start &&
	       s.size == f->size && streq(s.name, f->name);
}

/* What java has compiled, as its own structures tell. */
static bool is_in_java(struct symbols *now, const struct hits_function *f)
{
	struct code_names names = { 0 };
	struct hotspot java;
	bool ok = hotspot_init(&java, f->pid, NULL) == 0;

	if (ok) {
		java.names = &names;
		ok = hotspot_refresh(&java, NULL) == 0;
		(void)symbols_code_take(now, &names, 0);
		ok = ok && is_there(now, f);
		hotspot_release(&java);
	}
	code_names_release(&names);
	return ok;
}

/*
 * From the memory of the process, while it is there: by its map of run-time code, or java's own
 * description, the same function must be at the same place as was recorded.
 */
static bool process_bytes(const struct hits_function *f, size_t n, struct buf *ret)
{
	struct symbols *now = symbols_new(NULL);
	bool ok = f->pid > 0 && (is_there(now, f) || is_in_java(now, f)) &&
		  procfs_memory(f->pid, f->start, buf_reserve(ret, n), n) == 0;

	if (ok)
		buf_added(ret, n);
	symbols_free(now);
	return ok;
}

static int jit_bytes(const struct hits *h, const struct hits_function *f, size_t n, bool *ret_live,
		     struct buf *ret, struct err *e)
{
	int r = symbols_jit_bytes(h->symbols, f->pid, f->start, f->time, n, ret);

	if (r >= 0)
		return r;
	*ret_live = process_bytes(f, n, ret);
	if (*ret_live)
		return 0;
	err_set(e, -r, "the code of '%s' was made at run time and not kept", f->name);
	err_hint(e,
		 "a jitdump keeps it: java with perf's agent, node --perf-prof, python3 -X "
		 "perf_jit; or ask while process %d runs, if it is java or has a map of its code",
		 f->pid);
	return r;
}

/*
 * Of a function that is too long the part with most samples: it begins at one of them, and so at an
 * instruction. Run-time code is kept from its start.
 */
static u64 busiest_part(const struct hits_function *f, const struct hit *hits, size_t n)
{
	u64 most = 0, sum = 0, from = 0;
	size_t end = 0;

	if (f->size <= LISTING_BYTES_MOST || (!f->module && f->kind != PLACE_KERNEL))
		return 0;
	for (size_t i = 0; i < n; i++) {
		for (; end < n && hits[end].address - hits[i].address < LISTING_BYTES_MOST; end++)
			for (size_t k = 0; k < HITS_EVENTS_MOST; k++)
				sum += hits[end].samples[k];
		if (sum > most) {
			most = sum;
			from = hits[i].address - f->start;
		}
		for (size_t k = 0; k < HITS_EVENTS_MOST; k++)
			sum -= hits[i].samples[k];
	}
	return from < f->size ? from : 0;
}

static int read_bytes(const struct hits *h, const struct hits_function *f, u64 from,
		      const struct listing_opts *o, bool *ret_live, struct buf *ret, struct err *e)
{
	size_t n = (size_t)MIN(f->size - from, (u64)LISTING_BYTES_MOST);

	if (!n)
		return err_set(e, ENOENT, "'%s' has no known end", f->name);
	if (f->module) {
		size_t got = symbols_bytes(h->symbols, f->module, f->start + from,
					   buf_reserve(ret, n), n);

		buf_added(ret, got);
		return got ? 0 : missing_file(h, f, e);
	}
	if (f->kind != PLACE_KERNEL)
		return jit_bytes(h, f, n, ret_live, ret, e);
	*ret_live = !o->vmlinux;
	return kernel_bytes(f, o, from, n, ret, e);
}

/* --- lines ----------------------------------------------------------------------------------- */

static void add_source(struct hits *h, const struct hits_function *f, u64 offset,
		       struct listing_line *l)
{
	struct source_frame frames[LISTING_INLINES + 1];
	size_t n;

	if (!f->module) {
		struct source_frame one;

		if (f->kind == PLACE_JIT &&
		    symbols_jit_line(h->symbols, f->pid, f->start + offset, f->time, &one)) {
			l->file = one.file;
			l->line = one.line;
		}
		return;
	}
	n = symbols_lines(h->symbols, f->module, f->start + offset, frames, ARRAY_SIZE(frames));
	if (!n)
		return;
	l->file = frames[0].file;
	l->line = frames[0].line;
	while (l->depth < n && l->depth < LISTING_INLINES && frames[l->depth].inlined) {
		l->inlined[l->depth] = frames[l->depth].function;
		l->depth++;
	}
}

static void add_callee(struct hits *h, const struct hits_function *f, u64 address,
		       struct listing_line *l)
{
	u64 target = l->insn.target;
	struct symbol s;
	bool known;

	if (!l->insn.has_target ||
	    (l->insn.kind != INSN_CALL && target >= address && target - address < f->size))
		return;
	/* one segment has all code of a file: the distance is the same in it */
	if (f->module)
		known = symbols_lookup(h->symbols, f->module, f->start + (target - address), &s);
	else if (f->kind == PLACE_KERNEL)
		known = symbols_kernel(h->symbols, target, &s, NULL);
	else
		known = symbols_jit(h->symbols, f->pid, 0, NULL, target, f->time, &s);
	if (!known)
		return;
	l->callee = s.name;
	l->callee_offset = (f->module ? f->start + (target - address) : target) - s.start;
}

/* Each hit belongs to the instruction that its address is in. */
static void add_hits(struct listing *l, const struct hit *hits, size_t n)
{
	const struct hits_function *f = l->function;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		u64 offset = hits[i].address - f->start, address = l->address + offset;

		if (offset < l->from || offset - l->from >= l->code.len) {
			for (size_t k = 0; k < HITS_EVENTS_MOST; k++)
				l->samples_left_out += hits[i].samples[k];
			continue;
		}
		while (at + 1 < l->lines.len && l->lines.items[at + 1].insn.address <= address)
			at++;
		if (!l->lines.len)
			return;
		for (size_t k = 0; k < HITS_EVENTS_MOST; k++) {
			l->lines.items[at].samples[k] += hits[i].samples[k];
			l->lines.items[at].weight[k] += hits[i].weight[k];
		}
	}
}

static void add_lines(struct listing *l, struct hits *h, struct disasm *d, const struct buf *code)
{
	const struct hits_function *f = l->function;

	for (size_t at = 0; at < code->len;) {
		struct listing_line line = { 0 };

		disasm_next(d, (const u8 *)code->data + at, code->len - at,
			    l->address + l->from + at, &line.insn);
		add_source(h, f, l->from + at, &line);
		add_callee(h, f, l->address, &line);
		vec_push(&l->lines, line);
		at += line.insn.size;
	}
}

int listing_make(struct listing *l, struct hits *h, const struct hits_function *f,
		 const struct listing_opts *opts, struct err *e)
{
	struct disasm *d = NULL;
	const struct hit *hits;
	size_t n;
	int r;

	*l = (struct listing){ .function = f, .address = f->start, .code = BUF_INIT };
	hits = hits_of(h, (u32)(f - h->functions.items), &n);
	l->from = busiest_part(f, hits, n);
	r = read_bytes(h, f, l->from, opts, &l->live, &l->code, e);
	if (r >= 0)
		r = disasm_new(&d, buf_str(&h->arch), opts->syntax, e);
	if (r < 0)
		return r;
	if (f->module)
		(void)symbols_vaddr(h->symbols, f->module, f->start, &l->address);
	l->left_out = f->size - MIN(f->size, (u64)l->code.len);
	add_lines(l, h, d, &l->code);
	add_hits(l, hits, n);
	if (f->module && l->lines.len && !l->lines.items[0].file)
		l->why = symbols_lines_why(h->symbols, f->module, &l->why_hint);
	disasm_free(d);
	return 0;
}

void listing_release(struct listing *l)
{
	vec_release(&l->lines);
	buf_release(&l->code);
}
