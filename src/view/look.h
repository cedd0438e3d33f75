/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The style shared by all pictures: the same colours for the same things as in the viewer
 * (web/viewer/color.js has the same numbers).
 */
#ifndef VIEW_LOOK_H
#define VIEW_LOOK_H

#include "base/buf.h"
#include "profile/profile.h"

struct rgb {
	u8 r, g, b;
};

/* Hue in degrees, chroma and lightness of the OKLCH space: equal lightness looks equally light. */
struct look {
	double hue, chroma, light;
};

enum look_kind {
	LOOK_USER,
	LOOK_CXX,
	LOOK_KERNEL,
	LOOK_JIT,
	LOOK_INTERPRETED,
	LOOK_INLINED,
	LOOK_LABEL, /* processes, marks */
	LOOK_KINDS
};

enum look_kind look_kind_of(enum frame_kind kind, const char *name);
struct rgb look_rgb(struct look look);
/* Names of one kind differ a little: @shade is 0..1. */
struct rgb look_of_kind(enum look_kind kind, double shade);
/* From nearly nothing to much: @part is 0..1. */
struct rgb look_of_heat(double part);
/* A task's or a module's own colour. */
struct rgb look_of_name(const char *name);

/* "#rrggbb" */
void look_add(struct buf *out, struct rgb c);

#endif
