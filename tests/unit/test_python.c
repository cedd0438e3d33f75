/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Python functions: location tables, code objects in memory, names in recordings. */
#include "harness.h"

#include <fcntl.h>

#include "symbol/symbol.h"
#include "runtime/python_names.h"
#include "runtime/python_trampoline.h"

/* co_linetable of a function of ten lines, as 3.11 and 3.13 write it. */
static const u8 table_311[] = {
	0x80, 0x00, 0xf0, 0x04, 0x01, 0x09, 0x0f, 0xf0, 0x00, 0x01, 0x09, 0x0f, 0x90, 0x41, 0xf0,
	0x00, 0x01, 0x09, 0x0f, 0xf1, 0x00, 0x01, 0x09, 0x0f, 0xf4, 0x00, 0x01, 0x09, 0x0f, 0x80,
	0x41, 0xf0, 0x06, 0x04, 0x05, 0x11, 0xd8, 0x0f, 0x10, 0x90, 0x31, 0x89, 0x75, 0xe5, 0x08,
	0x0d, 0x88, 0x61, 0xd8, 0x0e, 0x0f, 0xf1, 0x03, 0x01, 0x09, 0x11, 0xf4, 0x00, 0x01, 0x09,
	0x11, 0xf0, 0x00, 0x01, 0x09, 0x11, 0xf0, 0x00, 0x01, 0x09, 0x11, 0xf8, 0x8d, 0x05, 0x88,
	0x61, 0xd8, 0x0e, 0x0f, 0xf1, 0x03, 0x01, 0x09, 0x11, 0xf4, 0x00, 0x01, 0x09, 0x11, 0xf0,
	0x00, 0x01, 0x09, 0x11, 0xf0, 0x00, 0x01, 0x09, 0x11, 0xf8, 0xf8, 0xf8
};

TEST(lines_of_a_table)
{
	static const struct python_line want[] = { { 0, 1 },  { 1, 3 },   { 13, 6 }, { 14, 7 },
						   { 18, 9 }, { 25, 10 }, { 26, 9 }, { 35, 0 },
						   { 36, 9 }, { 43, 10 }, { 44, 9 }, { 53, 0 } };
	struct python_line got[64];
	size_t n = python_lines(table_311, sizeof(table_311), 1, got, ARRAY_SIZE(got));

	CHECK_EQ(n, ARRAY_SIZE(want));
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(got[i].instr, want[i].instr);
		CHECK_EQ(got[i].line, want[i].line);
	}
}

TEST(broken_tables_end_early)
{
	struct python_line got[64];
	static const u8 not_a_start[] = { 0x00, 0x01 }, cut[] = { 0xf0 }, back[] = { 0xe8, 0x15 };

	for (size_t n = 0; n < sizeof(table_311); n++)
		CHECK(python_lines(table_311, n, 1, got, ARRAY_SIZE(got)) <= 12);
	CHECK_EQ(python_lines(table_311, sizeof(table_311), 1, got, 3), 3);
	CHECK_EQ(python_lines(not_a_start, 2, 1, got, 64), 0);
	CHECK_EQ(python_lines(cut, 1, 1, got, 64), 1);
	CHECK_EQ(python_lines(back, 2, 1, got, 64), 0); /* ten lines before the first */
}

TEST(words_hold_code_and_instruction)
{
	u64 w = unwind_python_word(0x7f1234567898, 77);

	CHECK(w & UNWIND_PYTHON_BIT);
	CHECK_EQ(unwind_python_code(w), 0x7f1234567898);
	CHECK_EQ(unwind_python_instr(w), 77);
	CHECK_EQ(unwind_python_instr(unwind_python_word(8, ~0ull >> 1)), UNWIND_PYTHON_NO_INSTR);
}

/* Objects of a Python that never was, in the memory of this process. */
static const struct python_build build = {
	.objects = { .code_file = 8,
		     .code_name = 16,
		     .code_line = 24,
		     .code_lines = 32,
		     .bytes_size = 0,
		     .bytes_data = 8,
		     .text_size = 0,
		     .text_state = 8,
		     .text_ascii = 16,
		     .text_wide = 24 },
};

struct fake_text {
	u64 size;
	u64 state;
	char data[256];
};

struct fake_table {
	u64 size;
	u8 data[sizeof(table_311)];
};

struct fake_code {
	u64 head;
	const struct fake_text *file;
	const struct fake_text *name;
	u32 line;
	u32 pad;
	const struct fake_table *lines;
};

enum { ASCII = 1 << 2 | 1 << 5 | 1 << 6, WIDE = 2 << 2 | 1 << 5 };

static struct fake_text text(const char *s)
{
	struct fake_text t = { .size = strlen(s), .state = ASCII };

	memcpy(t.data, s, strlen(s));
	return t;
}

static u64 word_of(const struct fake_code *c, u32 instr)
{
	return unwind_python_word((u64)(uintptr_t)c, instr);
}

struct fixture {
	struct fake_text name, file;
	struct fake_table table;
	struct fake_code code;
	struct python_names names;
};

static struct fixture *fixture(void)
{
	static struct fixture f;

	f.name = text("Thing.method");
	f.file = text("/srv/app.py");
	f.table.size = sizeof(table_311);
	memcpy(f.table.data, table_311, sizeof(table_311));
	f.code = (struct fake_code){ 1, &f.file, &f.name, 1, 0, &f.table };
	python_names_init(&f.names);
	return &f;
}

static const char *name_at(const struct fixture *f, u64 address)
{
	const struct python_function *fn = python_names_find(&f->names, address);

	return fn ? intern_get(&f->names.strings, fn->name) : NULL;
}

TEST(a_frame_becomes_an_address_of_its_line)
{
	struct fixture *f = fixture();
	u64 seven = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 15), 1);
	u64 ten = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 25), 1);

	CHECK_STR(name_at(f, seven), "Thing.method");
	CHECK_EQ(ten - seven, 3 * PYTHON_LINE_UNITS);
	/* callers are looked for one byte before: still the same line */
	CHECK_EQ((seven - 1) / PYTHON_LINE_UNITS, seven / PYTHON_LINE_UNITS);
	CHECK_EQ(f->names.functions.len, 2);
	CHECK_EQ(f->names.unreadable, 0);
	python_names_release(&f->names);
}

TEST(another_function_in_the_same_place_is_noticed)
{
	struct fixture *f = fixture();
	struct fake_text other = text("other");
	u64 before = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 0), 1);

	f->code.name = &other;
	u64 same = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 0), 1);
	u64 after = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 0), 2);

	CHECK_EQ(same, before);
	CHECK_STR(name_at(f, after), "other");
	CHECK_STR(name_at(f, before), "Thing.method");
	python_names_release(&f->names);
}

TEST(what_cannot_be_read_is_said_and_what_was_read_stays)
{
	struct fixture *f = fixture();
	u64 bad = python_names_address(&f->names, &build, getpid(), unwind_python_word(64, 0), 1);
	u64 good = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 0), 1);

	CHECK_STR(name_at(f, bad), PYTHON_UNREADABLE);
	CHECK_EQ(f->names.unreadable, 1);
	/* a name that is not a string, later: nothing else is known, so it stays */
	f->code.name = (const struct fake_text *)64;
	CHECK_EQ(python_names_address(&f->names, &build, getpid(), word_of(&f->code, 0), 2), good);
	CHECK_EQ(f->names.unreadable, 1);
	python_names_release(&f->names);
}

TEST(names_of_any_width_become_utf8)
{
	struct fixture *f = fixture();
	static const u16 wide[] = { 'f', 0xe9, 0x4e2d, '\n' };

	f->name = (struct fake_text){ .size = 4, .state = WIDE };
	memcpy(f->name.data + 8, wide, sizeof(wide)); /* text_wide is 24 */
	u64 at = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 0), 1);

	CHECK_STR(name_at(f, at), "f\xc3\xa9\xe4\xb8\xad?");
	python_names_release(&f->names);
}

TEST(names_travel_in_a_recording)
{
	struct fixture *f = fixture();
	u64 at = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 15), 1);
	struct symbols *s =
		symbols_new(&(struct symbols_opts){ .no_cache = true, .offline = true });
	_cleanup_buf_ struct buf b = BUF_INIT;
	const struct module_key key = { .path = PYTHON_MAP_NAME };
	struct symbol sym;

	symbols_export(s, &b);
	python_names_export(&f->names, &b);
	CHECK_EQ(symbols_import(s, b.data, b.len, NULL), 0);
	CHECK(symbols_lookup(s, symbols_module(s, &key), at - PYTHON_MAP_START, &sym));
	CHECK_STR(sym.name, "Thing.method");
	CHECK(symbols_lookup(s, symbols_module(s, &key), at - PYTHON_MAP_START - 1, &sym));
	CHECK_STR(sym.name, "Thing.method");
	symbols_free(s);
	python_names_release(&f->names);
}

TEST(lines_travel_in_a_recording)
{
	struct fixture *f = fixture();
	u64 at = python_names_address(&f->names, &build, getpid(), word_of(&f->code, 15), 1);
	struct python_source source = { 0 };
	_cleanup_buf_ struct buf b = BUF_INIT;
	const char *file;
	u32 line;

	python_names_export_lines(&f->names, &b);
	CHECK_EQ(python_source_read(&source, b.data, b.len, NULL), 0);
	CHECK(python_source_find(&source, at - PYTHON_MAP_START, &file, &line));
	CHECK_STR(file, "/srv/app.py");
	CHECK_EQ(line, 7);
	CHECK(python_source_find(&source, at - 1 - PYTHON_MAP_START, &file, &line));
	CHECK_EQ(line, 7);
	CHECK(!python_source_find(&source, 1, &file, &line));
	CHECK(!python_source_find(&source, 1 << 20, &file, &line));
	python_source_release(&source);
	/* cut anywhere but between functions it is refused */
	for (size_t n = 0; n < b.len; n++) {
		int rc = python_source_read(&source, b.data, n, NULL);

		CHECK(rc == 0 || rc == -EBADMSG);
		python_source_release(&source);
	}
	b.data[5] = (char)0xff;
	CHECK_EQ(python_source_read(&source, b.data, b.len, NULL), -EBADMSG);
	CHECK_EQ(source.functions.len, 0);
	python_names_release(&f->names);
}

TEST(a_program_that_is_no_python)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct python_build b;
	_cleanup_elf_ struct elf elf = ELF_INIT;

	CHECK(fd >= 0);
	CHECK_EQ(elf_open_fd(&elf, fd, "self", NULL), 0);
	CHECK_EQ(python_build_read(&elf, &b), -ENOENT);
}

TEST(trampolines_are_known_by_their_bytes)
{
	const u8 code[] = { 0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3, 0x90 };

	CHECK(python_is_trampoline(code, sizeof(code)));
	CHECK(!python_is_trampoline(code, 10));
	CHECK(!python_is_trampoline(code + 1, 11));
}

/* --- lives ------------------------------------------------------------------------------------ */

enum { NOBODY = 0x7ffffff0, STRANGER = 0x7ffffff1, GRANDCHILD = 0x7ffffff2, MARK = 77, OTHER = 78 };
/* Numbers of processes: ours, and those of a child, of its child and of somebody else. */
enum { US = 1001, CHILD = 1003, CHILDS = 1005, ELSE = 1007, NEXT = 1009 };

/* The name of the one function of the fixture in a stack of @w. */
static const char *name_of(struct fixture *f, const struct python_whose *w, u64 round)
{
	const u64 word = word_of(&f->code, 0);
	const struct python_stack s = { .whose = *w, .words = &word, .n = 1 };
	u64 to;

	CHECK(python_names_replace(&f->names, &build, &s, round, &to));
	return name_at(f, to);
}

static struct python_whose us(u32 program)
{
	return (struct python_whose){ .pid = (u32)getpid(), .program = program, .process = US };
}

/* A process that cannot be read, forked by us if nothing else is said. */
static struct python_whose child(u32 program)
{
	return (struct python_whose){
		.pid = NOBODY, .program = program, .process = CHILD, .parent = US
	};
}

TEST(a_child_that_is_gone_had_the_code_of_its_parent)
{
	struct fixture *f = fixture();
	struct python_whose we = us(MARK), it = child(MARK);
	struct python_whose its = {
		.pid = GRANDCHILD, .program = MARK, .process = CHILDS, .parent = CHILD
	};

	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	CHECK_STR(name_of(f, &it, 1), "Thing.method");
	/* also a child of that one */
	CHECK_STR(name_of(f, &its, 2), "Thing.method");
	CHECK_EQ(f->names.unreadable, 0);
	python_names_release(&f->names);
}

TEST(a_parent_without_a_stack_is_read_if_it_runs_the_same)
{
	struct fixture *f = fixture();
	struct python_whose it = child(MARK);

	it.parent_pid = (u32)getpid();
	CHECK_STR(name_of(f, &it, 1), "Thing.method");
	CHECK_EQ(f->names.unreadable, 0);
	python_names_release(&f->names);
}

TEST(a_parent_without_a_stack_is_passed_over)
{
	struct fixture *f = fixture();
	struct python_whose we = us(MARK), it = child(MARK);
	struct python_whose its = {
		.pid = GRANDCHILD, .program = MARK, .process = CHILDS, .parent = CHILD, .origin = US
	};

	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	CHECK_STR(name_of(f, &its, 1), "Thing.method");
	/* also if it could have been read, and when it has one at last */
	its.process = NEXT;
	its.parent_pid = NOBODY;
	CHECK_STR(name_of(f, &its, 2), "Thing.method");
	CHECK_STR(name_of(f, &it, 2), "Thing.method");
	CHECK_EQ(f->names.unreadable, 0);
	python_names_release(&f->names);
}

TEST(without_a_known_parent_a_process_stands_for_itself)
{
	struct fixture *f = fixture();
	struct python_whose we = us(MARK), it = child(MARK);

	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	/* the one between us had no stack, or it was adopted */
	it.parent = ELSE;
	CHECK_STR(name_of(f, &it, 1), PYTHON_UNREADABLE);
	it = (struct python_whose){ .pid = STRANGER, .program = MARK, .process = NEXT };
	CHECK_STR(name_of(f, &it, 1), PYTHON_UNREADABLE);
	python_names_release(&f->names);
}

TEST(a_child_with_another_mark_runs_its_own_program)
{
	struct fixture *f = fixture();
	struct python_whose we = us(MARK), it = child(OTHER);

	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	CHECK_STR(name_of(f, &it, 1), PYTHON_UNREADABLE);
	CHECK_EQ(python_lives_origin(&f->names.lives, python_lives_find(&f->names.lives, &it)), 0);
	python_names_release(&f->names);
}

TEST(after_an_exec_only_stacks_of_before_are_the_parents)
{
	struct fixture *f = fixture();
	struct python_whose we = us(MARK), before = child(MARK), after = child(OTHER);

	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	CHECK_STR(name_of(f, &before, 2), "Thing.method");
	CHECK_STR(name_of(f, &after, 2), PYTHON_UNREADABLE);
	/* a late one of before is still distinguished from those of the new program */
	CHECK_STR(name_of(f, &before, 3), "Thing.method");
	CHECK_STR(name_of(f, &after, 3), PYTHON_UNREADABLE);
	python_names_release(&f->names);
}

TEST(children_of_before_an_exec_of_the_parent_have_its_old_code)
{
	struct fixture *f = fixture();
	struct python_whose we = us(MARK), now = us(OTHER), it = child(MARK);

	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	f->code.name = (const struct fake_text *)64;
	(void)name_of(f, &now, 2);
	CHECK_STR(name_of(f, &it, 2), "Thing.method");
	python_names_release(&f->names);
}

TEST(a_pid_that_is_used_again_is_another_process)
{
	struct fixture *f = fixture();
	struct python_whose we = us(MARK), it = child(MARK), next = child(OTHER);

	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	CHECK_STR(name_of(f, &it, 1), "Thing.method");
	next.process = NEXT;
	next.parent = ELSE;
	CHECK_STR(name_of(f, &next, 2), PYTHON_UNREADABLE);
	/* even if it has the same mark, as it may where addresses are not random */
	next.process = ELSE;
	next.parent = 0;
	next.program = MARK;
	CHECK_STR(name_of(f, &next, 3), PYTHON_UNREADABLE);
	/* unless we forked that one, too */
	next.process = CHILDS;
	next.parent = US;
	CHECK_STR(name_of(f, &next, 4), "Thing.method");
	python_names_release(&f->names);
}

TEST(what_samples_read_of_a_process_holds_for_its_waits)
{
	struct fixture *f = fixture();
	struct python_whose sample = { .pid = (u32)getpid(), .program = MARK };
	struct python_whose wait = us(MARK), it = child(MARK);
	u32 life = python_lives_find(&f->names.lives, &sample);

	CHECK_STR(name_of(f, &sample, 1), "Thing.method");
	CHECK_EQ(python_lives_find(&f->names.lives, &wait), life);
	CHECK_STR(name_of(f, &it, 1), "Thing.method");
	/* and the other way */
	sample.pid = NOBODY;
	CHECK_STR(name_of(f, &sample, 2), "Thing.method");
	/* a late sample of another program does not end the present one */
	sample = (struct python_whose){ .pid = (u32)getpid(), .program = OTHER };
	CHECK_EQ(python_lives_find(&f->names.lives, &sample), life);
	CHECK_EQ(python_lives_find(&f->names.lives, &wait), life);
	python_names_release(&f->names);
}

TEST(a_child_that_lives_is_read_itself)
{
	struct fixture *f = fixture();
	struct fake_text other = text("other");
	struct python_whose parent = { .pid = NOBODY, .program = MARK, .process = CHILD };
	struct python_whose we = us(MARK);

	/* as if a process had forked us before its code became what is here */
	CHECK_STR(name_of(f, &parent, 1), PYTHON_UNREADABLE);
	we.parent = CHILD;
	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	f->code.name = &other;
	CHECK_STR(name_of(f, &we, 2), "other");
	python_names_release(&f->names);
}

TEST(lives_are_bounded)
{
	struct fixture *f = fixture();
	struct python_whose it = child(MARK), we = us(MARK);

	for (u32 i = 0; i < PYTHON_MAX_LIVES + 10; i++) {
		it.pid = NOBODY - i % 5000;
		it.process = 2000 + i;
		name_of(f, &it, 1);
	}
	CHECK(f->names.lives.items.len <= PYTHON_MAX_LIVES + 1);
	CHECK_STR(name_of(f, &we, 1), "Thing.method");
	python_names_release(&f->names);
}
