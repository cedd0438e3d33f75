/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of `perf script`: a line for each sample, then a line for each frame, innermost first,
 * then an empty line:
 *
 *	my prog  1234/1235 [001] 5678.901234:     10101010 cycles:u:
 *	            7f12345678 std::sort(int*, int*)+0x1f (/usr/lib/libfoo.so)
 *
 * Everything in the first line but name and id may be missing, and names hold spaces and
 * parentheses. Samples without call chain have their one frame in the first line.
 */
#include "base/vec.h"
#include "profile/load.h"

#include <ctype.h>

enum {
	DEPTH_MOST = 1 << 16,
	EVENTS_MOST = 1024, /* names of events; samples of more go to the last one */
};

/* The first line of a sample, taken apart. */
struct header {
	const char *comm;
	size_t comm_len;
	u64 pid, tid;
	s64 cpu; /* -1: none */
	u64 time;
	u64 period;
	const char *event;
	size_t event_len;
	const char *rest; /* what follows the event */
};

struct script {
	struct profile *profile;
	struct intern tokens; /* frame lines without the address */
	VEC(u32) frames;      /* token -> frame */
	VEC(u32) chain;       /* of the sample being read, innermost first */
	struct profile_sample sample;
	bool in_sample;
	bool addresses; /* code without name is distinguished by its address */
	u64 good;
	u32 last_event_name;
	u16 last_event;
};

/* --- pieces -------------------------------------------------------------------------------- */

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

static const char *word_end(const char *p, const char *end)
{
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	return p;
}

/* "[001]" */
static bool read_cpu(const char **p, const char *end, struct header *h)
{
	const char *q = *p + 1;
	u64 cpu;

	if (*p >= end || **p != '[' || !scan_u64(&q, end, 10, &cpu) || q >= end || *q != ']')
		return false;
	h->cpu = cpu > INT16_MAX ? -1 : (s64)cpu;
	*p = skip_space(q + 1, end);
	return true;
}

/* "5678.901234:", with any number of digits after the point */
static bool read_time(const char **p, const char *end, struct header *h)
{
	const char *q = *p;
	u64 seconds, unit = NSEC_PER_SEC, ns = 0;

	if (!scan_u64(&q, end, 10, &seconds) || seconds > UINT64_MAX / NSEC_PER_SEC / 2)
		return false;
	if (q >= end || *q++ != '.')
		return false;
	for (; q < end && isdigit((unsigned char)*q); q++)
		ns += (u64)(*q - '0') * (unit /= 10);
	if (q >= end || *q != ':')
		return false;
	h->time = seconds * NSEC_PER_SEC + ns;
	*p = skip_space(q + 1, end);
	return true;
}

static void read_period(const char **p, const char *end, struct header *h)
{
	const char *q = *p;
	u64 period;

	if (!scan_u64(&q, end, 10, &period) || q >= end || (*q != ' ' && *q != '\t'))
		return;
	h->period = period;
	*p = skip_space(q, end);
}

/* "cycles:u:", "sched:sched_switch:": a word that ends in a colon */
static bool read_event(const char **p, const char *end, struct header *h)
{
	const char *q = word_end(*p, end);

	if (q - *p < 2 || q[-1] != ':')
		return false;
	h->event = *p;
	h->event_len = (size_t)(q - *p) - 1;
	*p = skip_space(q, end);
	return true;
}

/* What follows the name: "1234", "1234/1235", then at least one of CPU, time and event. */
static bool read_after_comm(const char *p, const char *end, struct header *h)
{
	bool any;

	h->cpu = -1;
	h->time = 0;
	h->period = 1;
	h->event_len = 0;
	if (!scan_u64(&p, end, 10, &h->pid) || h->pid > INT32_MAX)
		return false;
	h->tid = h->pid;
	if (p < end && *p == '/') {
		p++;
		if (!scan_u64(&p, end, 10, &h->tid) || h->tid > INT32_MAX)
			return false;
	}
	if (p < end && *p != ' ' && *p != '\t')
		return false;
	p = skip_space(p, end);
	any = read_cpu(&p, end, h);
	any |= read_time(&p, end, h);
	if (any)
		read_period(&p, end, h);
	any |= read_event(&p, end, h);
	h->rest = p;
	return any;
}

/* Names hold spaces and numbers: the first number after which all the rest fits is the id. */
static bool read_header(const char *line, const char *end, struct header *h)
{
	const char *p = skip_space(line, end);

	h->comm = p;
	while (p < end) {
		const char *word = word_end(p, end), *next = skip_space(word, end);

		if (next < end && isdigit((unsigned char)*next) && read_after_comm(next, end, h)) {
			h->comm_len = (size_t)(word - h->comm);
			return true;
		}
		p = next;
	}
	return false;
}

/* --- frames -------------------------------------------------------------------------------- */

struct frame_text {
	const char *name;
	size_t name_len;
	const char *module;
	size_t module_len;
};

/* Where the "(" of the last ")" stands; modules may be called "x (deleted)". NULL: none. */
static const char *open_bracket(const char *text, const char *end)
{
	int depth = 0;

	for (const char *p = end; p > text;) {
		p--;
		if (*p == ')')
			depth++;
		if (*p == '(' && --depth == 0)
			return p == text || p[-1] == ' ' ? p : NULL;
	}
	return NULL;
}

/* Cuts "+0x1f" off. */
static size_t without_offset(const char *name, size_t len)
{
	size_t i = len;

	while (i && isxdigit((unsigned char)name[i - 1]))
		i--;
	if (i < len && i > 3 && memcmp(name + i - 3, "+0x", 3) == 0)
		return i - 3;
	return len;
}

static void split_frame(const char *text, const char *end, struct frame_text *ret)
{
	const char *open = end > text && end[-1] == ')' ? open_bracket(text, end) : NULL;

	*ret = (struct frame_text){ .name = text };
	if (open) {
		ret->module = open + 1;
		ret->module_len = (size_t)(end - 1 - ret->module);
		end = open;
	}
	while (end > text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	ret->name_len = without_offset(text, (size_t)(end - text));
}

static bool text_is(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(p, word, n) == 0;
}

static bool is_user_bracket(const char *module)
{
	static const char *const names[] = {
		"[vdso]", "[vdso32]", "[vdsox32]", "[vsyscall]", "[unknown]", "[heap]", "[stack]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (streq(module, names[i]))
			return true;
	return starts_with(module, "[anon") || starts_with(module, "[stack:");
}

static u8 kind_of(const char *module)
{
	const char *base = strrchr(module, '/');

	base = base ? base + 1 : module;
	if (starts_with(base, "perf-") && ends_with(base, ".map"))
		return FRAME_JIT;
	if (starts_with(base, "jitted-"))
		return FRAME_JIT;
	if (*module == '[' && !is_user_bracket(module))
		return FRAME_KERNEL;
	if (starts_with(base, "vmlinux") || starts_with(module, "bpf_prog_") || strstr(base, ".ko"))
		return FRAME_KERNEL;
	return FRAME_USER;
}

/* @address: NULL, or what is to be shown in the place of a name, as text. */
static u32 make_frame(struct script *s, const char *text, const char *end, const char *address)
{
	struct profile *p = s->profile;
	struct frame_text t;
	struct frame f = { 0 };

	split_frame(text, end, &t);
	f.no_name = !t.name_len || text_is(t.name, t.name_len, "[unknown]");
	f.name = f.no_name ? profile_string(p, address ? address : "[unknown]")
			   : intern_bytes(&p->strings, t.name, t.name_len);
	if (t.module_len && text_is(t.module, t.module_len, "inlined")) {
		f.kind = FRAME_INLINED;
	} else if (t.module_len && !text_is(t.module, t.module_len, "[unknown]")) {
		f.module = intern_bytes(&p->strings, t.module, t.module_len);
		f.kind = kind_of(profile_str(p, f.module));
	}
	return profile_get_frame(p, &f);
}

static u32 frame_of(struct script *s, u64 address, const char *text, const char *end)
{
	char shown[32];
	u32 token;

	snprintf(shown, sizeof(shown), "0x%llx", (unsigned long long)address);
	if (s->addresses && (size_t)(end - text) >= strlen("[unknown]") &&
	    starts_with(text, "[unknown]"))
		return make_frame(s, text, end, shown);
	token = intern_bytes(&s->tokens, text, (size_t)(end - text));
	if (token == s->frames.len) {
		u32 frame = make_frame(s, text, end, NULL);

		vec_push(&s->frames, frame);
	}
	return s->frames.items[token];
}

/* "7f1234 name+0x1 (module)"; false when it does not begin with an address */
static bool add_frame(struct script *s, const char *line, const char *end)
{
	const char *p = skip_space(line, end);
	u64 address;

	if (!scan_u64(&p, end, 16, &address) || (p < end && *p != ' ' && *p != '\t'))
		return false;
	if (s->chain.len == DEPTH_MOST)
		return false;
	vec_push(&s->chain, frame_of(s, address, skip_space(p, end), end));
	return true;
}

/* "  file.c:12", below its frame when lines were requested */
static bool add_line_number(struct script *s, const char *line, const char *end)
{
	const char *p = skip_space(line, end), *colon = memrchr(p, ':', (size_t)(end - p));
	struct frame f;
	u64 number;

	if (!s->chain.len || !colon || colon == p)
		return false;
	f = s->profile->frames.items[*vec_last(&s->chain)];
	f.file = intern_bytes(&s->profile->strings, p, (size_t)(colon - p));
	colon++;
	if (!scan_u64(&colon, end, 10, &number) || number > UINT32_MAX)
		return false;
	f.line = (u32)number;
	*vec_last(&s->chain) = profile_get_frame(s->profile, &f);
	return true;
}

/* "  libc.so.6[27b25]": the same, of code without lines */
static bool is_place(const char *line, const char *end)
{
	const char *open = memrchr(line, '[', (size_t)(end - line));
	u64 address;

	if (!open || open == skip_space(line, end) || end[-1] != ']')
		return false;
	open++;
	return scan_u64(&open, end, 16, &address) && open == end - 1;
}

/* --- samples ------------------------------------------------------------------------------- */

static enum stack_end count_frames(struct script *s)
{
	struct profile *p = s->profile;
	bool root = false, user = false;

	vec_each(id, &s->chain) {
		const struct frame *f = &p->frames.items[*id];

		p->unnamed_frames += f->no_name;
		user |= f->kind != FRAME_KERNEL;
		root |= f->kind != FRAME_KERNEL && f->is_root;
	}
	p->total_frames += s->chain.len;
	return !user ? STACK_NO_USER : root ? STACK_ROOT : STACK_CUT;
}

static void end_sample(struct script *s)
{
	if (!s->in_sample)
		return;
	s->in_sample = false;
	s->sample.stack = 0;
	for (size_t i = s->chain.len; i--;)
		s->sample.stack = profile_get_stack(s->profile, s->sample.stack, s->chain.items[i]);
	s->profile->stack_ends[count_frames(s)]++;
	profile_add_sample(s->profile, &s->sample);
	s->good++;
}

/* The clocks of software count nanoseconds; nothing in the text says so. */
static u16 get_event(struct profile *p, const char *name)
{
	u16 event = profile_get_event(p, name);

	if (starts_with(name, "cpu-clock") || starts_with(name, "task-clock"))
		p->events.items[event].unit = profile_string(p, "ns");
	return event;
}

static u16 event_of(struct script *s, const struct header *h)
{
	u32 name = h->event_len ? intern_bytes(&s->profile->strings, h->event, h->event_len)
				: profile_string(s->profile, "samples");

	if (name != s->last_event_name && s->profile->events.len < EVENTS_MOST) {
		s->last_event = get_event(s->profile, profile_str(s->profile, name));
		s->last_event_name = name;
	}
	return s->last_event;
}

static void begin_sample(struct script *s, const struct header *h, const char *end)
{
	u32 comm = intern_bytes(&s->profile->strings, h->comm, h->comm_len);

	s->sample = (struct profile_sample){
		.time = h->time,
		.weight = h->period ? h->period : 1,
		.thread = profile_get_thread(s->profile, (s32)h->pid, (s32)h->tid, comm, 0),
		.count = 1,
		.cpu = (s16)h->cpu,
		.event = event_of(s, h),
	};
	vec_clear(&s->chain);
	s->in_sample = true;
	/* a frame here has a module at its end; the fields of tracepoints do not */
	if (h->rest < end && end[-1] == ')')
		add_frame(s, h->rest, end);
}

/* --- lines --------------------------------------------------------------------------------- */

/* "# hostname : web1" */
static void read_fact(struct profile *p, const char *line, const char *end)
{
	struct {
		const char *key;
		u32 *string;
	} facts[] = {
		{ "hostname", &p->hostname }, { "os release", &p->kernel }, { "arch", &p->arch },
		{ "cpudesc", &p->cpu_model }, { "cmdline", &p->command },
	};
	const char *colon = memchr(line, ':', (size_t)(end - line)), *key, *value, *key_end = colon;

	if (!colon)
		return;
	key = skip_space(line + 1, colon);
	while (key_end > key && key_end[-1] == ' ')
		key_end--;
	value = skip_space(colon + 1, end);
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++)
		if (text_is(key, (size_t)(key_end - key), facts[i].key) && value < end)
			*facts[i].string = intern_bytes(&p->strings, value, (size_t)(end - value));
}

/* Frames are indented; so are the first lines of samples without call chain. */
static void read_line(struct script *s, const char *line, const char *end)
{
	bool indented = *line == ' ' || *line == '\t';
	struct header h;

	if (s->in_sample && indented &&
	    (add_frame(s, line, end) || add_line_number(s, line, end) ||
	     (s->chain.len && is_place(line, end))))
		return;
	if (read_header(line, end, &h)) {
		end_sample(s);
		begin_sample(s, &h, end);
	} else {
		s->profile->bad_records++;
	}
}

static void read_lines(struct script *s, const char *p, const char *end)
{
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;

		while (stop > p && (stop[-1] == '\r' || stop[-1] == ' '))
			stop--;
		if (stop == p)
			end_sample(s);
		else if (*p == '#')
			read_fact(s->profile, p, stop);
		else
			read_line(s, p, stop);
		p = nl ? nl + 1 : end;
	}
	end_sample(s);
}

int profile_load_script(struct profile *p, const char *text, size_t len,
			const struct load_opts *opts, struct err *e)
{
	struct script s = { .profile = p, .addresses = opts && opts->addresses };

	vec_push(&s.frames, 0);
	read_lines(&s, text, text + len);
	intern_release(&s.tokens);
	vec_release(&s.frames);
	vec_release(&s.chain);
	if (s.good)
		return 0;
	err_set(e, EBADMSG, "the text contains no sample");
	err_hint(e, "it should be what 'perf script' prints");
	return -EBADMSG;
}
