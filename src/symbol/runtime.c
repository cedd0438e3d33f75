/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run-time code of processes: what src/runtime finds in their files becomes symbols with ids. */
#include "symbol/store.h"

#include "base/hash.h"
#include "symbol/open.h"

enum { RUNTIME_MAX_PROCESSES = 65536 };

/* Where the jitdump of a process is. */
struct dump_place {
	struct module_key key; /* its strings are the store's */
	bool offline;
};

void runtime_names_free(struct runtime_names *r)
{
	jit_release(&r->jit);
	answers_release(&r->answers);
	vec_release(&r->times);
	free(r->dump);
	free(r);
}

struct runtime_names *runtime_names_of(struct symbols *s, pid_t pid)
{
	struct runtime_names *r;
	u64 *index;

	if (s->runtimes.len >= RUNTIME_MAX_PROCESSES && !map_find(&s->runtime_of_pid, (u64)pid))
		return NULL;
	index = map_at(&s->runtime_of_pid, (u64)pid);
	if (*index)
		return s->runtimes.items[*index - 1];
	r = xcalloc(1, sizeof(*r));
	jit_init(&r->jit, pid, s->opts.offline);
	vec_push(&s->runtimes, r);
	*index = s->runtimes.len;
	return r;
}

static int open_dump(const void *ctx, unsigned int way)
{
	const struct dump_place *place = ctx;

	if (way >= WAY_COUNT)
		return -ENOTSUP;
	if (place->offline && way != WAY_PATH)
		return -ENOENT;
	return module_open(&place->key, (enum module_way)way);
}

void runtime_note_dump(struct symbols *s, const struct module_key *key)
{
	struct runtime_names *r = runtime_names_of(s, key->pid);

	if (!r)
		return;
	if (!r->dump)
		r->dump = xcalloc(1, sizeof(*r->dump));
	*r->dump = (struct dump_place){ .key = *key, .offline = s->opts.offline };
	jit_set_dump(&r->jit, open_dump, r->dump);
}

static u32 new_answer(struct symbols *s, struct runtime_names *r, u64 start, u64 size,
		      const struct answer_time *when, const char *raw)
{
	const u32 name = intern_str(&s->names, raw);
	const u64 key = hash_mix(hash_mix(start, name), when->time);
	const struct symbol *known = answers_find(&r->answers, key);

	if (!known) {
		const struct symbol ret = { .start = start,
					    .size = size,
					    .flags = SYM_JIT,
					    .raw_name = intern_get(&s->names, name),
					    .name = intern_get(&s->names,
							       store_shown_name(s, raw, "")) };

		known = answers_add(&r->answers, key, &ret);
		vec_push(&r->times, *when);
		s->several += when->several;
	}
	return known->id;
}

/* Times by another clock than ours mean nothing to others. */
static struct answer_time when_of(const struct jit_code *c)
{
	if (c->strings->own_clock)
		return (struct answer_time){ .several = c->dumped->several };
	return (struct answer_time){ .time = c->dumped->time,
				     .sure = c->dumped->sure,
				     .several = c->dumped->several };
}

static const struct symbol *answer(struct symbols *s, struct runtime_names *r,
				   const struct jit_code *c)
{
	u32 *result = c->dumped ? &c->dumped->result : &c->mapped->result;

	if (!*result && c->dumped) {
		const struct answer_time when = when_of(c);

		*result = new_answer(s, r, c->dumped->start, c->dumped->size, &when,
				     jitdump_str(c->strings, c->dumped->name));
	} else if (!*result) {
		*result = new_answer(s, r, c->mapped->start, c->mapped->size,
				     &(struct answer_time){ 0 },
				     perfmap_name(&r->jit.map, c->mapped));
	}
	return &r->answers.list.items[*result - 1];
}

/* "B or A": each of them has its share in what is asked about. */
static void join_names(const struct jitdump *d, const u32 *names, size_t n, struct buf *ret)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(ret, "%s%s", i ? " or " : "",
			 names[i] ? jitdump_str(d, names[i]) : "others");
}

/* The code that was there at that moment; of sums, which do not tell when, since we began. */
static const struct symbol *answer_dumped(struct symbols *s, struct runtime_names *r,
					  const struct jit_code *c, u64 address, u64 time_ns)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	struct answer_time when = when_of(c);
	const bool latest = !time_ns && s->opts.offline;
	u32 names[JITDUMP_NAMES_MOST], id;
	const size_t n = latest ? 1
				: jitdump_names(c->strings, address, time_ns ? time_ns : s->began,
						time_ns ? time_ns : UINT64_MAX, names);

	if (n < 2)
		return answer(s, r, c);
	join_names(c->strings, names, n, &name);
	when.several = true;
	id = new_answer(s, r, c->dumped->start, c->dumped->size, &when, buf_str(&name));
	return &r->answers.list.items[id - 1];
}

u64 symbols_several(const struct symbols *s)
{
	return s->several;
}

bool symbols_jit(struct symbols *s, pid_t pid, pid_t nspid, const char *root, u64 address,
		 u64 time_ns, struct symbol *ret)
{
	struct runtime_names *r = runtime_names_of(s, pid);
	struct jit_code c;

	if (!r || !jit_find(&r->jit, nspid, root, address, time_ns, &c))
		return false;
	*ret = c.dumped ? *answer_dumped(s, r, &c, address, time_ns) : *answer(s, r, &c);
	return true;
}

static struct jit *known_jit(const struct symbols *s, pid_t pid)
{
	const u64 index = map_get(&s->runtime_of_pid, (u64)pid, 0);

	return index ? &s->runtimes.items[index - 1]->jit : NULL;
}

u64 symbols_jit_changes(struct symbols *s, pid_t pid, u64 time_ns)
{
	struct jit *j = known_jit(s, pid);

	return j ? jit_changes(j, time_ns) : 0;
}

bool symbols_jit_line(struct symbols *s, pid_t pid, u64 address, u64 time_ns,
		      struct source_frame *ret)
{
	struct jit *j = known_jit(s, pid);
	const struct jitdump_line *line = j ? jit_line(j, address, time_ns) : NULL;
	u32 file;

	if (!line || !line->file)
		return false;
	file = store_shown_text(s, jitdump_str(&j->dump, line->file));
	*ret = (struct source_frame){ .file = intern_get(&s->names, file), .line = line->line };
	return true;
}

int symbols_jit_unwind(struct symbols *s, pid_t pid, u64 address, u64 time_ns,
		       struct jit_unwind *ret, struct buf *ret_bytes)
{
	struct jit *j = known_jit(s, pid);

	return j ? jit_unwind_bytes(j, address, time_ns, ret, ret_bytes) : -ENOENT;
}

int symbols_jit_bytes(struct symbols *s, pid_t pid, u64 address, u64 time_ns, size_t max,
		      struct buf *ret)
{
	struct jit *j = known_jit(s, pid);

	return j ? jit_code_bytes(j, address, time_ns, max, ret) : -ENOENT;
}

const char *symbols_jit_why(const struct symbols *s, pid_t pid)
{
	const struct jit *j = known_jit(s, pid);

	return j ? j->why : NULL;
}
