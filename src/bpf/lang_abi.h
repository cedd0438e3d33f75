/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs of the tracing language and the functions that they call agree on. */
#ifndef BPF_LANG_ABI_H
#define BPF_LANG_ABI_H

enum { LANG_STACK_FRAMES = 127 }; /* of one stack, at most */

#endif
