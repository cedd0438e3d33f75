/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config(): the settings as a record, whose values are known when the program is compiled. */
#include <ctype.h>

#include "base/parse.h"
#include "lang/check/check.h"

enum member_kind { MEMBER_BOOL, MEMBER_NUMBER, MEMBER_TEXT };

/* In the order of bpftrace's record. */
struct member {
	const char *name;
	enum member_kind kind;
	const char *usual; /* of those that have no meaning here; NULL: the setting is used */
};

static const struct member members[] = {
	{ "cpp_demangle", MEMBER_BOOL, NULL },
	{ "lazy_symbolication", MEMBER_BOOL, "true" },
	{ "print_maps_on_exit", MEMBER_BOOL, NULL },
	{ "use_blazesym", MEMBER_BOOL, "false" },
	{ "show_debug_info", MEMBER_BOOL, "false" },
	{ "log_size", MEMBER_NUMBER, "1000000" },
	{ "max_bpf_progs", MEMBER_NUMBER, "1024" },
	{ "max_cat_bytes", MEMBER_NUMBER, NULL },
	{ "max_map_keys", MEMBER_NUMBER, NULL },
	{ "max_probes", MEMBER_NUMBER, NULL },
	{ "max_strlen", MEMBER_NUMBER, NULL },
	{ "on_stack_limit", MEMBER_NUMBER, "32" },
	{ "perf_rb_pages", MEMBER_NUMBER, "0" },
	{ "str_trunc_trailer", MEMBER_TEXT, NULL },
	{ "unstable_import_statement", MEMBER_TEXT, "error" },
	{ "unstable_tseries", MEMBER_TEXT, "warn" },
	{ "unstable_typeinfo", MEMBER_TEXT, "error" },
	{ "unstable_dw_ustack", MEMBER_TEXT, "warn" },
	{ "missing_probes", MEMBER_TEXT, NULL },
	{ "stack_mode", MEMBER_TEXT, NULL },
	{ "license", MEMBER_TEXT, NULL },
};

static const char prefix[] = "BPFTRACE_";

/* What the environment, or else the script, says of a setting that is not used. */
static const char *unused_text(struct comp *c, const struct member *m)
{
	char *name = arena_printf(&c->prog.arena, "%s%s", prefix, m->name);
	const char *value = m->usual, *given;
	size_t skip = strlen(prefix);

	vec_each(it, &c->prog.config) {
		if (strcasecmp(it->key, name) == 0 || strcasecmp(it->key, name + skip) == 0)
			value = it->value;
	}
	for (char *p = name; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	given = getenv(name);
	return given ? arena_strdup(&c->prog.arena, given) : value;
}

bool config_value(struct comp *c, const char *name, struct node *ret)
{
	const struct member *m = NULL;
	const char *text = NULL;
	u64 number = 0;
	bool yes;

	for (size_t i = 0; i < ARRAY_SIZE(members) && !m; i++) {
		if (streq(members[i].name, name))
			m = &members[i];
	}
	if (m && m->usual) {
		text = unused_text(c, m);
		if (m->kind == MEMBER_BOOL)
			number = comp_truth(text, &yes) && yes;
		else if (m->kind == MEMBER_NUMBER && parse_u64(text, &number, NULL) < 0)
			number = 0;
		if (m->kind != MEMBER_TEXT)
			text = NULL;
	} else if (!comp_setting(c, name, &number, &text)) {
		return false;
	}
	ret->kind = text ? N_STR : N_INT;
	ret->str = text;
	ret->str_len = text ? (u32)strlen(text) : 0;
	ret->flag = !text && number > INT64_MAX;
	ret->ival = number;
	ret->ref = !text && m && m->kind == MEMBER_BOOL ? (void *)type_bool(&c->types) : NULL;
	ret->n_kids = 0;
	return true;
}

void config_record(struct comp *c, struct node *n)
{
	struct node *kids[ARRAY_SIZE(members)];
	const char *names[ARRAY_SIZE(members)];

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		names[i] = members[i].name;
		kids[i] = arena_zalloc(&c->prog.arena, sizeof(*kids[i]));
		kids[i]->at = n->at;
		config_value(c, names[i], kids[i]);
	}
	n->kind = N_TUPLE;
	n->kids = arena_dup(&c->prog.arena, kids, sizeof(kids));
	n->names = arena_dup(&c->prog.arena, names, sizeof(names));
	n->n_kids = ARRAY_SIZE(members);
	check_expr(c, n);
}
