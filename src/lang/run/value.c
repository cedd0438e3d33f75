/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stored values to text, by their types; printf. */
#include "base/fmt.h"
#include "base/io.h"
#include "base/json.h"
#include "host/cpu.h"
#include "lang/front/fmt.h"
#include "lang/run/run.h"
#include "lang/fn/signals.h"
#include "symbol/demangle.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>

static void add_int(const struct type *t, u64 v, struct buf *out)
{
	if (t->is_signed)
		buf_addf(out, "%lld", (long long)v);
	else
		buf_addu(out, v);
}

/* The constant of an enum that has this value, or NULL. */
static const char *enum_name(struct run *r, const struct type *t, u64 v)
{
	struct kbtf *btf = t->btf ? types_btf(&r->c->types) : NULL;

	if (t->btf)
		return btf ? kbtf_enum_name(btf, t->btf, (s64)v) : NULL;
	if (streq(t->name, TYPE_BOOL))
		return v ? "true" : "false";
	vec_each(it, &r->c->prog.defines) {
		if (it->of && streq(it->of->name, t->name) &&
		    (it->value == (s64)v || (u32)it->value == v))
			return it->name;
	}
	return NULL;
}

/* A number by the name that its type has for it, if any. */
static void add_enum(struct run *r, const struct type *t, u64 v, struct buf *out)
{
	const char *name = enum_name(r, t, v);

	if (name)
		buf_addstr(out, name);
	else
		add_int(t, v, out);
}

/* JSON has constants as numbers, and numbers above those of other languages as text. */
static void add_plain(struct run *r, const struct type *t, u64 v, struct buf *out, bool json)
{
	if (t->name && (!json || streq(t->name, TYPE_BOOL)))
		add_enum(r, t, v, out);
	else if (json && !t->is_signed && v > INT64_MAX)
		buf_addf(out, "\"%llu\"", (unsigned long long)v);
	else
		add_int(t, v, out);
}

static void add_pointer(u64 v, struct buf *out, bool json)
{
	if (json)
		buf_addu(out, v);
	else
		buf_addf(out, "0x%llx", (unsigned long long)v);
}

static void add_bytes(const u8 *p, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] >= 32 && p[i] < 127 && p[i] != '\\')
			buf_addch(out, (char)p[i]);
		else
			buf_addf(out, "\\x%02x", p[i]);
	}
}

static void add_inet(const u8 *bytes, struct buf *out)
{
	char text[INET6_ADDRSTRLEN];
	int family = load_u64(bytes) == AF_INET6 ? AF_INET6 : AF_INET;

	if (inet_ntop(family, bytes + 8, text, sizeof(text)))
		buf_addstr(out, text);
}

static void add_username(u64 uid, struct buf *out)
{
	const struct passwd *pw = getpwuid((uid_t)uid);

	if (pw)
		buf_addstr(out, pw->pw_name);
	else
		buf_addu(out, uid);
}

/* The directory whose inode is the number of the control group. */
static bool find_cgroup(const char *dir, u64 id, int depth, struct buf *out)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	bool found = false;
	struct stat st;

	if (!d)
		return false;
	if (fstat(dirfd(d), &st) == 0 && st.st_ino == id) {
		buf_addstr(out, dir);
		found = true;
	}
	while (!found && depth < 32 && (e = readdir(d))) {
		if (e->d_type == DT_DIR && e->d_name[0] != '.') {
			char *sub = xasprintf("%s/%s", dir, e->d_name);

			found = find_cgroup(sub, id, depth + 1, out);
			free(sub);
		}
	}
	closedir(d);
	return found;
}

static void add_cgroup(u64 id, struct buf *out)
{
	struct buf path = BUF_INIT;

	if (find_cgroup("/sys/fs/cgroup", id, 0, &path))
		buf_addf(out, "unified:%s", path.len > 14 ? path.data + 14 : "/");
	buf_release(&path);
}

static void add_target(struct run *r, const struct type *t, u64 i, struct buf *out)
{
	const struct target *g;

	if (i >= r->c->targets.len)
		return;
	g = &r->c->targets.items[i];
	if (t->kind == T_FUNC && g->event && r->c->config.cpp_demangle &&
	    starts_with(g->event, "_Z") && demangle(g->event, out))
		return;
	buf_addstr(out, t->kind == T_PROBE ? g->name : g->event ? g->event : g->name);
}

/* Loads a number from memory. */
static u64 raw_int(const struct type *t, const u8 *bytes)
{
	u64 v = 0;
	u32 shift = 64 - MIN(t->size, 8u) * 8;

	memcpy(&v, bytes, MIN(t->size, 8u));
	v <<= shift;
	return t->is_signed ? (u64)((s64)v >> shift) : v >> shift;
}

static void add_raw(struct run *r, const struct type *t, const u8 *bytes, struct buf *out,
		    bool json, int depth);

enum { MAX_NESTED = 8 }; /* structs without a name inside one another */

struct members {
	struct run *r;
	const struct type *of; /* the struct that is shown */
	const u8 *bytes;
	struct buf *out;
	bool json;
	int depth;
	u32 shown;
};

static void add_member(struct members *m, const struct field *f)
{
	u64 v;

	if (m->shown++)
		buf_addstr(m->out, ", ");
	buf_addf(m->out, m->json ? "\"%s\": " : ".%s = ", f->name);
	if (!f->bits) {
		add_raw(m->r, f->type, m->bytes + f->offset, m->out, m->json, m->depth + 1);
		return;
	}
	v = raw_int(f->type, m->bytes + f->offset);
	buf_addu(m->out, v >> f->bit & (f->bits >= 64 ? ~0ull : (1ull << f->bits) - 1));
}

/* Those of @t: the struct itself, or one without a name inside it. */
static void add_members(struct members *m, const struct type *t, int nested)
{
	struct types *types = &m->r->c->types;
	const struct type *inner;
	struct field f;

	for (u32 i = 0; type_field_name(types, t, i); i++) {
		inner = nested < MAX_NESTED ? type_anonymous(types, t, i) : NULL;
		if (inner)
			add_members(m, inner, nested + 1);
		else if (*type_field_name(types, t, i) &&
			 type_field(types, m->of, type_field_name(types, t, i), &f) &&
			 f.offset + f.type->size <= m->of->size)
			add_member(m, &f);
	}
}

static void add_struct(struct run *r, const struct type *t, const u8 *bytes, struct buf *out,
		       bool json, int depth)
{
	struct members m = {
		.r = r, .of = t, .bytes = bytes, .out = out, .json = json, .depth = depth
	};

	buf_addstr(out, json ? "{" : "{ ");
	add_members(&m, t, 0);
	buf_addstr(out, json ? "}" : " }");
}

/* Values inside structs and arrays, which lie there as C has them. */
static void add_raw(struct run *r, const struct type *t, const u8 *bytes, struct buf *out,
		    bool json, int depth)
{
	if (depth > 8) {
		buf_addstr(out, "...");
		return;
	}
	switch (t->kind) {
	case T_INT: add_plain(r, t, raw_int(t, bytes), out, json); break;
	case T_PTR: add_pointer(load_u64(bytes), out, json); break;
	case T_STRUCT: add_struct(r, t, bytes, out, json, depth); break;
	case T_ARRAY:
		buf_addch(out, '[');
		for (u32 i = 0; i < t->count; i++) {
			if (i)
				buf_addch(out, ',');
			add_raw(r, t->elem, bytes + i * t->elem->size, out, json, depth + 1);
		}
		buf_addch(out, ']');
		break;
	default: run_value(r, t, bytes, out, json); break;
	}
}

/* With names for all elements or for none. */
static void add_tuple(struct run *r, const struct type *t, const u8 *bytes, struct buf *out,
		      bool json)
{
	bool record = t->n_fields && *t->fields[0].name;

	buf_addstr(out, record ? (json ? "{" : "{ ") : json ? "[" : "(");
	for (u32 i = 0; i < t->n_fields; i++) {
		if (i)
			buf_addstr(out, json && !record ? "," : ", ");
		if (record)
			buf_addf(out, json ? "\"%s\": " : ".%s = ", t->fields[i].name);
		run_value(r, t->fields[i].type, bytes + t->fields[i].offset, out, json);
	}
	buf_addstr(out, record ? (json ? "}" : " }") : json ? "]" : ")");
}

static void add_string(struct run *r, const struct type *t, const u8 *bytes, struct buf *out)
{
	size_t n = strnlen((const char *)bytes, t->size);

	buf_add(out, bytes, n);
	/* Cut at the limit, or an array without an end. */
	if ((n == r->c->config.max_strlen && n + 1 == t->size) || (n && n == t->size))
		buf_addstr(out, r->c->config.str_trunc_trailer);
}

/* The kernel's words, where libc has others: bpftrace shows these. */
static const struct {
	int number;
	const char *text;
} kernel_errors[] = {
	{ EIO, "I/O error" },
	{ EBADF, "Bad file number" },
	{ EAGAIN, "Try again (operation would block)" },
	{ ENOMEM, "Out of memory" },
	{ EXDEV, "Cross-device link" },
	{ ENFILE, "File table overflow" },
	{ ENOTTY, "Not a typewriter" },
	{ EDOM, "Math argument out of domain of func" },
	{ ERANGE, "Math result not representable" },
	{ EDEADLK, "Resource deadlock would occur" },
	{ ENOLCK, "No record locks available" },
	{ ENOSYS, "Invalid system call number" },
	{ ELOOP, "Too many symbolic links encountered" },
	{ EBADMSG, "Not a data message" },
	{ EILSEQ, "Illegal byte sequence" },
	{ EOPNOTSUPP, "Operation not supported on transport endpoint" },
	{ ENETRESET, "Network dropped connection because of reset" },
	{ EDQUOT, "Quota exceeded" },
	{ ECANCELED, "Operation Canceled" },
};

static const char *error_text(const struct run *r, int number)
{
	for (size_t i = 0; r->c->opts->compat && i < ARRAY_SIZE(kernel_errors); i++) {
		if (kernel_errors[i].number == number)
			return kernel_errors[i].text;
	}
	return strerrordesc_np(number);
}

/* The name that a process has now; its number when it is gone. */
static void add_task_comm(u32 pid, struct buf *out)
{
	struct buf text = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (io_read_file(path, 64, &text, NULL) == 0 && text.len)
		buf_add(out, text.data, text.len - (text.data[text.len - 1] == '\n'));
	else
		buf_addf(out, "%u", pid);
	buf_release(&text);
}

static void add_named(struct run *r, const struct type *t, const u8 *bytes, struct buf *out)
{
	u64 v = load_u64(bytes);
	const char *name;

	switch (t->kind) {
	case T_STR: add_string(r, t, bytes, out); break;
	case T_BUF: add_bytes(bytes + 8, MIN(v, (u64)t->size), out); break;
	case T_KSTACK:
	case T_USTACK: run_stack(r, t, bytes, out, 8, false); break;
	case T_KSYM:
		/* func and ksym() in one map */
		if (v && v < r->c->targets.len)
			add_target(r, t, v, out);
		else
			run_ksym(r, v, out, false);
		break;
	case T_USYM: run_usym(r, v, (u32)load_u64(bytes + 8), out, false); break;
	case T_INET: add_inet(bytes, out); break;
	case T_MAC:
		for (int i = 0; i < 6; i++)
			buf_addf(out, "%s%02X", i ? ":" : "", bytes[i]);
		break;
	case T_USERNAME: add_username(v, out); break;
	case T_TIMESTAMP: run_strftime(r, t->str, v + r->boot_to_wall, out); break;
	case T_CGROUP_PATH: add_cgroup(v, out); break;
	case T_STRERROR:
		name = error_text(r, abs((int)v));
		buf_addstr(out, name ? name : "Unknown error");
		break;
	case T_SIGNAL_NAME:
		name = sigdescr_np((int)v);
		if (v > (u64)SIGRTMAX)
			buf_addstr(out, "N/A");
		else if (name)
			buf_addstr(out, name);
		else if (v >= (u64)SIGRTMIN)
			buf_addf(out, "Real-time signal %d", (int)v - SIGRTMIN);
		else
			buf_addf(out, "Unknown signal %d", (int)v);
		break;
	case T_TASK_COMM: add_task_comm((u32)v, out); break;
	case T_SYSCALL_NAME:
		name = cpu_syscall_name((u32)v);
		buf_addstr(out, name ? name : "Unknown syscall");
		break;
	case T_PROBE:
	case T_FUNC: add_target(r, t, v, out); break;
	default: break;
	}
}

void run_value(struct run *r, const struct type *t, const u8 *bytes, struct buf *out, bool json)
{
	struct buf text = BUF_INIT;

	switch (t->kind) {
	case T_INT: add_plain(r, t, load_u64(bytes), out, json); return;
	case T_PTR: add_pointer(load_u64(bytes), out, json); return;
	case T_TUPLE: add_tuple(r, t, bytes, out, json); return;
	case T_STRUCT:
	case T_ARRAY: add_raw(r, t, bytes, out, json, 0); return;
	default: break;
	}
	if (!json && !r->c->opts->clean) {
		add_named(r, t, bytes, out);
		return;
	}
	if (t->kind == T_BUF) {
		buf_addch(out, '[');
		for (u64 i = 0; i < MIN(load_u64(bytes), (u64)t->size); i++)
			buf_addf(out, i ? ",%u" : "%u", bytes[8 + i]);
		buf_addch(out, ']');
		return;
	}
	add_named(r, t, bytes, &text);
	if (json)
		json_quote(out, buf_str(&text), text.len);
	else
		fmt_clean_lines(out, buf_str(&text), text.len);
	buf_release(&text);
}

/* --- printf ----------------------------------------------------------------------------------- */

static u64 narrow(u64 v, u8 bytes, bool is_signed)
{
	if (bytes == 1)
		return is_signed ? (u64)(s64)(s8)v : (u8)v;
	if (bytes == 2)
		return is_signed ? (u64)(s64)(s16)v : (u16)v;
	if (bytes == 4)
		return is_signed ? (u64)(s64)(s32)v : (u32)v;
	return v;
}

/* As in C, a number without a length letter is an int. */
static void add_number(const struct conversion *v, u64 n, struct buf *out)
{
	bool is_signed = v->letter == 'd' || v->letter == 'i';
	char fmt[40];

	if (v->letter == 'p') {
		buf_addf(out, n ? "0x%llx" : "%llx", (unsigned long long)n);
		return;
	}
	n = narrow(n, v->bytes, is_signed);
	if (v->width >= 0 && v->precision >= 0)
		snprintf(fmt, sizeof(fmt), "%%%s%d.%dll%c", v->flags, v->width, v->precision,
			 v->letter);
	else if (v->width >= 0)
		snprintf(fmt, sizeof(fmt), "%%%s%dll%c", v->flags, v->width, v->letter);
	else if (v->precision >= 0)
		snprintf(fmt, sizeof(fmt), "%%%s.%dll%c", v->flags, v->precision, v->letter);
	else
		snprintf(fmt, sizeof(fmt), "%%%sll%c", v->flags, v->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	buf_addf(out, fmt, n);
#pragma GCC diagnostic pop
}

static void add_padded(const struct conversion *v, const struct buf *text, struct buf *out)
{
	size_t n = text->len, width = v->width < 0 ? 0 : (size_t)v->width;
	bool left = strchr(v->flags, '-') != NULL;

	if (v->precision >= 0)
		n = MIN(n, (size_t)v->precision);
	if (!left && width > n)
		buf_fill(out, ' ', width - n);
	buf_add(out, buf_str(text), n);
	if (left && width > n)
		buf_fill(out, ' ', width - n);
}

static void add_buffer(const struct conversion *v, const struct type *t, const u8 *bytes,
		       struct buf *out)
{
	size_t n = MIN(load_u64(bytes), (u64)t->size);

	if (!v->hex_plain && !v->hex_escaped) {
		add_bytes(bytes + 8, n, out);
		return;
	}
	for (size_t i = 0; i < n; i++)
		buf_addf(out, v->hex_escaped ? "\\x%02x" : i ? " %02x" : "%02x", bytes[8 + i]);
}

void run_printf(struct run *r, const char *fmt, const struct type *args, const u8 *bytes,
		struct buf *out)
{
	struct buf text = BUF_INIT;
	struct conversion v;
	u32 i = 0;

	while (!fmt_next(&fmt, &v)) {
		const struct type *t;
		const u8 *at;

		buf_add(out, v.text, v.text_len);
		if (!v.letter)
			break;
		if (v.letter == '%') {
			buf_addch(out, '%');
			continue;
		}
		if (i >= args->n_fields)
			break;
		t = args->fields[i].type;
		at = bytes + args->fields[i++].offset;
		if (v.letter == 's') {
			buf_reset(&text);
			if (t->kind == T_INT && t->name)
				add_enum(r, t, load_u64(at), &text);
			else
				run_value(r, t, at, &text, false);
			add_padded(&v, &text, out);
		} else if (v.letter == 'g') {
			buf_reset(&text);
			run_gfp(r, load_u64(at), &text);
			add_padded(&v, &text, out);
		} else if (v.letter == 'c') {
			buf_reset(&text);
			buf_addch(&text, (char)load_u64(at));
			add_padded(&v, &text, out);
		} else if (v.letter == 'r') {
			add_buffer(&v, t, at, out);
		} else {
			add_number(&v, load_u64(at), out);
		}
	}
	buf_release(&text);
}
