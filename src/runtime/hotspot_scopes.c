/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Methods that the compiler inlined. Compiled code carries descriptors of its debug positions, each
 * with the chain of methods there; the chain at an address is that of the first position after it.
 *
 * Positions are calls and safepoints, unless java runs with -XX:+DebugNonSafepoints: for return
 * addresses the chain is exact, for the address of a sample it is that of the next position.
 */
#include "runtime/hotspot_scopes.h"

#include "base/clock.h"
#include "base/hash.h"

enum {
	POSITIONS_MOST = 1 << 16, /* of one method */
	CHAIN_MOST = 32,          /* methods at one position; deeper chains lose their callees */
	METADATA_MOST = 1 << 16,
	POSITION_BYTES = 64,
};

/* --- numbers ---------------------------------------------------------------------------------- */

/*
 * UNSIGNED5: bytes below a limit end a number, others carry 6 bits. From java 20 on no byte is 0:
 * each is one larger.
 */
bool hotspot_read_number(const u8 *bytes, size_t n, size_t *at, bool no_zero, u32 *ret)
{
	u32 least = no_zero ? 1 : 0, limit = no_zero ? 191 : 192, sum = 0;

	for (u32 i = 0; i < 5; i++) {
		u32 b;

		if (*at >= n || bytes[*at] < least)
			return false;
		b = bytes[(*at)++] - least;
		sum += b << 6 * i;
		if (b < limit || i == 4)
			break;
	}
	*ret = sum;
	return true;
}

/* --- chains ----------------------------------------------------------------------------------- */

struct scopes {
	const struct hotspot_code *code;
	const u8 *data; /* of scopes */
	size_t n_data;
	const u64 *methods; /* what the compiled code refers to, by index from 1 */
	size_t n_methods;
	bool no_zero;
};

/* The chain at a scope, innermost first; 0: it cannot be read. */
static size_t read_chain(const struct scopes *s, u32 scope, u64 chain[CHAIN_MOST])
{
	size_t n = 0;

	while (scope && n < CHAIN_MOST) {
		size_t at = scope;
		u32 sender, method;

		if (!hotspot_read_number(s->data, s->n_data, &at, s->no_zero, &sender) ||
		    !hotspot_read_number(s->data, s->n_data, &at, s->no_zero, &method) || !method ||
		    method > s->n_methods || (sender && sender >= scope))
			return 0;
		chain[n++] = s->methods[method - 1];
		scope = sender;
	}
	return scope ? 0 : n;
}

struct position {
	s32 pc; /* offset in the code */
	u32 scope;
};

static void read_position(const struct hotspot *h, const u8 *bytes, struct position *ret)
{
	memcpy(&ret->pc, bytes + h->field[HOTSPOT_PC_OFFSET].offset, 4);
	memcpy(&ret->scope, bytes + h->field[HOTSPOT_PC_SCOPE].offset, 4);
}

/* "outer->middle->inner", as perf-map-agent writes it. */
static bool chain_name(struct hotspot *h, const u64 *chain, size_t n, struct buf *ret)
{
	buf_reset(ret);
	for (size_t i = n; i--;) {
		if (!hotspot_method_name(h, chain[i], ret))
			return false;
		buf_addstr(ret, i ? "->" : "");
	}
	return true;
}

struct naming {
	struct hotspot *h;
	struct buf name; /* of the range that is open: from start to end */
	u64 start;
	u64 end;
	u64 hash; /* of its chain */
};

static void end_range(struct naming *n)
{
	if (n->name.len && n->end > n->start)
		code_names_add(n->h->names,
			       &(struct code_name){ .pid = (u32)n->h->pid,
						    .time = n->h->looked,
						    .sure = clock_mono_ns(),
						    .start = n->start,
						    .size = n->end - n->start },
			       buf_str(&n->name));
	n->start = n->end;
}

/* From where the last range ends up to @end the code is that of @chain. */
static bool add_range(struct naming *n, const u64 *chain, size_t len, u64 end)
{
	u64 hash = hash_bytes(chain, len * sizeof(*chain)) | 1;

	if (hash != n->hash) {
		end_range(n);
		n->hash = hash;
		if (!chain_name(n->h, chain, len, &n->name))
			return false;
	}
	n->end = end;
	return true;
}

/* --- one piece of code ------------------------------------------------------------------------ */

static bool walk_positions(struct naming *n, const struct scopes *s, const u8 *bytes, size_t count)
{
	u64 size = n->h->position_size, chain[CHAIN_MOST];
	u64 own = s->code->method, before = s->code->start + s->code->complete;

	/* a frame that is not complete is of the method alone */
	if (!add_range(n, &own, 1, MIN(before, s->code->end)))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct position p;
		size_t len;

		read_position(n->h, bytes + i * size, &p);
		if (p.pc < 0 || !p.scope || s->code->start + (u64)p.pc <= n->end)
			continue;
		if (s->code->start + (u64)p.pc >= s->code->end)
			break;
		len = read_chain(s, p.scope, chain);
		/* the outermost method is the one whose code it is: else we misread it */
		if (!len || chain[len - 1] != own ||
		    !add_range(n, chain, len, s->code->start + (u64)p.pc))
			return false;
	}
	if (!add_range(n, &own, 1, s->code->end))
		return false;
	end_range(n);
	return true;
}

static bool read_part(const struct hotspot *h, u64 from, u64 to, size_t most, struct buf *ret)
{
	if (to <= from || to - from > most)
		return false;
	if (hotspot_read(h, from, buf_reserve(ret, to - from), to - from))
		return false;
	ret->len = to - from;
	return true;
}

bool hotspot_name_scopes(struct hotspot *h, const struct hotspot_code *c)
{
	_cleanup_buf_ struct buf data = BUF_INIT, positions = BUF_INIT, methods = BUF_INIT;
	size_t first = h->names->list.len;
	struct naming n = { .h = h, .name = BUF_INIT, .start = c->start, .end = c->start };
	struct scopes s;
	bool ok;

	if (!h->position_size || !c->method)
		return false;
	if (!read_part(h, c->data, c->data_end, HOTSPOT_MAX_BLOB, &data) ||
	    !read_part(h, c->positions, c->positions_end, POSITIONS_MOST * POSITION_BYTES,
		       &positions) ||
	    !read_part(h, c->metadata, c->metadata_end, METADATA_MOST * 8, &methods))
		return false;
	s = (struct scopes){
		.code = c,
		.data = (const u8 *)data.data,
		.n_data = data.len,
		.methods = (const u64 *)(const void *)methods.data,
		.n_methods = methods.len / 8,
		.no_zero = h->version >= 20,
	};
	ok = walk_positions(&n, &s, (const u8 *)positions.data, positions.len / h->position_size);
	if (!ok)
		h->names->list.len = first;
	buf_release(&n.name);
	return ok;
}
