/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of tools that people know from elsewhere, and that fathom does not have yet. */
#ifndef CLI_PEERS_H
#define CLI_PEERS_H

/* The collection of the tool ("bcc"); NULL: unknown. */
const char *peer_of(const char *name);
/* For tools that show something else: a hint at the nearest thing; NULL: not known. */
const char *peer_elsewhere(const char *name);

#endif
