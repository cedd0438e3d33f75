/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where programs can be attached. One entry per probe type; a file per family. Adding a probe
 * type is adding an entry.
 */
#ifndef LANG_PROVIDER_H
#define LANG_PROVIDER_H

#include "lang/check/check.h"

enum {
	PROBE_USER = 1 << 0,    /* arguments are in user registers: argN, reg, retval */
	PROBE_RETURN = 1 << 1,  /* retval exists, argN does not */
	PROBE_REGS = 1 << 2,    /* the context is pt_regs */
	PROBE_TIMED = 1 << 3,   /* run by our own loop: begin, end, interval */
	PROBE_ARGS = 1 << 4,    /* args exists */
	PROBE_NAMED = 1 << 5,   /* links carry the number of their target */
	PROBE_SPECIAL = 1 << 6, /* about the tracer itself: what 'probetype' calls special */
};

/* How a tracepoint is attached: unit->mode. */
enum tracepoint_mode { TP_RAW, TP_SYS_ENTER, TP_SYS_EXIT, TP_PERF };

struct attach_ctx {
	struct run *run;
	const struct unit *unit;
	int prog_fd;
	struct err *err;
};

struct provider {
	const char *name;    /* "tracepoint" */
	const char *aliases; /* "t", space separated */
	u32 flags;
	enum lang_mode mode; /* LANG_TRACE: in this mode only, except begin and end */
	/*
	 * Adds the targets that "rest" (after "name:") means to c->targets; wrong text is a
	 * diagnostic. No target means that nothing matched.
	 */
	void (*expand)(struct comp *c, const struct provider *p, const struct spec *s,
		       const char *rest);
	/* Fills prog_type and the like, args of its targets; false with a diagnostic. */
	bool (*prepare)(struct comp *c, struct unit *u);
	/* Type of argN, or NULL when there is none. */
	const struct type *(*arg_type)(struct comp *c, u32 n);
	void (*emit_arg)(struct gen *g, u32 n, struct val *ret);
	const struct type *(*retval_type)(struct comp *c);
	void (*emit_retval)(struct gen *g, struct val *ret);
	/* The base of args: a struct in some space. */
	void (*emit_args)(struct gen *g, struct val *ret);
	/* One field of args, where they are not simply memory; false: take the memory. */
	bool (*emit_field)(struct gen *g, const struct field *f, struct val *ret);
	/* Opens links and events; descriptors go to run_keep(). */
	int (*attach)(const struct attach_ctx *a);
	/* Names for -l: calls back with every name that may match. */
	void (*list)(struct comp *c, const char *pattern, void (*each)(void *ctx, const char *name),
		     void *ctx);
};

extern const struct provider probe_begin, probe_end, probe_interval, probe_profile,
	probe_tracepoint, probe_rawtracepoint, probe_software, probe_hardware, probe_uprobe,
	probe_uretprobe, probe_usdt, probe_kprobe, probe_kretprobe, probe_fentry, probe_fexit,
	probe_iter, probe_watchpoint, probe_self, probe_test, probe_bench, probe_table;

/* All, ended by NULL. */
extern const struct provider *const providers[];

const struct provider *provider_find(const char *name, size_t len);
/* Does the context begin with the registers of what was interrupted? */
bool provider_has_registers(const struct provider *p);
/* A new target with its name made from the parts; NULL (with a diagnostic) beyond the limit. */
struct target *provider_target(struct comp *c, const struct provider *p, const struct spec *s,
			       const char *fmt, ...) PRINTF_LIKE(4, 5);
/* "No matches for TYPE TARGET.": an error, unless the program says that probes may be missing. */
void provider_missing(struct comp *c, const struct spec *s, const struct provider *p,
		      const char *fmt, ...) PRINTF_LIKE(4, 5);
/* '*' matches any run of characters, '[]' sets; otherwise literally. */
bool provider_match(const char *pattern, const char *text);
bool provider_is_pattern(const char *text);
/* How often a timed probe runs: "ms:100", "hz:99", "100ms". */
struct probe_period {
	u64 value;        /* nanoseconds, */
	bool freq;        /* or how often in a second */
	const char *text; /* with its unit in front */
};
bool probe_period(struct comp *c, const struct provider *p, const struct spec *s, const char *rest,
		  struct probe_period *ret);
void probe_period_list(struct comp *c, const char *pattern,
		       void (*each)(void *ctx, const char *name), void *ctx);
/* Names that @each gets with "prefix:" in front; @ctx of provider_list_name() is one of these. */
struct provider_listing {
	const char *prefix;
	void (*each)(void *ctx, const char *name);
	void *ctx;
};
void provider_list_name(void *ctx, const char *name);
/* Functions of loaded BPF programs, as targets of fentry and fexit. */
void probe_bpf_expand(struct comp *c, const struct provider *p, const struct spec *s,
		      const char *rest);
void probe_bpf_list(struct provider_listing *l);
/* Can a function of the kernel be probed here, by whatever means? */
bool probe_kernel_possible(struct comp *c, const char *function);
int probe_fentry_attach(const struct attach_ctx *a);
/* What arguments that are words of the context are made from. */
struct words_source {
	const struct kbtf *btf;
	u32 func; /* or its prototype */
	u32 skip; /* parameters that are not in the context */
	const struct type *(*type_of)(struct comp *c, const struct kbtf *btf, u32 id);
};
/* For type_of: the types that the kernel's own BTF gives. */
const struct type *probe_words_kernel_type(struct comp *c, const struct kbtf *btf, u32 id);
/* The struct of all arguments; @name outlives it. */
const struct type *probe_words_args(struct comp *c, const struct words_source *from,
				    const char *name);
const struct type *probe_words_arg_type(struct comp *c, u32 n);
void probe_words_arg(struct gen *g, u32 n, struct val *ret);
bool probe_words_field(struct gen *g, const struct field *f, struct val *ret);
/* How many parts text has that is split at ':'; none when it is empty. */
u32 provider_parts(const char *rest);
/* Part @i of text split at ':'; copied to the arena; NULL when there are fewer. */
char *provider_part(struct comp *c, const char *rest, u32 i);

#endif
