/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that are lists, as the file has them; set_*() is false when a value is not understood.
 */
#ifndef TOP_SETTINGS_LOOK_H
#define TOP_SETTINGS_LOOK_H

#include "top/top.h"

void get_tabs(const struct top *t, struct buf *out);
bool set_tabs(struct top *t, const char *value);
void get_overview(const struct top *t, struct buf *out);
bool set_overview(struct top *t, const char *value);
void get_meters(const struct top *t, struct buf *out);
bool set_meters(struct top *t, const char *value);
void get_colors(const struct top *t, struct buf *out);
bool set_colors(struct top *t, const char *value);
void get_keys(const struct top *t, struct buf *out);
bool set_keys(struct top *t, const char *value);

#endif
