/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a method of java is called: from the method to its constant pool, and the texts there. */
#include "runtime/hotspot.h"

#include "base/clock.h"

enum { TEXT_MAX = 1024 }; /* bytes of a name that are shown */

static u64 read_field(const struct hotspot *h, u64 object, enum hotspot_field_id id)
{
	u64 v = 0;

	if (!object || hotspot_read(h, object + h->field[id].offset, &v, h->field[id].size))
		return 0;
	return v;
}

/* Modified UTF-8, with '/' between the parts of a class's name. */
static bool read_text(const struct hotspot *h, u64 symbol, struct buf *ret)
{
	u64 n = read_field(h, symbol, HOTSPOT_TEXT_LENGTH) & 0xffff;
	char text[TEXT_MAX];

	n = MIN(n, (u64)TEXT_MAX);
	if (!n || hotspot_read(h, symbol + h->field[HOTSPOT_TEXT_BYTES].offset, text, n))
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = text[i];

		/* a name must stay on its line */
		if ((unsigned char)c < ' ' || c == 0x7f)
			c = '?';
		buf_addch(ret, c == '/' ? '.' : c);
	}
	return true;
}

bool hotspot_method_name(const struct hotspot *h, u64 method, struct buf *ret)
{
	u64 constant, pool, class, index, name = 0;

	if (!h->has_names || !method)
		return false;
	constant = read_field(h, method, HOTSPOT_METHOD_CONST);
	pool = read_field(h, constant, HOTSPOT_CONST_POOL);
	index = read_field(h, constant, HOTSPOT_CONST_NAME) & 0xffff;
	class = read_field(h, pool, HOTSPOT_POOL_CLASS);
	if (!index || hotspot_read(h, pool + h->pool_size + 8 * index, &name, sizeof(name)) ||
	    !read_text(h, read_field(h, class, HOTSPOT_CLASS_NAME), ret))
		return false;
	buf_addch(ret, '.');
	return read_text(h, name, ret);
}

void hotspot_mark_unseen(struct hotspot *h, const struct code_name *where)
{
	struct code_name mark = *where;

	mark.pid = (u32)h->pid;
	mark.sure--; /* what is there now came after it */
	code_names_add(h->names, &mark, HOTSPOT_NAMELESS);
}

/* --- interpreted methods ---------------------------------------------------------------------- */

enum { METHODS_MOST = 1 << 18 }; /* of a process that are remembered */

static struct hotspot_method *method_at(struct hotspot *h, u64 word)
{
	u64 *index;

	if (h->methods.len >= METHODS_MOST) {
		vec_clear(&h->methods);
		map_clear(&h->method_of);
	}
	index = map_at(&h->method_of, unwind_method(word));
	if (!*index) {
		vec_push(&h->methods, (struct hotspot_method){ .word = word });
		*index = h->methods.len;
	}
	return &h->methods.items[*index - 1];
}

/* False: the process has ended. */
static bool read_unloads(struct hotspot *h)
{
	u64 now;

	if (!h->unloads_at || hotspot_read(h, h->unloads_at, &now, sizeof(now)))
		return !h->unloads_at;
	if (!h->methods.len)
		h->unloads_began = now;
	h->unloads = now;
	return true;
}

static bool is_still_right(const struct hotspot *h, const struct hotspot_method *m, u64 now)
{
	if (!m->checked)
		return false;
	return h->unloads_at ? m->unloads == h->unloads : now - m->checked < NSEC_PER_SEC;
}

static void add_name(struct hotspot *h, const struct hotspot_method *m, u64 now, const char *name)
{
	const bool first = !m->checked;
	const struct code_name entry = { .pid = (u32)h->pid,
					 .time = m->checked,
					 .sure = first ? 0 : now,
					 .start = m->word & ~(u64)1,
					 .size = UNWIND_METHOD_SIZE };

	/* with one class less, what is there now followed what was there before */
	if (!first && (!h->unloads_at || h->unloads - m->unloads > 1))
		hotspot_mark_unseen(h, &entry);
	code_names_add(h->names, &entry, name);
}

static void check_method(struct hotspot *h, struct hotspot_method *m, u64 now)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	u32 id;

	if (!hotspot_method_name(h, unwind_method(m->word), &name))
		return;
	id = intern_str(&h->names->strings, buf_str(&name)) + 1;
	if (id != m->name)
		add_name(h, m, now, buf_str(&name));
	m->name = id;
	m->checked = now;
	m->unloads = h->unloads;
}

/* The process has ended: where classes had been unloaded, some may have been after the last look.
 */
static void end_method(struct hotspot *h, struct hotspot_method *m, u64 now)
{
	if (!m->checked || h->unloads == h->unloads_began)
		return;
	hotspot_mark_unseen(h, &(struct code_name){ .time = m->checked,
						    .sure = now,
						    .start = m->word & ~(u64)1,
						    .size = UNWIND_METHOD_SIZE });
	m->checked = 0;
}

void hotspot_name_word(struct hotspot *h, u64 word)
{
	const u64 now = clock_mono_ns();
	struct hotspot_method *m;
	bool alive;

	if (!unwind_method(word) || !h->names)
		return;
	alive = read_unloads(h);
	m = method_at(h, word);
	if (!alive)
		end_method(h, m, now);
	else if (is_still_right(h, m, now))
		m->checked = h->unloads_at ? now : m->checked;
	else
		check_method(h, m, now);
}

void hotspot_check_methods(struct hotspot *h)
{
	const u64 before = h->unloads, now = clock_mono_ns();
	bool alive;

	if (!h->unloads_at || !h->names || !h->methods.len)
		return;
	alive = read_unloads(h);
	if (alive && h->unloads == before)
		return;
	vec_each(m, &h->methods) {
		if (!alive)
			end_method(h, m, now);
		else if (m->checked)
			check_method(h, m, now);
	}
}
