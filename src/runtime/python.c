/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/python.h"

#include "elf/symbols.h"

/* 3.11 and 3.12 promise to keep these within the minor version. */
static const struct python_build build_311 = {
	.frames = { .runtime_interpreters = 40,
		    .interpreter_next = 0,
		    .interpreter_threads = 16,
		    .thread_prev = 0,
		    .thread_next = 8,
		    .thread_id = 152,
		    .thread_frame = 56,
		    .has_cframe = 1,
		    .cframe_frame = 8,
		    .cframe_previous = 16,
		    .frame_code = 32,
		    .frame_previous = 48,
		    .frame_instr = 56,
		    .frame_entry = 68,
		    .code_instrs = 184 },
	.objects = { .code_file = 112,
		     .code_name = 128,
		     .code_line = 72,
		     .code_lines = 136,
		     .bytes_size = 16,
		     .bytes_data = 32,
		     .text_size = 16,
		     .text_state = 32,
		     .text_ascii = 48,
		     .text_wide = 72 },
};

static const struct python_build build_312 = {
	.frames = { .runtime_interpreters = 40,
		    .interpreter_next = 0,
		    .interpreter_threads = 72,
		    .thread_prev = 0,
		    .thread_next = 8,
		    .thread_id = 136,
		    .thread_frame = 56,
		    .has_cframe = 1,
		    .cframe_frame = 0,
		    .cframe_previous = 8,
		    .frame_code = 0,
		    .frame_previous = 8,
		    .frame_instr = 56,
		    .frame_entry = 70,
		    .has_shims = 1,
		    .code_instrs = 192 },
	.objects = { .code_file = 112,
		     .code_name = 128,
		     .code_line = 68,
		     .code_lines = 136,
		     .bytes_size = 16,
		     .bytes_data = 32,
		     .text_size = 16,
		     .text_state = 32,
		     .text_ascii = 40,
		     .text_wide = 56 },
};

/* What 3.13 writes at the beginning of _PyRuntime, as far as we use it. */
struct debug_offsets {
	char cookie[8];
	u64 version;
	u64 free_threaded;
	u64 runtime_size, runtime_finalizing, runtime_interpreters;
	u64 interpreter_size, interpreter_id, interpreter_next, interpreter_threads;
	u64 interpreter_others[9];
	u64 thread_size, thread_prev, thread_next, thread_interp, thread_frame, thread_id;
	u64 thread_others[3];
	u64 frame_size, frame_previous, frame_code, frame_instr, frame_locals, frame_owner;
	u64 code_size, code_file, code_name, code_qualname, code_lines, code_line;
	u64 code_argcount, code_locals, code_local_kinds, code_instrs;
	u64 object[2], type[4], tuple[3], list[3], dict[3], number[2], integer[3];
	u64 bytes_object, bytes_size, bytes_data;
	u64 text_object, text_state, text_size, text_ascii;
};

/* A structure of Python is smaller than this; the runtime and interpreter are larger. */
enum { OFFSET_MAX = 4096, BIG_OFFSET_MAX = 16 << 20 };

static bool offsets_usable(const struct debug_offsets *o)
{
	const u64 small[] = { o->thread_prev,    o->thread_next,   o->thread_frame, o->thread_id,
			      o->frame_previous, o->frame_code,    o->frame_instr,  o->frame_owner,
			      o->code_file,      o->code_qualname, o->code_lines,   o->code_line,
			      o->code_instrs,    o->bytes_size,    o->bytes_data,   o->text_state,
			      o->text_size,      o->text_ascii };

	for (size_t i = 0; i < ARRAY_SIZE(small); i++) {
		if (small[i] > OFFSET_MAX)
			return false;
	}
	return o->runtime_interpreters < BIG_OFFSET_MAX && o->interpreter_next < BIG_OFFSET_MAX &&
	       o->interpreter_threads < BIG_OFFSET_MAX;
}

static int build_from_offsets(const struct elf *elf, u64 runtime, struct python_build *ret)
{
	struct debug_offsets o;
	u64 at, left;

	if (!elf_offset(elf, runtime, false, &at, &left) || left < sizeof(o) ||
	    elf_read(elf, at, &o, sizeof(o)) < 0 || memcmp(o.cookie, "xdebugpy", 8) != 0 ||
	    o.free_threaded || !offsets_usable(&o))
		return -ENOTSUP;
	ret->frames = (struct unwind_python){
		.runtime_interpreters = (u32)o.runtime_interpreters,
		.interpreter_next = (u32)o.interpreter_next,
		.interpreter_threads = (u32)o.interpreter_threads,
		.thread_prev = (u32)o.thread_prev,
		.thread_next = (u32)o.thread_next,
		.thread_id = (u32)o.thread_id,
		.thread_frame = (u32)o.thread_frame,
		.frame_code = (u32)o.frame_code,
		.frame_previous = (u32)o.frame_previous,
		.frame_instr = (u32)o.frame_instr,
		.frame_entry = (u32)o.frame_owner,
		.has_shims = 1,
		.code_instrs = (u32)o.code_instrs,
	};
	ret->objects = (struct python_objects){
		.code_file = (u32)o.code_file,
		.code_name = (u32)o.code_qualname,
		.code_line = (u32)o.code_line,
		.code_lines = (u32)o.code_lines,
		.bytes_size = (u32)o.bytes_size,
		.bytes_data = (u32)o.bytes_data,
		.text_size = (u32)o.text_size,
		.text_state = (u32)o.text_state,
		.text_ascii = (u32)o.text_ascii,
		.text_wide = (u32)o.text_ascii + 16,
	};
	return 0;
}

/* What the kernel program reads of a frame, in one go. */
static bool frame_fits(const struct unwind_python *l)
{
	const u32 end = UNWIND_PYTHON_FRAME_WORDS * 8;

	return l->frame_code < end && l->frame_previous < end && l->frame_instr < end &&
	       l->frame_entry < end;
}

static bool objects_fit(const struct python_objects *o)
{
	return MAX(MAX(o->code_file, o->code_name), MAX(o->code_line, o->code_lines)) <=
		       PYTHON_CODE_BYTES - 8 &&
	       MAX(MAX(o->text_size, o->text_state), o->text_wide) <= PYTHON_TEXT_BYTES - 8;
}

static u32 read_version(const struct elf *elf, u64 vaddr)
{
	u64 at, left, version = 0;

	if (!vaddr || !elf_offset(elf, vaddr, false, &at, &left) || left < sizeof(version) ||
	    elf_read(elf, at, &version, sizeof(version)) < 0)
		return 0;
	return (u32)version;
}

int python_build_read(const struct elf *elf, struct python_build *ret)
{
	struct elf_wanted want[] = { { .name = "_PyRuntime" }, { .name = "Py_Version" } };
	const struct elf_segment *text = NULL;
	int rc = 0;

	if (!elf->is64 || !elf_find_exported(elf, want, ARRAY_SIZE(want)))
		return -ENOENT;
	u32 version = read_version(elf, want[1].vaddr);

	switch (version >> 16) {
	case 0x030b: *ret = build_311; break;
	case 0x030c: *ret = build_312; break;
	case 0x030d:
		*ret = (struct python_build){ 0 };
		rc = build_from_offsets(elf, want[0].vaddr, ret);
		break;
	default: *ret = (struct python_build){ 0 }; rc = -ENOTSUP;
	}
	ret->version = version;
	for (size_t i = 0; i < elf->segment_count && !text; i++) {
		const struct elf_segment *s = &elf->segments[i];

		text = s->type == PT_LOAD && s->flags & PF_X && s->filesz ? s : NULL;
	}
	if (rc || !text || !frame_fits(&ret->frames) || !objects_fit(&ret->objects))
		return -ENOTSUP;
	ret->frames.runtime = want[0].vaddr - (text->vaddr - text->offset);
	ret->frames.code_name = ret->objects.code_name;
	return 0;
}

/* --- lines ---------------------------------------------------------------------------------- */

struct table {
	const u8 *p;
	const u8 *end;
};

/* Six bits a byte, the lowest first; bit 6 says that there is more. */
static u64 get_varint(struct table *t)
{
	u64 v = 0;

	for (unsigned int shift = 0; t->p < t->end && shift < 60; shift += 6) {
		u8 byte = *t->p++;

		v |= (u64)(byte & 63) << shift;
		if (!(byte & 64))
			break;
	}
	return v;
}

static s64 get_signed(struct table *t)
{
	u64 v = get_varint(t);

	return v & 1 ? -(s64)(v >> 1) : (s64)(v >> 1);
}

enum { LINE_ONE = 10, LINE_NO_COLUMN = 13, LINE_LONG = 14, LINE_NONE = 15 };

static s64 line_delta(struct table *t, u32 kind)
{
	s64 delta = 0;

	if (kind == LINE_NONE)
		return 0;
	if (kind == LINE_NO_COLUMN)
		return get_signed(t);
	if (kind == LINE_LONG) {
		delta = get_signed(t);
		get_varint(t);
		get_varint(t);
		get_varint(t);
		return delta;
	}
	t->p += MIN(kind < LINE_ONE ? 1 : 2, t->end - t->p);
	return kind < LINE_ONE ? 0 : kind - LINE_ONE;
}

size_t python_lines(const u8 *table, size_t n, u32 first_line, struct python_line *ret, size_t max)
{
	struct table t = { table, table + n };
	s64 line = first_line;
	u32 instr = 0;
	size_t count = 0;

	while (t.p < t.end && count < max) {
		u8 byte = *t.p++;
		u32 kind = byte >> 3 & 15;

		if (!(byte & 0x80))
			break;
		line += line_delta(&t, kind);
		if (line < 0 || line > PYTHON_MAX_LINE)
			break;
		u32 shown = kind == LINE_NONE ? 0 : (u32)line;

		if (!count || ret[count - 1].line != shown)
			ret[count++] = (struct python_line){ instr, shown };
		instr += (byte & 7u) + 1;
	}
	return count;
}
