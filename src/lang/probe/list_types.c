/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -l 'struct NAME' and -l 'enum NAME': types of the kernel as C declares them. */
#include "lang/comp.h"
#include "lang/probe/provider.h"

enum { DECLARATION_DEPTH = 16 };

static void add_declaration(const struct kbtf *btf, u32 id, const char *inner, int depth,
			    struct buf *out);

static void add_record(const struct kbtf *btf, u32 id, int depth, struct buf *out);

static void add_parameters(const struct kbtf *btf, u32 id, int depth, struct buf *out)
{
	u32 type, i;

	for (i = 0; kbtf_param(btf, id, i, &type, NULL) == 0; i++) {
		if (i)
			buf_addstr(out, ", ");
		if (type)
			add_declaration(btf, type, "", depth + 1, out);
		else
			buf_addstr(out, "...");
	}
	if (!i)
		buf_addstr(out, "void");
}

/* What a pointer, array or function is of comes first, itself around the name. */
static void add_derived(const struct kbtf *btf, const struct btf_type *t, u32 id, const char *inner,
			int depth, struct buf *out)
{
	const struct btf_type *of = kbtf_type(btf, t->type);
	struct buf text = BUF_INIT;
	struct btf_array a;
	u32 next = t->type;

	switch (kbtf_kind(t)) {
	case BTF_KIND_PTR:
		if (of && (kbtf_kind(of) == BTF_KIND_ARRAY || kbtf_kind(of) == BTF_KIND_FUNC_PROTO))
			buf_addf(&text, "(*%s)", inner);
		else
			buf_addf(&text, "*%s", inner);
		break;
	case BTF_KIND_ARRAY:
		memcpy(&a, t + 1, sizeof(a));
		buf_addf(&text, "%s[%u]", inner, a.nelems);
		next = a.type;
		break;
	case BTF_KIND_FUNC_PROTO:
		buf_addf(&text, "%s(", inner);
		add_parameters(btf, id, depth, &text);
		buf_addch(&text, ')');
		break;
	default: /* const and the like */
		if (of && kbtf_kind(of) == BTF_KIND_PTR)
			buf_addf(&text, " const %s", inner);
		else
			buf_addstr(out, kbtf_kind(t) == BTF_KIND_CONST ? "const " : "");
		break;
	}
	add_declaration(btf, next, text.len ? buf_str(&text) : inner, depth + 1, out);
	buf_release(&text);
}

static const char *keyword(u32 kind)
{
	switch (kind) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_FWD: return "struct ";
	case BTF_KIND_UNION: return "union ";
	case BTF_KIND_ENUM:
	case KBTF_KIND_ENUM64: return "enum ";
	default: return "";
	}
}

static void add_declaration(const struct kbtf *btf, u32 id, const char *inner, int depth,
			    struct buf *out)
{
	const struct btf_type *t = id ? kbtf_type(btf, id) : NULL;
	const char *name = t ? kbtf_name(btf, id) : "void";
	u32 kind = t ? kbtf_kind(t) : BTF_KIND_UNKN;

	if (depth > DECLARATION_DEPTH) {
		buf_addstr(out, "...");
		return;
	}
	if (kind == BTF_KIND_PTR || kind == BTF_KIND_ARRAY || kind == BTF_KIND_FUNC_PROTO ||
	    kind == BTF_KIND_CONST || kind == BTF_KIND_VOLATILE || kind == BTF_KIND_RESTRICT ||
	    kind == BTF_KIND_TYPE_TAG) {
		add_derived(btf, t, id, inner, depth, out);
		return;
	}
	buf_addstr(out, keyword(kind));
	if (!*name && (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION))
		add_record(btf, id, depth + 1, out);
	else
		buf_addstr(out, name);
	if (*inner)
		buf_addf(out, " %s", inner);
}

/* { members }, each on a line of its own. */
static void add_record(const struct kbtf *btf, u32 id, int depth, struct buf *out)
{
	struct kbtf_member m;

	buf_addstr(out, "{\n");
	for (u32 i = 0; kbtf_member_at(btf, id, i, &m) == 0; i++) {
		buf_fill(out, '\t', (size_t)depth + 1);
		add_declaration(btf, m.type, m.name, depth, out);
		if (m.bit_size)
			buf_addf(out, ": %u", m.bit_size);
		buf_addstr(out, ";\n");
	}
	buf_fill(out, '\t', (size_t)depth);
	buf_addch(out, '}');
}

void kbtf_type_name(const struct kbtf *btf, u32 id, struct buf *out)
{
	add_declaration(btf, id, "", 0, out);
}

static void add_constants(const struct kbtf *btf, u32 id, struct buf *out)
{
	const char *name;
	s64 value;

	buf_addstr(out, "{\n");
	for (u32 i = 0; (name = kbtf_enum_at(btf, id, i, &value)); i++)
		buf_addf(out, "\t%s = %lld,\n", name, (long long)value);
	buf_addch(out, '}');
}

int list_types(struct comp *c, const char *pattern, bool verbose, struct buf *out, struct err *e)
{
	const struct kbtf *btf = types_btf(&c->types);
	const char *bare = strchr(pattern, ' ') + 1;
	size_t n = 0;

	for (u32 id = 1; btf && id <= kbtf_count(btf); id++) {
		const struct btf_type *t = kbtf_type(btf, id);
		const char *name = kbtf_name(btf, id), *word = t ? keyword(kbtf_kind(t)) : "";

		if (!*word || kbtf_kind(t) == BTF_KIND_FWD || !*name ||
		    !starts_with(pattern, word) || !provider_match(bare, name))
			continue;
		n++;
		if (verbose && c->opts->compat)
			buf_addstr(out, "vmlinux: ");
		buf_addf(out, "%s%s", word, name);
		if (verbose) {
			buf_addch(out, ' ');
			if (streq(word, "enum "))
				add_constants(btf, id, out);
			else
				add_record(btf, id, 0, out);
			buf_addstr(out, ";\n");
		}
		buf_addch(out, '\n');
	}
	return n ? 0 : err_set(e, ENOENT, "the kernel's type information has no '%s'", pattern);
}
