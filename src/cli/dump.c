/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables for machines: 'fathom help --json'. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/json.h"
#include "cli/table.h"

static void text_or_null(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	if (s)
		json_str(j, s);
	else
		json_null(j);
}

static void word_array(struct json *j, const char *key, const char *list)
{
	char word[OPT_NAME_MAX];

	json_key(j, key);
	json_array(j);
	while (word_next(&list, word, sizeof(word)))
		json_str(j, word);
	json_end(j);
}

static void choices(struct json *j, const char *const *list)
{
	json_key(j, "choices");
	json_array(j);
	for (; list && *list; list++)
		json_str(j, *list);
	json_end(j);
}

static void option(struct json *j, const struct opt_ref *ref)
{
	const struct opt *o = ref->opt;
	const char letter[] = { o->short_name, '\0' };
	_cleanup_buf_ struct buf arg = BUF_INIT;

	opt_arg_name(o, &arg);
	json_open(j);
	text_or_null(j, "name", o->name);
	text_or_null(j, "short", o->short_name ? letter : NULL);
	text_or_null(j, "after", o->after);
	json_kv_str(j, "type", value_type_name(o->type));
	text_or_null(j, "value", opt_takes_value(o) ? buf_str(&arg) : NULL);
	text_or_null(j, "help", o->help);
	text_or_null(j, "default", o->def);
	json_kv_str(j, "group", opt_group(o));
	choices(j, o->type == OPT_CHOICE ? o->choices : NULL);
	word_array(j, "aliases", o->alias);
	word_array(j, "conflicts", o->conflicts);
	json_kv_bool(j, "value_optional", o->flags & OPT_OPTIONAL);
	json_kv_bool(j, "negatable", o->flags & OPT_NEGATABLE);
	json_kv_bool(j, "hidden", ref->hidden);
	json_kv_bool(j, "common", ref->common);
	json_close(j);
}

static void options(struct json *j, const struct command *cmd)
{
	opt_refs refs;

	json_key(j, "options");
	json_array(j);
	opts_collect(cmd, &refs);
	vec_each(ref, &refs)
		option(j, ref);
	vec_release(&refs);
	json_end(j);
}

static void examples(struct json *j, const struct example *x)
{
	json_key(j, "examples");
	json_array(j);
	for (; x && x->line; x++) {
		json_open(j);
		json_kv_str(j, "line", x->line);
		text_or_null(j, "text", x->text);
		json_close(j);
	}
	json_end(j);
}

static void columns(struct json *j, const struct column_words *c)
{
	if (!c)
		return;
	json_key(j, "columns");
	json_array(j);
	for (; c->key; c++) {
		json_open(j);
		json_kv_str(j, "key", c->key);
		json_kv_str(j, "type", c->type);
		text_or_null(j, "unit", c->unit);
		json_close(j);
	}
	json_end(j);
}

static void command(struct json *j, const struct command *cmd)
{
	json_open(j);
	json_kv_str(j, "name", cmd->name);
	json_kv_str(j, "summary", cmd->summary);
	text_or_null(j, "description", cmd->description);
	json_kv_str(j, "question", cli_question(cmd->question));
	if (cmd->group)
		json_kv_str(j, "group", cmd->group);
	text_or_null(j, "operands", cmd->operands);
	json_kv_u64(j, "min_operands", cmd->min_operands);
	json_key(j, "max_operands");
	if (cmd->max_operands == SIZE_MAX)
		json_null(j);
	else
		json_u64(j, cmd->max_operands);
	json_kv_bool(j, "takes_program", cmd->takes_program);
	options(j, cmd);
	columns(j, cmd->columns);
	examples(j, cmd->examples);
	word_array(j, "see_also", cmd->see_also);
	json_close(j);
}

void cli_dump(const struct command *const *commands, size_t n, const struct command *only,
	      struct buf *out)
{
	struct json j;

	json_init(&j, out, true);
	json_open(&j);
	json_kv_u64(&j, "schema", RESULT_SCHEMA);
	json_kv_str(&j, "command", "help");
	json_key(&j, "commands");
	json_array(&j);
	for (size_t i = 0; i < n; i++)
		if (!only || only == commands[i])
			command(&j, commands[i]);
	json_end(&j);
	json_close(&j);
	if (out->len && out->data[out->len - 1] != '\n')
		buf_addch(out, '\n');
}
