/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/python_names.h"

#include "base/hash.h"
#include "host/procfs.h"

void python_names_init(struct python_names *p)
{
	*p = (struct python_names){ .end = PYTHON_LINE_UNITS };
	vec_push(&p->functions,
		 (struct python_function){ .size = PYTHON_LINE_UNITS,
					   .name = intern_str(&p->strings, PYTHON_UNREADABLE) });
	intern_str(&p->keys, "");
}

static void forget_codes(struct python_names *p)
{
	vec_each(t, &p->tables)
		free(t->items);
	vec_clear(&p->tables);
	map_clear(&p->by_lines);
	p->n_lines = 0;
	vec_clear(&p->codes);
	map_clear(&p->by_code);
}

void python_names_release(struct python_names *p)
{
	forget_codes(p);
	vec_release(&p->codes);
	vec_release(&p->tables);
	map_release(&p->by_lines);
	vec_release(&p->functions);
	map_release(&p->by_code);
	python_lives_release(&p->lives);
	intern_release(&p->strings);
	intern_release(&p->keys);
}

/* --- the process's memory --------------------------------------------------------------------- */

static u64 u64_at(const u8 *bytes, u32 offset)
{
	u64 v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

static u32 u32_at(const u8 *bytes, u32 offset)
{
	u32 v;

	memcpy(&v, bytes + offset, sizeof(v));
	return v;
}

/* A name must stay on its line. */
static void add_character(struct buf *b, u32 c)
{
	buf_addutf8(b, c < 0x20 || c == 0x7f || c > 0x10ffff ? '?' : c);
}

/* A str: its state holds 2 bits of interning, 3 of the characters' width, compact, ASCII. */
static int read_text(const struct python_objects *o, int pid, u64 address, struct buf *ret)
{
	u8 head[PYTHON_TEXT_BYTES], chars[PYTHON_MAX_TEXT * 4];
	int rc = procfs_memory(pid, address, head, sizeof(head));

	/* near the end of a mapping there may be less */
	if (rc == -EFAULT)
		rc = procfs_memory(pid, address, head, o->text_wide);
	if (rc)
		return rc;
	u64 n = u64_at(head, o->text_size);
	u32 state = u32_at(head, o->text_state), width = state >> 2 & 7;
	bool compact = state >> 5 & 1, ascii = state >> 6 & 1;

	if (!compact || (width != 1 && width != 2 && width != 4) || n > INT32_MAX)
		return -EBADMSG;
	n = MIN(n, (u64)PYTHON_MAX_TEXT);
	rc = procfs_memory(pid, address + (ascii ? o->text_ascii : o->text_wide), chars, n * width);
	for (size_t i = 0; i < n && !rc; i++) {
		u32 c = 0;

		memcpy(&c, chars + i * width, width);
		add_character(ret, c);
	}
	return rc;
}

/* --- functions -------------------------------------------------------------------------------- */

static u32 function_of(struct python_names *p, const struct buf *name, const struct buf *file,
		       u32 first, u32 last)
{
	_cleanup_buf_ struct buf key = BUF_INIT;
	u64 size = (u64)(last - first + 1) * PYTHON_LINE_UNITS;

	buf_add(&key, buf_str(name), name->len + 1);
	buf_add(&key, buf_str(file), file->len + 1);
	buf_add(&key, &first, sizeof(first));
	buf_add(&key, &last, sizeof(last));
	u32 id = intern_find(&p->keys, key.data, key.len);

	if (id)
		return id - 1;
	if (p->functions.len == PYTHON_MAX_FUNCTIONS || size > PYTHON_MAP_SIZE - p->end)
		return 0;
	id = intern_bytes(&p->keys, key.data, key.len);
	vec_push(&p->functions,
		 (struct python_function){ .start = p->end,
					   .size = size,
					   .name = intern_str(&p->strings, buf_str(name)),
					   .file = intern_str(&p->strings, buf_str(file)),
					   .line = first });
	p->end += size;
	return id - 1;
}

/* A table with these lines, which may be that of another process. */
static const struct python_line *share_lines(struct python_names *p,
					     const struct python_line *lines, u32 n)
{
	u64 hash = hash_bytes(lines, n * sizeof(*lines));

	for (;; hash++) {
		u64 *at = map_at(&p->by_lines, hash);
		const struct python_line_table *t = *at ? &p->tables.items[*at - 1] : NULL;

		if (t && t->n == n && !memcmp(t->items, lines, n * sizeof(*lines)))
			return t->items;
		if (t)
			continue;
		vec_push(&p->tables,
			 (struct python_line_table){ xmemdup(lines, n * sizeof(*lines)), n });
		*at = p->tables.len;
		p->n_lines += n;
		return vec_last(&p->tables)->items;
	}
}

static int read_lines(struct python_names *p, const struct python_objects *o, int pid, u64 table,
		      u32 first, struct python_code *c)
{
	_cleanup_free_ struct python_line *lines = NULL;
	_cleanup_free_ u8 *bytes = NULL;
	u64 n;
	int rc = procfs_memory(pid, table + o->bytes_size, &n, sizeof(n));

	if (rc)
		return rc;
	if (n > PYTHON_MAX_TABLE)
		return -EFBIG;
	bytes = xmalloc(n + 1);
	rc = procfs_memory(pid, table + o->bytes_data, bytes, n);
	if (rc)
		return rc;
	lines = xcalloc(n + 1, sizeof(*lines));
	c->n_lines = (u32)python_lines(bytes, n, first, lines, n);
	if (c->n_lines)
		c->lines = share_lines(p, lines, c->n_lines);
	return 0;
}

static int read_code(struct python_names *p, const struct python_objects *o, int pid,
		     const u8 *bytes, struct python_code *c)
{
	_cleanup_buf_ struct buf name = BUF_INIT, file = BUF_INIT;
	u32 first = u32_at(bytes, o->code_line), last;
	int rc = read_text(o, pid, u64_at(bytes, o->code_name), &name);

	if (!rc)
		rc = read_text(o, pid, u64_at(bytes, o->code_file), &file);
	if (rc)
		return rc;
	if (first > PYTHON_MAX_LINE)
		return -EBADMSG;
	/* without its table a function still has a name and a first line */
	if (read_lines(p, o, pid, u64_at(bytes, o->code_lines), first, c))
		c->n_lines = 0;
	last = first;
	for (u32 i = 0; i < c->n_lines; i++) {
		if (!c->lines[i].line)
			continue;
		first = MIN(first, c->lines[i].line);
		last = MAX(last, c->lines[i].line);
	}
	c->function = function_of(p, &name, &file, first, last);
	return 0;
}

static u64 identity_of(const struct python_objects *o, const u8 *bytes)
{
	u64 h = hash_mix(u64_at(bytes, o->code_name), u64_at(bytes, o->code_file));

	return hash_mix(hash_mix(h, u64_at(bytes, o->code_lines)), u32_at(bytes, o->code_line));
}

/* --- code objects of a life ------------------------------------------------------------------- */

/* A stack at work. */
struct reading {
	struct python_names *p;
	const struct python_objects *objects;
	u64 round;
	u32 failed; /* the life whose memory does not have what the stack is about */
};

static u64 code_key(u32 life, u64 address)
{
	return hash_mix(hash_mix(life, 7), address);
}

static const struct python_code *known_code(const struct python_names *p, u32 life, u64 address)
{
	u64 at = map_get(&p->by_code, code_key(life, address), 0);
	const struct python_code *c = at ? &p->codes.items[at - 1] : NULL;

	return c && c->function ? c : NULL;
}

static struct python_code *code_at(struct python_names *p, u32 life, u64 address)
{
	u64 *at = map_at(&p->by_code, code_key(life, address));

	if (!*at) {
		vec_push(&p->codes, (struct python_code){ 0 });
		*at = p->codes.len;
	}
	return &p->codes.items[*at - 1];
}

/* What the child has at an address it has from its parent, if it is the same still. */
static bool take_from_parent(const struct reading *r, u32 life, u64 address,
			     struct python_code *fresh)
{
	for (int i = 0; i < PYTHON_LIFE_STEPS; i++) {
		life = python_lives_origin(&r->p->lives, life);
		const struct python_code *c = life ? known_code(r->p, life, address) : NULL;

		if (!life)
			break;
		if (!c || c->identity != fresh->identity)
			continue;
		fresh->function = c->function;
		fresh->n_lines = c->n_lines;
		fresh->lines = c->lines;
		return true;
	}
	return false;
}

/* Makes sure that the code object is what it was; that stays if it cannot be read. */
static void check_code(struct reading *r, u32 life, u64 address)
{
	const struct python_objects *o = r->objects;
	struct python_life *of = &r->p->lives.items.items[life];
	struct python_code *c = code_at(r->p, life, address);
	struct python_code fresh = { .checked = r->round };
	u8 bytes[PYTHON_CODE_BYTES];

	if (c->checked == r->round)
		return;
	u32 n = MAX(MAX(o->code_file, o->code_name), MAX(o->code_line, o->code_lines)) + 8;
	int rc = procfs_memory((int)of->pid, address, bytes, n);

	if (rc == -ESRCH)
		of->gone = r->round;
	if (rc) {
		r->failed = life;
		return;
	}
	fresh.identity = identity_of(o, bytes);
	if (c->checked && c->identity == fresh.identity) {
		c->checked = r->round;
		return;
	}
	if (take_from_parent(r, life, address, &fresh) ||
	    !read_code(r->p, o, (int)of->pid, bytes, &fresh))
		*c = fresh;
}

static bool is_readable(const struct reading *r, u32 life, u32 before)
{
	const struct python_life *of = &r->p->lives.items.items[life];

	/* where one is missing, all are, unless there is nowhere else to look */
	return !of->over && of->gone != r->round && (r->failed != life || !before);
}

/* NULL: it cannot be read, in no life that the memory may be from. */
static const struct python_code *find_code(struct reading *r, u32 life, u64 address)
{
	const struct python_code *c = NULL;

	for (int i = 0; !c && life && i < PYTHON_LIFE_STEPS; i++) {
		u32 before = python_lives_origin(&r->p->lives, life);

		if (is_readable(r, life, before))
			check_code(r, life, address);
		c = known_code(r->p, life, address);
		life = before;
	}
	return c;
}

/* --- addresses -------------------------------------------------------------------------------- */

static u32 line_of(const struct python_code *c, u32 instr, u32 otherwise)
{
	u32 lo = 0, hi = c->n_lines;

	if (instr == UNWIND_PYTHON_NO_INSTR)
		return otherwise;
	while (lo < hi) {
		u32 mid = lo + (hi - lo) / 2;

		if (c->lines[mid].instr <= instr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && c->lines[lo - 1].line ? c->lines[lo - 1].line : otherwise;
}

static u64 address_of(struct reading *r, u32 life, u64 word)
{
	static const struct python_code none = { 0 };
	const struct python_code *c = find_code(r, life, unwind_python_code(word));

	r->p->unreadable += !c;
	if (!c)
		c = &none;
	const struct python_function *f = &r->p->functions.items[c->function];
	u32 line = line_of(c, unwind_python_instr(word), f->line) - f->line;

	if ((u64)line * PYTHON_LINE_UNITS >= f->size)
		line = 0;
	return PYTHON_MAP_START + f->start + (u64)line * PYTHON_LINE_UNITS + 1;
}

/* What is known of lives and of their code goes together. */
static void make_room(struct python_names *p)
{
	if (p->codes.len < PYTHON_MAX_CODES && p->lives.items.len < PYTHON_MAX_LIVES &&
	    p->n_lines < PYTHON_MAX_LINES)
		return;
	forget_codes(p);
	python_lives_forget(&p->lives);
}

u64 python_names_address(struct python_names *p, const struct python_build *b, int pid, u64 word,
			 u64 round)
{
	struct reading r = { .p = p, .objects = &b->objects, .round = round };

	make_room(p);
	return address_of(&r, python_lives_of(&p->lives, (u32)pid), word);
}

static const struct python_function *find(const struct python_function *f, size_t n, u64 offset)
{
	size_t lo = 0;

	while (lo < n) {
		size_t mid = lo + (n - lo) / 2;

		if (offset < f[mid].start)
			n = mid;
		else if (offset - f[mid].start >= f[mid].size)
			lo = mid + 1;
		else
			return &f[mid];
	}
	return NULL;
}

const struct python_function *python_names_find(const struct python_names *p, u64 address)
{
	if (address < PYTHON_MAP_START)
		return NULL;
	return find(p->functions.items, p->functions.len, address - PYTHON_MAP_START);
}

/* --- in recordings ---------------------------------------------------------------------------- */

static void put(struct buf *b, u64 v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addch(b, (char)(v | 0x80));
	buf_addch(b, (char)v);
}

static void put_text(struct buf *b, const char *s)
{
	put(b, strlen(s));
	buf_addstr(b, s);
}

void python_names_export(const struct python_names *p, struct buf *ret)
{
	u64 previous = 0;

	if (!p->functions.len)
		return;
	put(ret, 0); /* no build id */
	put_text(ret, PYTHON_MAP_NAME);
	for (int i = 0; i < 4; i++)
		put(ret, 0); /* device, inode, generation */
	put(ret, p->functions.len);
	vec_each(f, &p->functions) {
		put(ret, f->start - previous);
		put(ret, f->size);
		put(ret, 0);
		put_text(ret, intern_get(&p->strings, f->name));
		previous = f->start;
	}
}

#define LINES_MAGIC "FPYL\1"
enum { LINES_MAGIC_LEN = 5 };

void python_names_export_lines(const struct python_names *p, struct buf *ret)
{
	u64 previous = 0;

	if (!p->functions.len)
		return;
	buf_add(ret, LINES_MAGIC, LINES_MAGIC_LEN);
	vec_each(f, &p->functions) {
		put(ret, f->start - previous);
		put(ret, f->size);
		put(ret, f->line);
		put_text(ret, intern_get(&p->strings, f->file));
		previous = f->start;
	}
}

void python_source_release(struct python_source *s)
{
	vec_release(&s->functions);
	intern_release(&s->files);
}

static bool get(const u8 **p, const u8 *end, u64 *ret)
{
	u64 v = 0;

	for (unsigned int shift = 0; shift < 64 && *p < end; shift += 7) {
		u8 byte = *(*p)++;

		v |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

static bool get_function(struct python_source *s, const u8 **p, const u8 *end, u64 *start)
{
	u64 delta, size, line, n;

	if (!get(p, end, &delta) || !get(p, end, &size) || !get(p, end, &line) ||
	    !get(p, end, &n) || n > (u64)(end - *p) || line > PYTHON_MAX_LINE ||
	    delta > PYTHON_MAP_SIZE - *start || size > PYTHON_MAP_SIZE - *start - delta)
		return false;
	if (s->functions.len && delta < vec_last(&s->functions)->size)
		return false;
	*start += delta;
	vec_push(&s->functions, (struct python_function){ .start = *start,
							  .size = size,
							  .line = (u32)line,
							  .file = intern_bytes(&s->files, *p, n) });
	*p += n;
	return true;
}

int python_source_read(struct python_source *s, const void *bytes, size_t n, struct err *e)
{
	const u8 *p = bytes, *end = p + n;
	u64 start = 0;

	if (n < LINES_MAGIC_LEN || memcmp(p, LINES_MAGIC, LINES_MAGIC_LEN) != 0)
		return err_set(e, EBADMSG,
			       "the Python lines in the recording have an unknown form");
	for (p += LINES_MAGIC_LEN; p < end;) {
		if (get_function(s, &p, end, &start))
			continue;
		python_source_release(s);
		*s = (struct python_source){ 0 };
		return err_set(e, EBADMSG, "the Python lines in the recording are broken");
	}
	return 0;
}

bool python_source_find(const struct python_source *s, u64 offset, const char **ret_file,
			u32 *ret_line)
{
	const struct python_function *f = find(s->functions.items, s->functions.len, offset);

	if (!f || !intern_len(&s->files, f->file))
		return false;
	*ret_file = intern_get(&s->files, f->file);
	*ret_line = f->line + (u32)((offset - f->start) / PYTHON_LINE_UNITS);
	return true;
}

/* The code objects are still those that the stack had, or it cannot be known. */
static bool is_same_code(const struct python_objects *o, const struct python_stack *from)
{
	u64 hash = 0, name;

	for (size_t i = 0; from->names && i < from->n; i++) {
		if (!(from->words[i] & UNWIND_PYTHON_BIT))
			continue;
		if (procfs_memory((int)from->whose.pid,
				  unwind_python_code(from->words[i]) + o->code_name, &name,
				  sizeof(name)))
			return true;
		hash = unwind_python_named(hash, name);
	}
	return !from->names || unwind_python_names(hash) == from->names;
}

bool python_names_replace(struct python_names *p, const struct python_build *b,
			  const struct python_stack *from, u64 round, u64 *to)
{
	struct reading r = { .p = p, .objects = b ? &b->objects : NULL, .round = round };
	bool any = false;
	u32 life;

	make_room(p);
	life = python_lives_find(&p->lives, &from->whose);
	for (size_t i = 0; i < from->n; i++) {
		to[i] = from->words[i];
		if (!(to[i] & UNWIND_PYTHON_BIT))
			continue;
		any = true;
		to[i] = b ? address_of(&r, life, to[i]) : PYTHON_MAP_START + 1;
	}
	/* freed and replaced since: no name rather than a wrong one */
	if (any && b && !is_same_code(&b->objects, from)) {
		for (size_t i = 0; i < from->n; i++) {
			if (!(from->words[i] & UNWIND_PYTHON_BIT))
				continue;
			to[i] = PYTHON_MAP_START + 1;
			p->unreadable++;
		}
	}
	return any;
}
