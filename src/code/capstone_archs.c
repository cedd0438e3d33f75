/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capstone's archive has a table of all architectures, which would bring 3 MB of tables and their
 * relocations, worked off at each start of the program. Those that are never opened are defined
 * here, so that the linker does not look for them there.
 */
#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>

struct cs_struct;

#define NOT_HERE(arch)                                                              \
	cs_err arch##_global_init(struct cs_struct *ud);                            \
	cs_err arch##_option(struct cs_struct *ud, cs_opt_type type, size_t value); \
	cs_err arch##_global_init(struct cs_struct *ud)                             \
	{                                                                           \
		(void)ud;                                                           \
		return CS_ERR_ARCH;                                                 \
	}                                                                           \
	cs_err arch##_option(struct cs_struct *ud, cs_opt_type type, size_t value)  \
	{                                                                           \
		(void)ud;                                                           \
		(void)type;                                                         \
		(void)value;                                                        \
		return CS_ERR_ARCH;                                                 \
	}

NOT_HERE(ARM)
NOT_HERE(EVM)
NOT_HERE(M680X)
NOT_HERE(M68K)
NOT_HERE(Mips)
NOT_HERE(PPC)
NOT_HERE(Sparc)
NOT_HERE(SystemZ)
NOT_HERE(TMS320C64x)
NOT_HERE(XCore)

#endif
