/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last branches before a sample: addresses, names or places in files, as perf writes them. */
#include "view/script_state.h"

/* By the half of the address space. */
enum address_mode script_mode_of_address(u64 address)
{
	return (s64)address < 0 ? ADDRESS_KERNEL : ADDRESS_USER;
}

static char branch_letter(u64 flags)
{
	return flags & 1 ? 'M' : flags & 2 ? 'P' : '-';
}

/* Four bits, and four more for what came later. */
static const char *branch_kind(u64 flags)
{
	static const char *const kinds[16] = { "",       "COND",      "UNCOND",   "IND",
					       "CALL",   "IND_CALL",  "RET",      "SYSCALL",
					       "SYSRET", "COND_CALL", "COND_RET", "ERET",
					       "IRQ",    "SERROR",    "NO_TX",    NULL };
	static const char *const later[] = { "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
					     "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5" };
	const char *kind = kinds[flags >> 20 & 15];
	u64 number = flags >> 26 & 15;

	if (kind)
		return kind;
	return number < ARRAY_SIZE(later) ? later[number] : "";
}

static void add_flags(struct buf *b, u64 flags)
{
	buf_addf(b, "/%c/%c/%c/%llu/%s ", branch_letter(flags), flags & 4 ? 'X' : '-',
		 flags & 8 ? 'A' : '-', (unsigned long long)(flags >> 4 & 0xffff),
		 branch_kind(flags));
}

static void add_dso(struct script *s, const struct script_event *ev, struct process *p, u64 address)
{
	if (!(ev->fields & SCRIPT_DSO))
		return;
	buf_addch(&s->out, '(');
	script_place_dso(s, p, script_mode_of_address(address), address);
	buf_addch(&s->out, ')');
}

/*
 * Places in files are those of files that perf cannot read: as soon as it has the symbols of an ELF
 * file, it takes the address for the better answer.
 */
static u64 place_of(struct script *s, struct process *p, u64 address)
{
	enum address_mode mode = script_mode_of_address(address);
	const struct place *place = machine_place(&s->machine, p, mode, address, false);
	u8 any;

	if (!place->module ||
	    symbols_bytes(s->machine.symbols, place->module, 0, &any, sizeof(any)))
		return address;
	return script_place_offset(s, p, mode, address);
}

static void add_address(struct script *s, const struct script_event *ev, struct process *p,
			u64 address)
{
	bool offset = !(ev->fields & SCRIPT_BRSTACK);

	buf_addf(&s->out, "0x%llx",
		 (unsigned long long)(offset ? place_of(s, p, address) : address));
	add_dso(s, ev, p, address);
}

/* Always with the offset, and never with the blank that is before it elsewhere. */
static void add_name(struct script *s, const struct script_event *ev, struct process *p,
		     u64 address)
{
	size_t at = s->out.len, n;

	script_place_tail(s, p, script_mode_of_address(address), address,
			  SCRIPT_SYM | SCRIPT_SYMOFF);
	n = s->out.len - at;
	if (n) {
		memmove(s->out.data + at, s->out.data + at + 1, n - 1);
		buf_truncate(&s->out, at + n - 1);
	}
	add_dso(s, ev, p, address);
}

/* Addresses before names before places, if several are requested. */
void script_branches(struct script *s, const struct script_event *ev, struct process *p,
		     const struct sample *sample)
{
	bool names = ev->fields & SCRIPT_BRSTACKSYM && !(ev->fields & SCRIPT_BRSTACK);

	for (u64 i = 0; i < sample->n_branches; i++) {
		const struct sample_branch *br = &sample->branches[i];

		if (!names)
			buf_addch(&s->out, ' ');
		(names ? add_name : add_address)(s, ev, p, br->from);
		buf_addch(&s->out, '/');
		(names ? add_name : add_address)(s, ev, p, br->to);
		add_flags(&s->out, br->flags);
	}
}
