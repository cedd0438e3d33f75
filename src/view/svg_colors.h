/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours of flame graphs: flamegraph.pl's palettes, and those that say something. */
#ifndef VIEW_SVG_COLORS_H
#define VIEW_SVG_COLORS_H

#include "analysis/flame.h"
#include "view/look.h"

/* The order of svg_palette_names. */
enum svg_palette {
	PALETTE_HOT,
	PALETTE_MEM,
	PALETTE_IO,
	PALETTE_WAKEUP,
	PALETTE_CHAIN,
	PALETTE_JAVA,
	PALETTE_JS,
	PALETTE_PERL,
	PALETTE_RED,
	PALETTE_GREEN,
	PALETTE_BLUE,
	PALETTE_AQUA,
	PALETTE_YELLOW,
	PALETTE_PURPLE,
	PALETTE_ORANGE,
};

/* NULL-terminated. */
extern const char *const svg_palette_names[];

/* AUTO: by kind if there is more than one kind of code, otherwise by name. */
enum svg_color_by {
	COLOR_BY_AUTO,
	COLOR_BY_KIND,
	COLOR_BY_MODULE,
	COLOR_BY_SELF,
	COLOR_BY_NAME,
	COLOR_BY_WAITS, /* who waits, who wakes; the palette says which of them stacks begin with */
	COLOR_BY_STATE, /* hot and cold: what threads did; AUTO, where that is known */
};
/* Where in its palette a name lies. */
enum svg_shade { SHADE_NAME, SHADE_HASH, SHADE_RANDOM };

struct svg_colors_opts {
	enum svg_color_by by;
	enum svg_palette palette; /* COLOR_BY_NAME */
	enum svg_shade shade;
	bool negate; /* growth is blue, not red */
	/* Names with a colour of their own; new names are added. NULL: not wanted. */
	struct svg_palette_map *map;
};

struct svg_colors {
	const struct flame *flame;
	struct svg_colors_opts opts;
	u64 most_self;   /* of all boxes */
	u64 most_growth; /* either way, the root left out */
	u64 seed;
	bool own; /* colours of our own, not of one of flamegraph.pl's palettes */
};

void svg_colors_init(struct svg_colors *c, const struct flame *f,
		     const struct svg_colors_opts *opts);
struct rgb svg_color(struct svg_colors *c, const struct flame_box *b);

/* Of what a thread did, wherever that is drawn. */
struct rgb svg_color_of_state(enum hotcold_state s);
/* Of a kind of wait. */
struct rgb svg_color_of_wait(enum thread_state s);

/* What the colours mean. */
struct svg_legend_entry {
	struct rgb color;
	const char *text; /* lives as long as the profile */
	double share;     /* self weight, 0..1; negative: does not apply */
};
typedef VEC(struct svg_legend_entry) svg_legend;
void svg_colors_legend(const struct svg_colors *c, svg_legend *ret);

/* --- palette.map ------------------------------------------------------------------------------ */

struct svg_palette_map {
	struct intern names;
	VEC(struct rgb) colors; /* by id of the name */
	bool changed;
};

/* Lines "name->rgb(1,2,3)"; a file that is not there is empty. */
int svg_palette_map_read(struct svg_palette_map *m, const char *path, struct err *e);
/* Writes it if names were added. */
int svg_palette_map_write(const struct svg_palette_map *m, const char *path, struct err *e);
void svg_palette_map_release(struct svg_palette_map *m);

#endif
