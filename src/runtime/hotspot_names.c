/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a method of java is called: from the method to its constant pool, and the texts there. */
#include "runtime/hotspot.h"

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
