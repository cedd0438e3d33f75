/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pprof's profile.proto -> profile. Ids and indexes in it may be anything; what refers to nothing
 * is none. Times of single samples are not kept in such files.
 */
#include "profile/pprof.h"

#include "base/varint.h"
#include "profile/gzip.h"
#include "profile/load.h"

enum {
	UNPACKED_MOST = 2047 << 20,
	DEPTH_MOST = 1 << 16, /* frames of one sample */
	TYPES_MOST = 64,      /* values in each sample */
	LINES_MOST = 256,     /* functions inlined at one place */
};

enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };

struct value_kind {
	u64 type, unit; /* index of strings */
	u16 event;
	bool is_count; /* how often, of the kind that follows */
	u64 scale;     /* nanoseconds in one */
};

struct text {
	const char *bytes;
	size_t len;
};

/* A location as the frames of it, innermost first: frames[first, first + n). */
struct location {
	u32 first;
	u32 n;
};

struct function {
	u64 name, file;
};

struct pprof {
	struct profile *profile;
	VEC(struct text) strings;
	struct map functions; /* id -> index of function_list + 1 */
	VEC(struct function) function_list;
	struct map mappings;  /* id -> string of the profile */
	struct map locations; /* id -> index of location_list + 1 */
	VEC(struct location) location_list;
	VEC(u32) frames;
	VEC(struct value_kind) kinds;
	u64 default_type;
	VEC(u64) values; /* of one sample */
	VEC(u64) chain;
	const char *fault;
};

static const struct text *text_at(const struct pprof *p, u64 index)
{
	static const struct text none = { "", 0 };

	return index < p->strings.len ? &p->strings.items[index] : &none;
}

static u32 string_at(const struct pprof *p, u64 index)
{
	const struct text *t = text_at(p, index);

	return t->len ? intern_bytes(&p->profile->strings, t->bytes, t->len) : 0;
}

static bool text_is(const struct pprof *p, u64 index, const char *s)
{
	const struct text *t = text_at(p, index);

	return t->len == strlen(s) && memcmp(t->bytes, s, t->len) == 0;
}

/* Calls @take for each field of a message; false when it is broken. */
static bool each_field(struct pprof *p, const u8 *data, size_t len,
		       void (*take)(struct pprof *p, const struct wire_field *f, void *ctx),
		       void *ctx)
{
	struct wire w = wire_of(data, len);
	struct wire_field f;
	int r;

	while ((r = wire_next(&w, &f)) > 0)
		take(p, &f, ctx);
	if (r < 0 && !p->fault)
		p->fault = "a message is cut or of no known wire type";
	return r == 0;
}

/* --- what samples refer to ------------------------------------------------------------------ */

static void take_kind(struct pprof *p, const struct wire_field *f, void *ctx)
{
	struct value_kind *k = ctx;

	(void)p;
	if (f->number == 1)
		k->type = f->value;
	else if (f->number == 2)
		k->unit = f->value;
}

struct mapping_fields {
	u64 id, file;
};

static void take_mapping(struct pprof *p, const struct wire_field *f, void *ctx)
{
	struct mapping_fields *m = ctx;

	(void)p;
	if (f->number == 1)
		m->id = f->value;
	else if (f->number == 5)
		m->file = f->value;
}

struct function_fields {
	u64 id, name, system_name, file;
};

static void take_function(struct pprof *p, const struct wire_field *f, void *ctx)
{
	struct function_fields *m = ctx;

	(void)p;
	switch (f->number) {
	case 1: m->id = f->value; break;
	case 2: m->name = f->value; break;
	case 3: m->system_name = f->value; break;
	case 4: m->file = f->value; break;
	default: break;
	}
}

static void add_function(struct pprof *p, const struct wire_field *f)
{
	struct function_fields m = { 0 };

	if (!each_field(p, f->data, f->len, take_function, &m) || !m.id)
		return;
	vec_push(&p->function_list, (struct function){ m.name ? m.name : m.system_name, m.file });
	map_put(&p->functions, m.id, p->function_list.len);
}

static void add_mapping(struct pprof *p, const struct wire_field *f)
{
	struct mapping_fields m = { 0 };

	if (each_field(p, f->data, f->len, take_mapping, &m) && m.id)
		map_put(&p->mappings, m.id, string_at(p, m.file));
}

/* --- locations ------------------------------------------------------------------------------ */

struct location_fields {
	u64 id, mapping, address;
	VEC(u64) lines; /* functions, innermost first */
};

static void take_line(struct pprof *p, const struct wire_field *f, void *ctx)
{
	(void)p;
	if (f->number == 1)
		*(u64 *)ctx = f->value;
}

static void take_location(struct pprof *p, const struct wire_field *f, void *ctx)
{
	struct location_fields *l = ctx;
	u64 function = 0;

	switch (f->number) {
	case 1: l->id = f->value; break;
	case 2: l->mapping = f->value; break;
	case 3: l->address = f->value; break;
	case 4:
		if (f->type == WIRE_BYTES && l->lines.len < LINES_MOST &&
		    each_field(p, f->data, f->len, take_line, &function))
			vec_push(&l->lines, function);
		break;
	default: break;
	}
}

static u8 kind_of(const char *module)
{
	return starts_with(module, "[kernel") || starts_with(module, "[guest.kernel") ||
			       ends_with(module, ".ko")
		       ? FRAME_KERNEL
		       : FRAME_USER;
}

static u32 frame_without_name(struct pprof *p, u32 module, u64 address)
{
	const char *path = profile_str(p->profile, module), *slash = strrchr(path, '/');
	struct frame frame = { .module = module, .kind = kind_of(path), .no_name = true };
	_cleanup_free_ char *name = NULL;

	if (!address && !module)
		name = xstrdup("[unknown]");
	else
		name = xasprintf("%s+0x%llx", slash ? slash + 1 : path,
				 (unsigned long long)address);
	frame.name = profile_string(p->profile, name);
	return profile_get_frame(p->profile, &frame);
}

static u32 frame_of(struct pprof *p, u64 function, u32 module, bool inlined)
{
	u64 index = map_get(&p->functions, function, 0);
	const struct function *fn = index ? &p->function_list.items[index - 1] : NULL;
	struct frame frame = {
		.name = fn ? string_at(p, fn->name) : 0,
		.file = fn ? string_at(p, fn->file) : 0,
		.module = module,
		.kind = inlined ? (u8)FRAME_INLINED : kind_of(profile_str(p->profile, module)),
	};

	if (!frame.name)
		return frame_without_name(p, module, 0);
	frame.no_name = streq(profile_str(p->profile, frame.name), "[unknown]");
	return profile_get_frame(p->profile, &frame);
}

static void add_location(struct pprof *p, const struct wire_field *f)
{
	struct location_fields l = { 0 };
	struct location made = { .first = (u32)p->frames.len };

	if (each_field(p, f->data, f->len, take_location, &l) && l.id) {
		u32 module = (u32)map_get(&p->mappings, l.mapping, 0);

		for (size_t i = 0; i < l.lines.len; i++)
			vec_push(&p->frames,
				 frame_of(p, l.lines.items[i], module, i + 1 < l.lines.len));
		if (!l.lines.len)
			vec_push(&p->frames, frame_without_name(p, module, l.address));
		made.n = (u32)p->frames.len - made.first;
		vec_push(&p->location_list, made);
		map_put(&p->locations, l.id, p->location_list.len);
	}
	vec_release(&l.lines);
}

/* --- events --------------------------------------------------------------------------------- */

static u64 unit_scale(const struct pprof *p, u64 unit)
{
	if (text_is(p, unit, "microseconds"))
		return NSEC_PER_USEC;
	if (text_is(p, unit, "milliseconds"))
		return NSEC_PER_MSEC;
	if (text_is(p, unit, "seconds"))
		return NSEC_PER_SEC;
	return text_is(p, unit, "nanoseconds") ? 1 : 0;
}

/* "samples/count" before "cpu/nanoseconds" says how many samples the latter are. */
static bool counts_next(const struct pprof *p, size_t i)
{
	const struct value_kind *k = &p->kinds.items[i];
	const struct text *name = text_at(p, k->type);
	bool samples = name->len >= 7 && memcmp(name->bytes + name->len - 7, "samples", 7) == 0;

	if (i + 1 >= p->kinds.len || !text_is(p, k->unit, "count"))
		return false;
	return samples || !text_is(p, k[1].unit, "count");
}

static void make_event(struct pprof *p, struct value_kind *k)
{
	_cleanup_free_ char *name = xstrndup(text_at(p, k->type)->bytes, text_at(p, k->type)->len);
	struct profile_event *ev;

	k->scale = unit_scale(p, k->unit);
	k->event = profile_get_event(p->profile, *name ? name : "samples");
	ev = &p->profile->events.items[k->event];
	if (k->scale)
		ev->unit = profile_string(p->profile, "ns");
	else if (!text_is(p, k->unit, "count"))
		ev->unit = string_at(p, k->unit);
}

static void make_events(struct pprof *p)
{
	for (size_t i = 0; i < p->kinds.len; i++) {
		struct value_kind *k = &p->kinds.items[i];

		k->is_count = counts_next(p, i) && !(i && p->kinds.items[i - 1].is_count);
		if (!k->is_count)
			make_event(p, k);
	}
}

/* --- samples -------------------------------------------------------------------------------- */

struct labels {
	u64 comm; /* string index */
	s64 pid, tid, cpu;
};

struct label_fields {
	u64 key, text, number;
};

static void take_label_field(struct pprof *p, const struct wire_field *f, void *ctx)
{
	struct label_fields *l = ctx;

	(void)p;
	switch (f->number) {
	case 1: l->key = f->value; break;
	case 2: l->text = f->value; break;
	case 3: l->number = f->value; break;
	default: break;
	}
}

static s64 label_number(const struct pprof *p, const struct label_fields *l)
{
	const struct text *t = text_at(p, l->text);
	const char *s = t->bytes;
	u64 v;

	if (!l->text)
		return (s64)l->number;
	return scan_u64(&s, t->bytes + t->len, 10, &v) ? (s64)v : 0;
}

static void take_label(struct pprof *p, const struct wire_field *f, struct labels *ret)
{
	struct label_fields l = { 0 };

	if (!each_field(p, f->data, f->len, take_label_field, &l))
		return;
	if (text_is(p, l.key, "comm") || text_is(p, l.key, "thread_name") ||
	    text_is(p, l.key, "thread"))
		ret->comm = l.text;
	else if (text_is(p, l.key, "pid") || text_is(p, l.key, "process_id"))
		ret->pid = label_number(p, &l);
	else if (text_is(p, l.key, "tid") || text_is(p, l.key, "thread_id"))
		ret->tid = label_number(p, &l);
	else if (text_is(p, l.key, "cpu"))
		ret->cpu = label_number(p, &l);
}

static void take_sample(struct pprof *p, const struct wire_field *f, void *ctx)
{
	const u8 *at = NULL;
	bool ok = true;
	u64 v;

	switch (f->number) {
	case SAMPLE_LOCATION:
		while (p->chain.len < DEPTH_MOST && wire_packed(f, &at, &v, &ok))
			vec_push(&p->chain, v);
		break;
	case SAMPLE_VALUE:
		while (p->values.len < TYPES_MOST && wire_packed(f, &at, &v, &ok))
			vec_push(&p->values, v);
		break;
	case SAMPLE_LABEL:
		if (f->type == WIRE_BYTES)
			take_label(p, f, ctx);
		break;
	default: break;
	}
	if (!ok)
		p->fault = "a list of numbers is cut";
}

static u32 stack_of(struct pprof *p)
{
	size_t depth = 0;
	u32 stack = 0;

	for (size_t i = p->chain.len; i-- && depth < DEPTH_MOST;) {
		u64 index = map_get(&p->locations, p->chain.items[i], 0);
		const struct location *l = index ? &p->location_list.items[index - 1] : NULL;

		for (u32 k = l ? l->n : 0; k--; depth++)
			stack = profile_get_stack(p->profile, stack, p->frames.items[l->first + k]);
	}
	return stack;
}

static bool is_too_large(u64 v, u64 scale)
{
	return v > (u64)INT64_MAX / 4 / MAX(scale, 1ull);
}

/* The value of one kind as a sample; negative ones (of comparisons) cannot be shown. */
static void add_value(struct pprof *p, size_t i, struct profile_sample *s)
{
	const struct value_kind *k = &p->kinds.items[i];
	u64 v = p->values.items[i];
	bool counted = i && p->kinds.items[i - 1].is_count;
	u64 count = counted ? p->values.items[i - 1] : k->scale ? 1 : v;

	if (!v && !(counted && count))
		return;
	if ((s64)v < 0 || (s64)count < 0 || is_too_large(v, k->scale) ||
	    p->profile->events.items[k->event].weight > INT64_MAX / 2) {
		p->profile->bad_records++;
		return;
	}
	s->event = k->event;
	s->weight = v * MAX(k->scale, 1ull);
	s->count = (u32)MIN(count, (u64)UINT32_MAX);
	profile_add_sample(p->profile, s);
}

static bool is_default(const struct pprof *p, size_t i)
{
	if (p->default_type)
		return p->kinds.items[i].type == p->default_type;
	return i + 1 == p->kinds.len;
}

static void add_sample(struct pprof *p, const struct wire_field *f)
{
	struct labels l = { .cpu = -1 };
	struct profile_sample s = { 0 };

	vec_clear(&p->chain);
	vec_clear(&p->values);
	if (!each_field(p, f->data, f->len, take_sample, &l) || p->values.len != p->kinds.len) {
		p->profile->bad_records++;
		return;
	}
	s.stack = stack_of(p);
	s.cpu = l.cpu >= 0 && l.cpu <= INT16_MAX ? (s16)l.cpu : -1;
	if (l.comm || l.pid || l.tid)
		s.thread = profile_get_thread(p->profile, (s32)l.pid, (s32)l.tid,
					      string_at(p, l.comm), 0);
	/* the kind that a picture shows unless asked for another comes first */
	for (size_t i = 0; i < p->kinds.len; i++)
		if (!p->kinds.items[i].is_count && is_default(p, i))
			add_value(p, i, &s);
	for (size_t i = 0; i < p->kinds.len; i++)
		if (!p->kinds.items[i].is_count && !is_default(p, i))
			add_value(p, i, &s);
}

/* --- passes --------------------------------------------------------------------------------- */

static void pass_strings(struct pprof *p, const struct wire_field *f, void *ctx)
{
	struct value_kind k = { 0 };

	(void)ctx;
	if (f->number == PROFILE_STRING && f->type == WIRE_BYTES)
		vec_push(&p->strings, (struct text){ (const char *)f->data, f->len });
	else if (f->number == PROFILE_TYPE && f->type == WIRE_BYTES && p->kinds.len < TYPES_MOST &&
		 each_field(p, f->data, f->len, take_kind, &k))
		vec_push(&p->kinds, k);
	else if (f->number == PROFILE_TIME && (s64)f->value > 0)
		p->profile->wall_start = f->value;
	else if (f->number == PROFILE_DEFAULT_TYPE)
		p->default_type = f->value;
}

static void pass_names(struct pprof *p, const struct wire_field *f, void *ctx)
{
	(void)ctx;
	if (f->number == PROFILE_MAPPING && f->type == WIRE_BYTES)
		add_mapping(p, f);
	else if (f->number == PROFILE_FUNCTION && f->type == WIRE_BYTES)
		add_function(p, f);
}

static void pass_locations(struct pprof *p, const struct wire_field *f, void *ctx)
{
	(void)ctx;
	if (f->number == PROFILE_LOCATION && f->type == WIRE_BYTES)
		add_location(p, f);
}

static void pass_samples(struct pprof *p, const struct wire_field *f, void *ctx)
{
	(void)ctx;
	if (f->number == PROFILE_SAMPLE && f->type == WIRE_BYTES)
		add_sample(p, f);
}

static int parse(struct pprof *p, const u8 *data, size_t len, struct err *e)
{
	bool ok = each_field(p, data, len, pass_strings, NULL);

	if (!p->kinds.len || !p->strings.len)
		return err_set(e, EBADMSG, "not a pprof profile: %s",
			       p->fault ? p->fault : "it says nothing about its values");
	make_events(p);
	/* what is before a damage is good */
	each_field(p, data, len, pass_names, NULL);
	each_field(p, data, len, pass_locations, NULL);
	each_field(p, data, len, pass_samples, NULL);
	if (!ok || p->fault)
		p->profile->fault = profile_string(p->profile, p->fault);
	return 0;
}

int profile_load_pprof(struct profile *p, const void *data, size_t len, struct err *e)
{
	_cleanup_buf_ struct buf plain = BUF_INIT;
	struct pprof pp = { .profile = p };
	int r = 0;

	vec_push(&pp.frames, 0);
	if (gzip_is(data, len)) {
		r = gzip_unpack(data, len, UNPACKED_MOST, &plain, e);
		data = buf_str(&plain);
		len = plain.len;
	}
	if (r >= 0)
		r = parse(&pp, data, len, e);
	vec_release(&pp.strings);
	map_release(&pp.functions);
	vec_release(&pp.function_list);
	map_release(&pp.mappings);
	map_release(&pp.locations);
	vec_release(&pp.location_list);
	vec_release(&pp.frames);
	vec_release(&pp.kinds);
	vec_release(&pp.values);
	vec_release(&pp.chain);
	return r;
}
