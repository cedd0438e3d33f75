/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why files of a recording have no names or no source lines, kept in the profile for its views. */
#ifndef PROFILE_REASONS_H
#define PROFILE_REASONS_H

#include "profile/profile.h"
#include "symbol/symbol.h"

/* After loading. @lines: source lines were requested. */
void reasons_take(struct profile *p, struct symbols *symbols, bool lines);

#endif
