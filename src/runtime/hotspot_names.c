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

enum { METHODS_MOST = 1 << 18 }; /* of a process that are remembered */

/* Whether a new round has begun, in which each method is read again. */
static void count_rounds(struct hotspot *h)
{
	u64 now = clock_mono_ns();

	if (h->methods_round && now - h->methods_read < NSEC_PER_SEC)
		return;
	h->methods_before = h->methods_read;
	h->methods_read = now;
	h->methods_round++;
	if (h->methods.len > METHODS_MOST)
		map_clear(&h->methods);
}

void hotspot_name_word(struct hotspot *h, u64 word)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	u64 method = unwind_method(word), *known;
	u32 before, now = 0;

	if (!method || !h->names)
		return;
	count_rounds(h);
	known = map_at(&h->methods, method);
	if (*known >> 32 == h->methods_round)
		return;
	before = (u32)*known;
	if (hotspot_method_name(h, method, &name))
		now = intern_str(&h->names->strings, buf_str(&name)) + 1;
	else
		now = before; /* its process may be gone: what it was is known */
	*known = (u64)h->methods_round << 32 | now;
	if (now && now != before)
		code_names_add(h->names,
			       &(struct code_name){
				       .pid = (u32)h->pid,
				       .time = before ? h->methods_before : 0,
				       .sure = before ? clock_mono_ns() : 0,
				       .start = word & ~(u64)1,
				       .size = UNWIND_METHOD_SIZE,
			       },
			       buf_str(&name));
}
