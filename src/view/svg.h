/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flame graphs as SVG: one file that shows everything without scripts, and with them zooms,
 * searches and can be used by keyboard.
 */
#ifndef VIEW_SVG_H
#define VIEW_SVG_H

#include "view/svg_colors.h"

enum {
	SVG_WIDTH = 1200,    /* unless another is requested */
	SVG_LABEL_LEAST = 6, /* letters of a name that is cut */
	SVG_PAD = 10,        /* left and right of the boxes */
};

#define SVG_FONT "Verdana, DejaVu Sans, sans-serif"

/* Attributes for single names; flamegraph.pl's --nameattr. */
struct svg_nameattr {
	struct intern names;
	VEC(const char *) attrs; /* by id: "href=...\ttitle=..." */
	struct arena arena;
};

int svg_nameattr_read(struct svg_nameattr *a, const char *path, struct err *e);
void svg_nameattr_release(struct svg_nameattr *a);

/* Of flamegraph.pl's options those that are about drawing, with the same meaning. */
struct svg_opts {
	const char *title;
	const char *subtitle; /* NULL: what flame_subtitle() says; "": none */
	double width;         /* 0: as wide as the window, SVG_WIDTH without scripts */
	double height;        /* of a row */
	const char *fonttype;
	double fontsize;
	double fontwidth;      /* of an average character, in parts of the size */
	const char *countname; /* NULL: samples, and the event's unit if it has one */
	const char *nametype;
	const char *notes;
	const char *encoding; /* NULL: UTF-8 */
	const char *bgcolors; /* NULL: what suits the palette */
	double factor;
	bool inverted; /* the root is at the top */
	const struct svg_nameattr *nameattr;
	const struct flame *whole; /* what a folded one opens to; NULL: it is not folded */
	struct svg_colors_opts colors;
};

/* What flamegraph.pl begins with, for { SVG_OPTS_DEFAULT, .title = ... }. */
#define SVG_OPTS_DEFAULT                                                                    \
	.height = 16, .fonttype = SVG_FONT, .fontsize = 12, .fontwidth = 0.59, .factor = 1, \
	.nametype = "Function:"

/* Checks what cannot be seen from the types: colours, sizes. */
int svg_opts_check(const struct svg_opts *o, struct err *e);
/* The share of the whole that is as wide as @text: "0.5" pixels or "0.1%". */
int svg_min_share(const char *text, double width, double *ret, struct err *e);
void svg_flame(const struct flame *f, const struct svg_opts *opts, struct buf *out);

/* A page around a picture, to be mailed. */
void svg_page(struct buf *page, const char *title, const struct buf *svg);
/* The bytes as XML text; @utf8: what is not UTF-8 is replaced, as are control characters. */
void svg_escape(struct buf *out, const char *s, size_t n, bool utf8);

#endif
