/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of tools that people know from elsewhere, and that fathom does not have. */
#ifndef CLI_PEERS_H
#define CLI_PEERS_H

/* A hint at the nearest thing; NULL: not known. */
const char *peer_elsewhere(const char *name);

#endif
