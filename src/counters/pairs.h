/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose lines come in pairs: "Tcp: ActiveOpens PassiveOpens ..." names the values of the line
 * that follows, "Tcp: 106 2 ...". A counter is called "tcp.ActiveOpens".
 */
#ifndef COUNTERS_PAIRS_H
#define COUNTERS_PAIRS_H

#include "counters/reader.h"

void parse_pairs(struct reader *r, const char *text, size_t len);

#endif
