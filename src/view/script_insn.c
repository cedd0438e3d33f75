/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The instruction at the sampled address, read from the file that was mapped there. */
#include "view/script_state.h"

#include "host/cpu.h"

enum { INSN_MOST = 15 }; /* bytes of an instruction of x86 */

void script_insn(struct script *s, const struct script_event *ev, struct process *p,
		 const struct record *r)
{
	const struct place *place =
		machine_place(&s->machine, p, machine_mode(r), r->sample->ip, false);
	u8 code[INSN_MOST];
	size_t n = place->module ? symbols_bytes(s->machine.symbols, place->module, place->address,
						 code, sizeof(code))
				 : 0;
	int len = n ? cpu_instruction(code, n) : 0;

	if (ev->fields & SCRIPT_INSNLEN)
		buf_addf(&s->out, " ilen: %d", MAX(len, 0));
	if (!(ev->fields & SCRIPT_INSN) || len <= 0)
		return;
	buf_addstr(&s->out, " insn:");
	for (int i = 0; i < len; i++)
		buf_addf(&s->out, " %02x", code[i]);
}
