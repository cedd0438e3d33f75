/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One frame of a chain as text. Each place is written once and then copied. */
#include "view/script_state.h"

#include "analysis/cpp_name.h"
#include "base/hash.h"

enum { TEXT_HEAD = 17 /* the tab and the address */ };

/* What perf takes for the file of a place. */
static void add_dso(struct buf *b, const struct place *place)
{
	if (!place->dso)
		buf_addstr(b, "[unknown]");
	else if (place->flags & SYM_BPF && place->name)
		buf_addstr(b, place->name);
	else
		buf_addstr(b, place->dso);
}

/* Code of a file is shown by its place in the file, as perf does; the rest by its address. */
static u64 shown_address(const struct process *p, const struct place *place, u64 address)
{
	const struct mapping *map;

	if (!place->dso || place->kind == PLACE_KERNEL)
		return address;
	if (place->kind == PLACE_USER)
		return place->address;
	map = place->kind == PLACE_JIT && !place->no_file ? machine_mapping(p, address) : NULL;
	return map ? address - map->start + map->offset : address;
}

void script_place_dso(struct script *s, struct process *p, enum address_mode mode, u64 address)
{
	add_dso(&s->out, machine_place(&s->machine, p, mode, address, false));
}

u64 script_place_offset(struct script *s, struct process *p, enum address_mode mode, u64 address)
{
	return shown_address(p, machine_place(&s->machine, p, mode, address, false), address);
}

/* perf keeps the version that a full symbol table has: "memcpy@@GLIBC_2.14". */
static const char *name_of(const struct place *place)
{
	const char *at = place->raw ? strchr(place->raw, '@') : NULL;
	size_t n = at ? (size_t)(at - place->raw) : 0;

	if (n && place->name && strlen(place->name) == n && memcmp(place->name, place->raw, n) == 0)
		return place->raw;
	return place->name;
}

static void add_function(struct buf *b, const struct place *place, const char *name, u64 fields)
{
	const char *suffix;
	size_t len;

	if (!(fields & SCRIPT_SYM))
		return;
	buf_addch(b, ' ');
	name = cpp_name(name ? name : "[unknown]", &len, &suffix);
	buf_add(b, name, len);
	buf_addstr(b, suffix);
	if (place->name && fields & SCRIPT_SYMOFF) {
		buf_addstr(b, "+0x");
		buf_addx(b, place->address - place->start);
	}
}

/* "  burn.c:34", on a line of its own; without debug information "  libc.so.6[27249]" */
static void add_source(struct buf *b, const struct place *place, const struct source_frame *f)
{
	const char *slash;

	if (!place->dso)
		return;
	buf_addstr(b, "\n  ");
	if (f && f->file) {
		slash = strrchr(f->file, '/');
		buf_addf(b, "%s:%u", slash ? slash + 1 : f->file, f->line);
		return;
	}
	slash = place->module ? strrchr(place->dso, '/') : NULL;
	buf_addf(b, "%s[%llx]", slash ? slash + 1 : place->dso, (unsigned long long)place->address);
}

/* Where functions were inlined, each is a line; all have the address and offset of the code. */
static void write_text(struct script *s, const struct process *p, const struct place *place,
		       u64 address, u64 fields)
{
	struct source_frame frames[SOURCE_MAX_FRAMES];
	u64 shown = shown_address(p, place, address);
	struct buf *b = &s->texts;
	size_t n = 0;

	if (place->module && place->name && (fields & SCRIPT_SRCLINE || !s->opts->no_inline))
		n = symbols_lines(s->machine.symbols, place->module, place->address, frames,
				  ARRAY_SIZE(frames));
	for (size_t i = 0; i + 1 < n && !s->opts->no_inline; i++) {
		if (!frames[i].inlined || !frames[i].function)
			continue;
		buf_addch(b, '\t');
		script_hex16(b, shown);
		add_function(b, place, frames[i].function, fields);
		if (fields & SCRIPT_SRCLINE)
			add_source(b, place, &frames[i]);
		buf_addstr(b, " (inlined)\n");
	}
	buf_addch(b, '\t');
	script_hex16(b, shown);
	add_function(b, place, name_of(place), fields);
	if (fields & SCRIPT_DSO) {
		buf_addstr(b, " (");
		add_dso(b, place);
		if (fields & SCRIPT_DSOFF && place->module)
			buf_addf(b, "+0x%llx", (unsigned long long)place->address);
		buf_addch(b, ')');
	}
	if (fields & SCRIPT_SRCLINE)
		add_source(b, place, !n ? NULL : s->opts->no_inline ? &frames[0] : &frames[n - 1]);
	buf_addch(b, '\n');
}

static u32 new_text(struct script *s, const struct process *p, const struct place *place,
		    u64 address, u64 fields)
{
	struct script_text t = { .offset = (u32)s->texts.len };

	write_text(s, p, place, address, fields);
	t.len = (u32)(s->texts.len - t.offset);
	vec_push(&s->places, t);
	return (u32)(s->places.len - 1);
}

enum { TEXTS_MOST = 1 << 30 };

/*
 * All events of a recording mostly have the same fields: then a place's text is one array access
 * away. The few recordings with several look the others up.
 */
static struct script_text place_text(struct script *s, struct process *p, enum address_mode mode,
				     u64 address, u64 fields)
{
	struct place *place = machine_place(&s->machine, p, mode, address, false);
	/* all of them are among the first 32 */
	u32 shape = (u32)(fields & (SCRIPT_SYM | SCRIPT_SYMOFF | SCRIPT_DSO | SCRIPT_DSOFF |
				    SCRIPT_SRCLINE));
	u64 *known;

	if (unlikely(s->texts.len > TEXTS_MOST)) {
		buf_reset(&s->texts);
		s->places.len = 1;
		map_clear(&s->other_places);
		vec_each(any, &s->machine.places)
			any->frame = 0;
	}
	if (!s->place_fields)
		s->place_fields = shape | SCRIPT_IP;
	if (likely(s->place_fields == (shape | SCRIPT_IP))) {
		if (!place->frame)
			place->frame = new_text(s, p, place, address, shape);
		return s->places.items[place->frame];
	}
	known = map_at(&s->other_places, (u64)shape << 32 | (u32)(place - s->machine.places.items));
	if (!*known)
		*known = new_text(s, p, place, address, shape);
	return s->places.items[*known];
}

void script_place_line(struct script *s, struct process *p, enum address_mode mode, u64 address,
		       u64 fields)
{
	struct script_text t = place_text(s, p, mode, address, fields);

	buf_add(&s->out, s->texts.data + t.offset, t.len);
}

void script_place_tail(struct script *s, struct process *p, enum address_mode mode, u64 address,
		       u64 fields)
{
	struct script_text t = place_text(s, p, mode, address, fields);
	const char *text = s->texts.data + t.offset, *end = text + t.len - 1;
	const char *last = memrchr(text, '\t', t.len);

	/* inlined functions are shown in chains only: the last line is the function itself */
	if (last)
		text = last;
	buf_add(&s->out, text + TEXT_HEAD, (size_t)(end - text - TEXT_HEAD));
}
