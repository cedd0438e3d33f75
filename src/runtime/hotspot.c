/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/hotspot.h"

#include "base/clock.h"
#include "base/hash.h"
#include "host/procfs.h"
#include "runtime/hotspot_scopes.h"
#include "elf/symbols.h"

enum { NAME_BYTES = 64, BLOB_BYTES = 512, HEADER_BYTES = 64 };

int hotspot_read(const struct hotspot *h, u64 address, void *to, size_t n)
{
	return procfs_memory(h->pid, address, to, n);
}

static u64 read_word(const struct hotspot *h, u64 address)
{
	u64 v = 0;

	return hotspot_read(h, address, &v, sizeof(v)) ? 0 : v;
}

/* A string of at most NAME_BYTES - 1 bytes; what lies after it may not be mapped. */
static void read_name(const struct hotspot *h, u64 address, char to[NAME_BYTES])
{
	size_t n = MIN(NAME_BYTES - 1, 4096 - address % 4096);

	memset(to, 0, NAME_BYTES);
	if (!address || hotspot_read(h, address, to, n))
		to[0] = 0;
	else if (n < NAME_BYTES - 1 && !memchr(to, 0, n) &&
		 hotspot_read(h, address + n, to + n, NAME_BYTES - 1 - n))
		to[n] = 0;
}

/* --- the machine's description of itself ------------------------------------------------------ */

struct wanted {
	const char *type;
	const char *field;
};

static const struct wanted wanted[HOTSPOT_FIELDS] = {
	[HOTSPOT_HEAPS] = { "CodeCache", "_heaps" },
	[HOTSPOT_ARRAY_LEN] = { "GrowableArrayBase", "_len" },
	[HOTSPOT_ARRAY_DATA] = { "GrowableArray<int>", "_data" },
	[HOTSPOT_HEAP_MEMORY] = { "CodeHeap", "_memory" },
	[HOTSPOT_HEAP_SHIFT] = { "CodeHeap", "_log2_segment_size" },
	[HOTSPOT_SPACE_LOW] = { "VirtualSpace", "_low" },
	[HOTSPOT_SPACE_HIGH] = { "VirtualSpace", "_high" },
	[HOTSPOT_SPACE_END] = { "VirtualSpace", "_high_boundary" },
	[HOTSPOT_BLOCK_HEADER] = { "HeapBlock", "_header" },
	[HOTSPOT_HEADER_LENGTH] = { "HeapBlock::Header", "_length" },
	[HOTSPOT_HEADER_USED] = { "HeapBlock::Header", "_used" },
	[HOTSPOT_BLOB_NAME] = { "CodeBlob", "_name" },
	[HOTSPOT_BLOB_SIZE] = { "CodeBlob", "_size" },
	[HOTSPOT_BLOB_FRAME] = { "CodeBlob", "_frame_size" },
	[HOTSPOT_BLOB_COMPLETE] = { "CodeBlob", "_frame_complete_offset" },
	[HOTSPOT_BLOB_CODE] = { "CodeBlob", "_code_begin" },
	[HOTSPOT_BLOB_CODE_OFFSET] = { "CodeBlob", "_code_offset" },
	[HOTSPOT_CODE_METHOD] = { "nmethod", "_method" },
	[HOTSPOT_COMPILED_METHOD] = { "CompiledMethod", "_method" },
	[HOTSPOT_METHOD_CONST] = { "Method", "_constMethod" },
	[HOTSPOT_CONST_POOL] = { "ConstMethod", "_constants" },
	[HOTSPOT_CONST_NAME] = { "ConstMethod", "_name_index" },
	[HOTSPOT_POOL_CLASS] = { "ConstantPool", "_pool_holder" },
	[HOTSPOT_CLASS_NAME] = { "Klass", "_name" },
	[HOTSPOT_TEXT_LENGTH] = { "Symbol", "_length" },
	[HOTSPOT_TEXT_BYTES] = { "Symbol", "_body[0]" },
	[HOTSPOT_CODE_METADATA] = { "nmethod", "_metadata_offset" },
	[HOTSPOT_CODE_SCOPES] = { "CompiledMethod", "_scopes_data_begin" },
	[HOTSPOT_CODE_POSITIONS] = { "nmethod", "_scopes_pcs_offset" },
	[HOTSPOT_CODE_DEPENDENCIES] = { "nmethod", "_dependencies_offset" },
	[HOTSPOT_PC_OFFSET] = { "PcDesc", "_pc_offset" },
	[HOTSPOT_PC_SCOPE] = { "PcDesc", "_scope_decode_offset" },
	[HOTSPOT_CODE_MUTABLE] = { "CodeBlob", "_mutable_data" },
	[HOTSPOT_CODE_MUTABLE_SIZE] = { "CodeBlob", "_mutable_data_size" },
	[HOTSPOT_CODE_RELOCATION_SIZE] = { "CodeBlob", "_relocation_size" },
	[HOTSPOT_CODE_IMMUTABLE] = { "nmethod", "_immutable_data" },
	[HOTSPOT_CODE_IMMUTABLE_SIZE] = { "nmethod", "_immutable_data_size" },
	[HOTSPOT_CODE_SCOPES_OFFSET] = { "nmethod", "_scopes_data_offset" },
	[HOTSPOT_CODE_COMPILATION] = { "nmethod", "_compile_id" },
	[HOTSPOT_BLOB_DATA] = { "CodeBlob", "_data_offset" },
	[HOTSPOT_COUNTERS] = { "PerfMemory", "_start" },
	[HOTSPOT_VERSION] = { "Abstract_VM_Version", "_vm_major_version" },
};

enum symbol {
	SYM_STRUCTS,
	SYM_STRUCT_TYPE,
	SYM_STRUCT_FIELD,
	SYM_STRUCT_TEXT,
	SYM_STRUCT_STATIC,
	SYM_STRUCT_OFFSET,
	SYM_STRUCT_ADDRESS,
	SYM_STRUCT_STRIDE,
	SYM_TYPES,
	SYM_TYPE_NAME,
	SYM_TYPE_SIZE,
	SYM_TYPE_STRIDE,
	SYMBOLS,
};

static const char *const symbol_names[SYMBOLS] = {
	[SYM_STRUCTS] = "gHotSpotVMStructs",
	[SYM_STRUCT_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
	[SYM_STRUCT_FIELD] = "gHotSpotVMStructEntryFieldNameOffset",
	[SYM_STRUCT_TEXT] = "gHotSpotVMStructEntryTypeStringOffset",
	[SYM_STRUCT_STATIC] = "gHotSpotVMStructEntryIsStaticOffset",
	[SYM_STRUCT_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
	[SYM_STRUCT_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
	[SYM_STRUCT_STRIDE] = "gHotSpotVMStructEntryArrayStride",
	[SYM_TYPES] = "gHotSpotVMTypes",
	[SYM_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
	[SYM_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
	[SYM_TYPE_STRIDE] = "gHotSpotVMTypeEntryArrayStride",
};

/* The values of the exported variables of libjvm in this process. */
static int read_symbols(const struct hotspot *h, const struct mapping *map, u64 value[SYMBOLS])
{
	_cleanup_close_ int fd = mapping_open(map, h->pid);
	struct elf_wanted want[SYMBOLS];
	_cleanup_elf_ struct elf elf = ELF_INIT;
	u64 base = 0, vaddr;

	if (fd < 0 || elf_use_fd(&elf, fd, map->path, NULL))
		return -ENOENT;
	for (int i = 0; i < SYMBOLS; i++)
		want[i] = (struct elf_wanted){ .name = symbol_names[i] };
	if (!elf_find_exported(&elf, want, SYMBOLS))
		return -ENOTSUP;
	if (segments_vaddr(elf.segments, elf.segment_count, map->offset, &vaddr))
		base = map->start - vaddr;
	for (int i = 0; i < SYMBOLS; i++) {
		value[i] = want[i].vaddr ? read_word(h, base + want[i].vaddr) : 0;
		if (!value[i] && i != SYM_STRUCT_TYPE && i != SYM_TYPE_NAME)
			return -ENOTSUP;
	}
	return 0;
}

static u32 width_of(const char *type)
{
	if (ends_with(type, "*") || streq(type, "address") || streq(type, "size_t"))
		return 8;
	if (streq(type, "int16_t") || streq(type, "uint16_t") || streq(type, "u2"))
		return 2;
	if (streq(type, "bool") || streq(type, "char"))
		return 1;
	return 4; /* also for structures, whose size does not matter */
}

enum { ENTRY_MAX = 128 };

static void take_field(struct hotspot *h, const u8 *entry, const u64 *sym)
{
	char type[NAME_BYTES], field[NAME_BYTES], text[NAME_BYTES];
	u64 at[3];

	memcpy(&at[0], entry + sym[SYM_STRUCT_TYPE], 8);
	memcpy(&at[1], entry + sym[SYM_STRUCT_FIELD], 8);
	memcpy(&at[2], entry + sym[SYM_STRUCT_TEXT], 8);
	read_name(h, at[0], type);
	for (u32 i = 0; i < HOTSPOT_FIELDS; i++) {
		if (!streq(type, wanted[i].type))
			continue;
		read_name(h, at[1], field);
		if (!streq(field, wanted[i].field))
			continue;
		bool once = i == HOTSPOT_HEAPS || i == HOTSPOT_VERSION || i == HOTSPOT_COUNTERS;
		u64 where = sym[once ? SYM_STRUCT_ADDRESS : SYM_STRUCT_OFFSET];

		read_name(h, at[2], text);
		memcpy(&h->field[i].offset, entry + where, 8);
		h->field[i].size = width_of(text);
	}
}

static bool entry_fits(const u64 *sym)
{
	u64 stride = sym[SYM_STRUCT_STRIDE];

	for (int i = SYM_STRUCT_TYPE; i < SYM_STRUCT_STRIDE; i++) {
		if (sym[i] > ENTRY_MAX - 8)
			return false;
	}
	return stride && stride <= ENTRY_MAX && sym[SYM_TYPE_STRIDE] &&
	       sym[SYM_TYPE_STRIDE] <= ENTRY_MAX && sym[SYM_TYPE_NAME] <= ENTRY_MAX - 8 &&
	       sym[SYM_TYPE_SIZE] <= ENTRY_MAX - 8;
}

static u64 type_size(const struct hotspot *h, const u64 *sym, const char *type)
{
	u8 entry[ENTRY_MAX * 2] = { 0 };
	char name[NAME_BYTES];
	u64 at = sym[SYM_TYPES], size;

	for (u32 i = 0; i < HOTSPOT_MAX_FIELDS; i++, at += sym[SYM_TYPE_STRIDE]) {
		u64 name_at;

		if (hotspot_read(h, at, entry, sym[SYM_TYPE_STRIDE]))
			return 0;
		memcpy(&name_at, entry + sym[SYM_TYPE_NAME], 8);
		if (!name_at)
			return 0;
		read_name(h, name_at, name);
		if (!streq(name, type))
			continue;
		memcpy(&size, entry + sym[SYM_TYPE_SIZE], 8);
		return size;
	}
	return 0;
}

/* Names are optional: a JVM without one of these fields still has rules. */
static void check_names(struct hotspot *h, const u64 *sym)
{
	struct hotspot_field *method = &h->field[HOTSPOT_CODE_METHOD];

	for (u32 i = HOTSPOT_CODE_COMPILATION; i <= HOTSPOT_BLOB_DATA; i++)
		if (h->field[i].offset > BLOB_BYTES - 8)
			h->field[i].size = 0;
	if (!method->size)
		*method = h->field[HOTSPOT_COMPILED_METHOD];
	h->pool_size = type_size(h, sym, "ConstantPool");
	h->has_names = h->pool_size && method->size && method->offset <= BLOB_BYTES - 8;
	for (u32 i = HOTSPOT_METHOD_CONST; i < HOTSPOT_NAMES_END; i++)
		h->has_names &= h->field[i].size != 0;
}

/* The fields from @first on are known, and those of code are in the bytes that are read of it. */
static bool has_fields(const struct hotspot *h, u32 first, u32 end)
{
	for (u32 i = first; i < end; i++) {
		bool in_blob = i >= HOTSPOT_CODE_POSITIONS;

		if (!h->field[i].size || (in_blob && h->field[i].offset > BLOB_BYTES - 8))
			return false;
	}
	return true;
}

/* Inlined methods likewise. */
static void check_scopes(struct hotspot *h, const u64 *sym)
{
	u64 size = type_size(h, sym, "PcDesc");

	h->scopes_inside = has_fields(h, HOTSPOT_INSIDE, HOTSPOT_OUTSIDE);
	if (!h->has_names || !has_fields(h, HOTSPOT_NAMES_END, HOTSPOT_INSIDE) ||
	    (!h->scopes_inside && !has_fields(h, HOTSPOT_OUTSIDE, HOTSPOT_OUTSIDE_END)) ||
	    size < 8 || size > 64 || h->field[HOTSPOT_PC_OFFSET].offset > size - 4 ||
	    h->field[HOTSPOT_PC_SCOPE].offset > size - 4)
		return;
	h->version = (u32)read_word(h, h->field[HOTSPOT_VERSION].offset);
	h->position_size = size;
}

static int read_description(struct hotspot *h, const u64 *sym)
{
	u8 entry[ENTRY_MAX * 2] = { 0 };
	u64 at = sym[SYM_STRUCTS];

	if (!entry_fits(sym))
		return -ENOTSUP;
	for (u32 i = 0; i < HOTSPOT_MAX_FIELDS; i++, at += sym[SYM_STRUCT_STRIDE]) {
		u64 name;

		if (hotspot_read(h, at, entry, sym[SYM_STRUCT_STRIDE]))
			return -ENOTSUP;
		memcpy(&name, entry + sym[SYM_STRUCT_TYPE], 8);
		if (!name)
			break;
		take_field(h, entry, sym);
	}
	h->block_size = type_size(h, sym, "HeapBlock");
	for (u32 i = 0; i < HOTSPOT_NEEDED; i++) {
		if (!h->field[i].size && i != HOTSPOT_BLOB_CODE && i != HOTSPOT_BLOB_CODE_OFFSET)
			return -ENOTSUP;
		/* those of a block and of the code in it are picked out of bytes that were read */
		if (i >= HOTSPOT_BLOCK_HEADER &&
		    h->field[i].offset > (i < HOTSPOT_BLOB_NAME ? HEADER_BYTES : BLOB_BYTES) - 8)
			return -ENOTSUP;
	}
	check_names(h, sym);
	check_scopes(h, sym);
	bool has_code = h->field[HOTSPOT_BLOB_CODE].size || h->field[HOTSPOT_BLOB_CODE_OFFSET].size;

	return has_code && h->block_size && h->block_size <= HEADER_BYTES ? 0 : -ENOTSUP;
}

int hotspot_init(struct hotspot *h, int pid, struct err *e)
{
	_cleanup_(mappings_release) struct mappings maps = { 0 };
	u64 sym[SYMBOLS];
	int rc;

	*h = (struct hotspot){ .pid = pid };
	rc = mappings_read(&maps, pid, e);
	if (rc)
		return rc;
	rc = -ENOENT;
	vec_each(m, &maps.items) {
		if (!m->exec || !ends_with(m->path, "/libjvm.so"))
			continue;
		rc = read_symbols(h, m, sym);
		if (!rc)
			rc = read_description(h, sym);
		if (!rc)
			h->unloads_at = hotspot_find_unloads(h);
		break;
	}
	return rc ? err_set(e, -rc, "process %d has no java machine that can be read", pid) : 0;
}

void hotspot_release(struct hotspot *h)
{
	code_rows_release(&h->code);
	vec_release(&h->blobs);
	vec_release(&h->old_blobs);
	map_release(&h->by_address);
	map_release(&h->method_of);
	vec_release(&h->methods);
}

/* --- rules ------------------------------------------------------------------------------------ */

static const struct unwind_rule rule_none = { .cfa = UNWIND_CFA_END };
static const struct unwind_rule rule_fp = { .cfa = UNWIND_CFA_END, .aux = 1 };
/* The interpreter: its caller's stack may have been moved; where to is kept in the frame. */
static const struct unwind_rule rule_interpreter = {
	.cfa = UNWIND_CFA_BP_DEREF,
	.cfa_off = -8,
	.bp = UNWIND_BP_BP,
	.ra = UNWIND_RA_FP,
	.bx_off = UNWIND_BX_LOST,
};

/* Length of "add rsp, n; pop rbp" (op 0xc4) or "sub rsp, n" (0xec) at @p if it is there, else 0. */
static size_t stack_op(const u8 *p, size_t n, u8 op, u32 bytes)
{
	u32 value;

	if (n >= 4 && p[0] == 0x48 && p[1] == 0x83 && p[2] == op && p[3] == bytes && bytes < 128)
		return 4;
	if (n < 7 || p[0] != 0x48 || p[1] != 0x81 || p[2] != op)
		return 0;
	memcpy(&value, p + 3, 4);
	return value == bytes ? 7 : 0;
}

enum {
	POP_RAX = 0x58,
	POP_RCX = 0x59,
	POP_RBP = 0x5d,
	PUSH_RBP = 0x55,
	RET = 0xc3,
	PROLOGUE_MAX = 24,
	EPILOGUE_MAX = 32,
	COMPARE_MAX = 2048,
};

/* "mov rbp, rsp", in both encodings: there when java keeps frame pointers. */
static size_t move_op(const u8 *p, size_t n)
{
	return n >= 3 && p[0] == 0x48 &&
			       ((p[1] == 0x8b && p[2] == 0xec) || (p[1] == 0x89 && p[2] == 0xe5))
		       ? 3
		       : 0;
}

/* The frame grows: "push rbp; sub rsp, n" ends where the frame is complete, or a little before. */
static void add_prologue(struct hotspot *h, u64 at, const u8 *code, size_t complete, u32 frame)
{
	const struct unwind_rule before = code_frame(8), pushed = code_frame(16),
				 whole = code_frame(frame);
	size_t i = complete > PROLOGUE_MAX ? complete - PROLOGUE_MAX : 0;

	code_rows_add(&h->code, at, &before);
	for (; i + 1 < complete; i++) {
		size_t sub = i + 1 + move_op(code + i + 1, complete - i - 1);
		size_t n = code[i] == PUSH_RBP
				   ? stack_op(code + sub, complete - sub, 0xec, frame - 16)
				   : 0;

		if (!n)
			continue;
		code_rows_add(&h->code, at + i + 1, &pushed);
		code_rows_add(&h->code, at + sub + n, &whole);
		return;
	}
	code_rows_add(&h->code, at + complete, &whole);
}

/*
 * The comparison of strings, which is in line, keeps a length on the stack: "sub ecx, edx; push
 * rcx; cmovle edx, eax" up to "pop rax; jmp end; ...; pop rcx; end:". The offset of its end if it
 * begins at @i, else 0.
 */
static size_t add_compare(struct hotspot *h, u64 at, const u8 *code, size_t i, size_t n, u32 frame)
{
	static const u8 begin[] = { 0x2b, 0xca, 0x51, 0x0f, 0x4e, 0xd0 };
	const struct unwind_rule whole = code_frame(frame), deeper = code_frame(frame + 8);
	size_t limit = MIN(n, i + COMPARE_MAX), end = 0, jump;

	if (n - i < sizeof(begin) || memcmp(code + i, begin, sizeof(begin)) != 0)
		return 0;
	for (jump = i + sizeof(begin); jump + 6 < limit && !end; jump++) {
		s32 far;

		if (code[jump - 1] != POP_RAX)
			continue;
		memcpy(&far, code + jump + 1, sizeof(far));
		if (code[jump] == 0xeb && (s8)code[jump + 1] > 0)
			end = jump + 2 + code[jump + 1];
		else if (code[jump] == 0xe9 && far > 0 && far < COMPARE_MAX)
			end = jump + 5 + (size_t)far;
		if (end > limit || code[end ? end - 1 : 0] != POP_RCX)
			end = 0;
	}
	if (!end)
		return 0;
	jump--;
	code_rows_add(&h->code, at + i + 3, &deeper);
	code_rows_add(&h->code, at + jump, &whole);
	code_rows_add(&h->code, at + jump + (code[jump] == 0xeb ? 2 : 5), &deeper);
	code_rows_add(&h->code, at + end, &whole);
	return end;
}

/* The frame shrinks: "add rsp, n; pop rbp", a check for a safepoint, "ret". */
static void add_epilogues(struct hotspot *h, u64 at, const u8 *code, size_t from, size_t n,
			  u32 frame)
{
	const struct unwind_rule after_pop = code_frame(8), after_add = code_frame(16),
				 whole = code_frame(frame);

	for (size_t i = from; i + 6 < n; i++) {
		size_t compare = code[i] == 0x2b ? add_compare(h, at, code, i, n, frame) : 0;

		if (compare) {
			i = compare - 1;
			continue;
		}
		size_t op = code[i] == 0x48 ? stack_op(code + i, n - i, 0xc4, frame - 16) : 0;

		if (!op || i + op >= n || code[i + op] != POP_RBP)
			continue;
		size_t ret = i + op + 1, limit = MIN(n, ret + EPILOGUE_MAX);

		while (ret < limit && code[ret] != RET)
			ret++;
		if (ret == limit)
			continue;
		code_rows_add(&h->code, at + i + op, &after_add);
		code_rows_add(&h->code, at + i + op + 1, &after_pop);
		code_rows_add(&h->code, at + ret + 1, &whole);
		i = ret;
	}
}

/* --- pieces of code --------------------------------------------------------------------------- */

struct blob {
	u64 address;
	u64 size;
	u64 code;
	u64 end;   /* of the code */
	u64 frame; /* bytes */
	s64 complete;
	u64 name;
	u64 method; /* 0: names are not wanted, or cannot be obtained */
	u64 compilation;
	struct hotspot_code scopes;
};

static u64 field_of(const struct hotspot *h, const u8 *bytes, enum hotspot_field_id id)
{
	u64 v = 0;

	memcpy(&v, bytes + h->field[id].offset, h->field[id].size);
	return v;
}

/* Where the debug positions of a method's code are. */
static void read_scopes(const struct hotspot *h, const u8 *bytes, struct blob *b)
{
	struct hotspot_code *c = &b->scopes;
	u64 data;

	*c = (struct hotspot_code){
		.start = b->code,
		.end = b->end,
		.complete = b->complete > 0 ? (u64)b->complete : 0,
		.method = b->method,
	};
	if (h->scopes_inside) {
		c->metadata = b->address + field_of(h, bytes, HOTSPOT_CODE_METADATA);
		c->data = c->metadata_end = field_of(h, bytes, HOTSPOT_CODE_SCOPES);
		c->positions = c->data_end =
			b->address + field_of(h, bytes, HOTSPOT_CODE_POSITIONS);
		c->positions_end = b->address + field_of(h, bytes, HOTSPOT_CODE_DEPENDENCIES);
		return;
	}
	data = field_of(h, bytes, HOTSPOT_CODE_MUTABLE);
	c->metadata = data + field_of(h, bytes, HOTSPOT_CODE_RELOCATION_SIZE);
	c->metadata_end = data + field_of(h, bytes, HOTSPOT_CODE_MUTABLE_SIZE);
	data = field_of(h, bytes, HOTSPOT_CODE_IMMUTABLE);
	c->positions = data + field_of(h, bytes, HOTSPOT_CODE_POSITIONS);
	c->data = c->positions_end = data + field_of(h, bytes, HOTSPOT_CODE_SCOPES_OFFSET);
	c->data_end = data + field_of(h, bytes, HOTSPOT_CODE_IMMUTABLE_SIZE);
}

/* Where the code ends and data begins. */
static u64 end_of_code(const struct hotspot *h, const u8 *bytes, const struct blob *b)
{
	u64 data = field_of(h, bytes, HOTSPOT_BLOB_DATA);
	bool known = data <= b->size && b->address + data > b->code;

	return b->address + (known ? data : b->size);
}

static bool read_blob(const struct hotspot *h, const u8 *bytes, u64 address, u64 room,
		      struct blob *ret)
{
	const struct hotspot_field *complete = &h->field[HOTSPOT_BLOB_COMPLETE];
	u64 raw = field_of(h, bytes, HOTSPOT_BLOB_COMPLETE);

	*ret = (struct blob){
		.address = address,
		.size = field_of(h, bytes, HOTSPOT_BLOB_SIZE),
		.frame = (u64)(s32)field_of(h, bytes, HOTSPOT_BLOB_FRAME) * 8,
		.complete = complete->size == 2 ? (s16)raw : (s32)raw,
		.name = field_of(h, bytes, HOTSPOT_BLOB_NAME),
	};
	if (h->names && h->has_names) {
		ret->method = field_of(h, bytes, HOTSPOT_CODE_METHOD);
		ret->compilation = field_of(h, bytes, HOTSPOT_CODE_COMPILATION);
	}
	if (h->field[HOTSPOT_BLOB_CODE].size)
		ret->code = field_of(h, bytes, HOTSPOT_BLOB_CODE);
	else
		ret->code = address + field_of(h, bytes, HOTSPOT_BLOB_CODE_OFFSET);
	ret->end = end_of_code(h, bytes, ret);
	if (ret->method && h->position_size)
		read_scopes(h, bytes, ret);
	return ret->size && ret->size <= room && ret->size <= HOTSPOT_MAX_BLOB &&
	       ret->code >= address && ret->code - address < ret->size &&
	       ret->frame <= HOTSPOT_MAX_FRAME;
}

static void add_code(struct hotspot *h, const struct blob *b)
{
	size_t n = b->end - b->code;
	_cleanup_free_ u8 *code = xmalloc(n + 1);
	u32 frame = (u32)b->frame;

	if (hotspot_read(h, b->code, code, n)) {
		code_rows_add(&h->code, b->code, &rule_none);
		return;
	}
	size_t complete = b->complete > 0 && (u64)b->complete < n ? (size_t)b->complete : 0;

	if (complete) {
		add_prologue(h, b->code, code, complete, frame);
	} else {
		const struct unwind_rule whole = code_frame(frame);

		code_rows_add(&h->code, b->code, &whole);
	}
	add_epilogues(h, b->code, code, complete, n, frame);
}

/* Code without a frame size: known by its name. */
static void add_special(struct hotspot *h, const struct blob *b)
{
	const struct unwind_rule no_frame = code_frame(8);
	char name[NAME_BYTES];

	read_name(h, b->name, name);
	if (streq(name, "Interpreter"))
		code_rows_add(&h->code, b->code, &rule_interpreter);
	else if (starts_with(name, "vtable") || starts_with(name, "I2C"))
		code_rows_add(&h->code, b->code, &no_frame);
	else
		code_rows_add(&h->code, b->code, &rule_fp);
}

static void name_blob(struct hotspot *h, const struct blob *b)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	char kind[NAME_BYTES];

	if (!h->names)
		return;
	read_name(h, b->name, kind);
	if (streq(kind, "nmethod") && hotspot_name_scopes(h, &b->scopes))
		return;
	/* "nmethod", "native nmethod": what other code has in that place is something else */
	if (!ends_with(kind, "nmethod")) {
		char *number = strstr(kind, " ("); /* "StubRoutines (1)" */

		if (number)
			*number = 0;
		buf_addstr(&name, kind);
	} else if (!hotspot_method_name(h, b->method, &name)) {
		buf_reset(&name); /* its class is gone already */
	}
	if (!name.len)
		buf_addstr(&name, HOTSPOT_NAMELESS);
	/* it came after the last walk */
	code_names_add(h->names,
		       &(struct code_name){ .pid = (u32)h->pid,
					    .time = h->looked,
					    .sure = clock_mono_ns(),
					    .start = b->code,
					    .size = b->end - b->code },
		       buf_str(&name));
}

static void add_blob(struct hotspot *h, const struct blob *b)
{
	/* what a method is called is gone before its code is: the same compilation is the same code
	 */
	const u64 facts[] = { b->size,          b->code, b->frame,
			      (u64)b->complete, b->name, b->compilation ? 0 : b->method,
			      b->compilation };
	u64 identity = hash_bytes(facts, sizeof(facts)),
	    at = map_get(&h->by_address, b->address, 0);
	const struct hotspot_blob *old = at ? &h->old_blobs.items[at - 1] : NULL;
	u32 first = (u32)h->code.rows.len;

	if (old && old->identity == identity) {
		for (u32 i = 0; i < old->count; i++) {
			const struct code_row *r = &h->code.old_rows.items[old->first + i];

			code_rows_add(&h->code, r->address, &r->rule);
		}
	} else {
		h->changed = true;
		name_blob(h, b);
		if (b->frame >= 16)
			add_code(h, b);
		else
			add_special(h, b);
	}
	code_rows_add(&h->code, b->address + b->size, &rule_none);
	vec_push(&h->blobs, (struct hotspot_blob){ .address = b->address,
						   .identity = identity,
						   .code = b->code,
						   .end = b->address + b->size,
						   .first = first,
						   .count = (u32)h->code.rows.len - first });
}

struct heap {
	u64 low;
	u64 high;
	u64 end;
	u32 shift;
};

static int compare_heaps(const void *a, const void *b)
{
	const struct heap *x = a, *y = b;

	return x->low < y->low ? -1 : x->low > y->low;
}

static int read_heaps(const struct hotspot *h, struct heap heaps[HOTSPOT_MAX_HEAPS])
{
	u64 array = read_word(h, h->field[HOTSPOT_HEAPS].offset);
	u64 data = read_word(h, array + h->field[HOTSPOT_ARRAY_DATA].offset);
	u32 n = (u32)read_word(h, array + h->field[HOTSPOT_ARRAY_LEN].offset);

	if (!array || !data || !n || n > HOTSPOT_MAX_HEAPS)
		return -ENODATA;
	for (u32 i = 0; i < n; i++) {
		u64 heap = read_word(h, data + i * 8ull);
		u64 space = heap + h->field[HOTSPOT_HEAP_MEMORY].offset;

		heaps[i] = (struct heap){
			.low = read_word(h, space + h->field[HOTSPOT_SPACE_LOW].offset),
			.high = read_word(h, space + h->field[HOTSPOT_SPACE_HIGH].offset),
			.end = read_word(h, space + h->field[HOTSPOT_SPACE_END].offset),
			.shift = (u32)read_word(h, heap + h->field[HOTSPOT_HEAP_SHIFT].offset),
		};
		if (!heaps[i].low || heaps[i].high < heaps[i].low || heaps[i].end < heaps[i].high ||
		    heaps[i].shift < 3 || heaps[i].shift > 20)
			return -ENODATA;
	}
	qsort(heaps, n, sizeof(*heaps), compare_heaps);
	return (int)n;
}

static void walk_heap(struct hotspot *h, const struct heap *heap)
{
	u64 header = h->field[HOTSPOT_BLOCK_HEADER].offset;
	u64 at = heap->low;

	while (at < heap->high && h->blobs.len < HOTSPOT_MAX_BLOBS) {
		u8 bytes[HEADER_BYTES * 2 + BLOB_BYTES] = { 0 };
		struct blob b;
		size_t n = MIN(sizeof(bytes), heap->high - at);

		if (hotspot_read(h, at, bytes, n))
			return;
		u64 length = field_of(h, bytes + header, HOTSPOT_HEADER_LENGTH);
		u64 used = field_of(h, bytes + header, HOTSPOT_HEADER_USED);

		if (!length || length > (heap->high - at) >> heap->shift)
			return;
		if ((used & 0xff) && n == sizeof(bytes) &&
		    read_blob(h, bytes + h->block_size, at + h->block_size,
			      (length << heap->shift) - h->block_size, &b))
			add_blob(h, &b);
		at += length << heap->shift;
	}
}

/* What is there becomes old. */
static void begin_anew(struct hotspot *h)
{
	__typeof__(h->code.rows) rows = h->code.old_rows;
	__typeof__(h->blobs) blobs = h->old_blobs;

	h->code.old_rows = h->code.rows;
	h->old_blobs = h->blobs;
	h->code.rows = rows;
	h->blobs = blobs;
	vec_clear(&h->code.rows);
	vec_clear(&h->blobs);
	map_clear(&h->by_address);
	for (size_t i = 0; i < h->old_blobs.len; i++)
		map_put(&h->by_address, h->old_blobs.items[i].address, i + 1);
}

/* --- all of it ------------------------------------------------------------------------------- */

int hotspot_refresh(struct hotspot *h, struct err *e)
{
	struct heap heaps[HOTSPOT_MAX_HEAPS];
	int n = read_heaps(h, heaps);

	if (n <= 0)
		return err_set(e, n ? -n : ENODATA,
			       "the code of the java process %d cannot be read", h->pid);
	if (heaps[n - 1].end - heaps[0].low > HOTSPOT_MAX_CACHE)
		return err_set(e, EFBIG, "the java process %d has too much code", h->pid);
	h->code.start = heaps[0].low;
	h->code.end = heaps[n - 1].end;
	u64 now = clock_mono_ns();

	begin_anew(h);
	h->changed = false;
	for (int i = 0; i < n; i++)
		walk_heap(h, &heaps[i]);
	h->changed |= h->blobs.len != h->old_blobs.len;
	hotspot_note_unseen(h, now);
	h->looked = now;
	return 0;
}
