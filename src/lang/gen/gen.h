/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the typed tree to virtual-register code, one unit at a time.
 *
 * Numbers are in registers; whatever is larger is in memory of the program: small things in the
 * frame, the rest in a per-CPU scratch value that is looked up once at the entry. Temporary
 * memory lives to the end of its statement.
 */
#ifndef LANG_GEN_H
#define LANG_GEN_H

#include "lang/check/check.h"
#include "lang/front/lex.h"

enum {
	GEN_FRAME_VARS = 128, /* bytes of the frame for variables */
	GEN_FRAME_TEMPS = 176,
	GEN_FRAME_TEMPS_LOOP = 32, /* the frames of a program and its callbacks share 512 bytes */
	GEN_FRAME_OBJECT = 64,     /* larger temporaries go to scratch */
	GEN_MAX_SCRATCH = 32000,   /* what a per-CPU map value may have */
	GEN_MAX_LOOPS = 16,        /* nested */
	GEN_MAX_FRAMES = 8,        /* the program and callbacks in callbacks */
};

enum val_kind { VAL_NONE, VAL_REG, VAL_MEM };

struct val {
	enum val_kind kind;
	vreg reg; /* the value, or the base of the memory */
	s32 off;
	enum space space;
};

struct gen {
	struct comp *c;
	struct unit *u;
	const struct target *target;
	struct ir ir;
	vreg ctx;
	vreg frame;     /* base of variables: the frame, or that of the caller in a callback */
	vreg scratch;   /* 0: not asked for yet */
	vreg target_id; /* number of the target, when it is only known at run time; else 0 */
	bool need_scratch;
	bool vars_in_memory;
	u32 scratch_vars;
	u32 scratch_tmp; /* above the variables */
	u32 scratch_max;
	u32 frame_vars;
	u32 frame_tmp;
	u32 frame_max;
	ir_label out;
	s32 result; /* where the frame of a test keeps what it returns; 0: nowhere */
	s32 saved;  /* where the frame keeps context, scratch and 'leave' for callbacks */
	u32 n_loops;
	struct {
		ir_label next, end;
	} loops[GEN_MAX_LOOPS];
	struct span_at at;  /* of the expression or statement that code is made for */
	const char *failed; /* why no code could be made */
	struct span_at failed_at;
};

void gen_fail(struct gen *g, const struct node *n, const char *why);
void gen_stmt(struct gen *g, struct node *n);
void gen_expr(struct gen *g, struct node *n, struct val *ret);
/* The value as a number in a new or existing register; do not change the register. */
/* Is a value of this type a number in a register? */
bool gen_in_register(const struct type *t);
/* Bytes that ++ adds to a value of this type: 1 unless it is a pointer. */
s32 gen_pointer_step(struct gen *g, const struct type *t);
/* x / y or x % y of signed numbers. */
vreg gen_signed_division(struct gen *g, u32 op, vreg x, vreg y);
vreg gen_num(struct gen *g, struct node *n);
/* The same in a register that may be changed. */
vreg gen_num_copy(struct gen *g, struct node *n);
/* Cuts a number to the declared type of the variable that it is for. */
void gen_cut(struct gen *g, const struct variable *v, vreg r);
void gen_assign_var(struct gen *g, const struct node *n);
void gen_let(struct gen *g, struct node *n);
/* A variable: a number in a register, other things in memory. */
void gen_var(struct gen *g, struct node *n, struct val *ret);
/* Loads a number of type @t from where @v says. */
vreg gen_load(struct gen *g, const struct val *v, const struct type *t);
/* Jumps to @no unless the expression is true. */
void gen_condition(struct gen *g, struct node *n, ir_label no);

struct val gen_reg(vreg r);
struct val gen_mem(vreg base, s32 off, enum space space);
/* Memory of the program until the end of the statement. */
struct val gen_temp(struct gen *g, u32 size);
/* In scratch in any case: for variable offsets. */
struct val gen_temp_scratch(struct gen *g, u32 size);
/* Address of memory as a register; never to be changed. */
vreg gen_addr(struct gen *g, const struct val *v);
struct ir_arg gen_addr_arg(struct gen *g, const struct val *v);
void gen_zero(struct gen *g, const struct val *dst, u32 size);
void gen_copy(struct gen *g, const struct val *dst, const struct val *src, u32 size);
/* Of a load or store of 1, 2, 4 or 8 bytes. */
u8 gen_size_code(u32 bytes);
/* Reads @size bytes at an address of some space; what fails is counted and leaves zeros. */
void gen_read(struct gen *g, const struct val *dst, u32 size, vreg address, enum space space);
/* Reads a string; the register holds its length with the NUL, or an error. */
vreg gen_read_str(struct gen *g, const struct val *dst, struct ir_arg size, vreg address,
		  enum space space);
/* The expression as memory of the program, at least as large as its type. */
void gen_in_memory(struct gen *g, struct node *n, struct val *ret);
/* Stores the expression as type @as; @clean: bytes after the end of strings are zero too. */
void gen_store(struct gen *g, struct node *n, const struct type *as, const struct val *dst,
	       bool clean);
void gen_count(struct gen *g, enum counter counter);
/* Counts when the register is negative. */
void gen_count_negative(struct gen *g, vreg r, enum counter counter);
/* The same for a read of memory; -k says where it was. */
void gen_read_failed(struct gen *g, vreg r, const char *helper, enum counter counter);
/* Sends what a helper of the kernel returned, with the place in the program. */
void gen_helper_error(struct gen *g, const char *helper, vreg rc);

/* --- maps --- */
void gen_map_read(struct gen *g, struct node *n, struct val *ret);
/* Where the value of a plain map is; 0 when it has no such key. */
vreg gen_map_address(struct gen *g, struct node *n);
void gen_map_assign(struct gen *g, const struct node *n);
void gen_map_incdec(struct gen *g, struct node *n, struct val *ret);
/* Whether there was something to delete. */
void gen_map_delete(struct gen *g, struct node *map, struct val *ret);
void gen_map_has_key(struct gen *g, struct node *map, struct val *ret);
/* The key in memory; no memory when the map has none. */
void gen_map_key(struct gen *g, struct node *map, struct val *ret);
void gen_for_map(struct gen *g, struct node *n);
/* Ranges that are not short: the same with bpf_loop(). */
void gen_for_long(struct gen *g, struct node *n);
void gen_while(struct gen *g, struct node *n);
bool gen_is_long_loop(const struct node *n);
/* The same for a search in a string. */
bool gen_is_long_search(const struct node *n);
/* Calls @body, which makes a callback of bpf_loop() and ends it with 0 or 1, @count times. */
void gen_loop(struct gen *g, const struct node *n, vreg count,
	      void (*body)(struct gen *g, vreg i, void *ctx), void *ctx);
/* Number of keys. */
void gen_map_len(struct gen *g, const struct map_def *m, struct val *ret);
bool gen_push_loop(struct gen *g, const struct node *n);
struct val gen_var_place(struct gen *g, const struct variable *v);
/* The sum or extreme over all CPUs of an aggregation. */
void gen_map_read_agg(struct gen *g, const struct map_def *m, const struct val *key,
		      struct val *ret);

/* Goes to @differ unless the strings are equal in their first @limit bytes. */
void gen_compare_strings(struct gen *g, struct node *a, struct node *b, u32 limit, ir_label differ);

/* --- events --- */
/* Sends event @number whose arguments are @args. */
void gen_event(struct gen *g, u32 number, struct node **args, u32 n_args);
/* Sends what is in memory. */
void gen_output(struct gen *g, const struct val *record, u32 size);
/* Jumps to the end of the program. */
void gen_return(struct gen *g);

/* Is this an iterator that others will read? */
bool gen_is_pinned(const struct gen *g);
/* printf() into the file that is being read. */
void gen_seq_printf(struct gen *g, struct node *n);

/* Frames of the kernel or user stack, interned: its number. */
void gen_stack(struct gen *g, const struct type *t, struct val *ret);
/* The number of frames of a stack that was taken. */
void gen_stack_len(struct gen *g, struct node *stack, struct val *ret);

u32 gen_ring_map(struct comp *c);
u32 gen_zero_map(struct comp *c, u32 size);

#endif
