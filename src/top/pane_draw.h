/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pane on the screen: as a table, as histograms, as a heat map over time. */
#ifndef TOP_PANE_DRAW_H
#define TOP_PANE_DRAW_H

#include "top/pane.h"
#include "tui/table.h"

enum pane_form { PANE_AUTO, PANE_TABLE, PANE_HISTOGRAM, PANE_HEATMAP, PANE_FORMS };

const char *pane_form_name(enum pane_form f);
/* Kinds of the columns ("pid comm bytes"), by which numbers have units; NULL: not known. */
void pane_draw(struct grid *g, struct rect r, const struct pane *p, enum pane_form form,
	       const char *kinds, struct list *l);
void pane_draw_table(struct grid *g, struct rect r, const struct pane_table *t, bool newest_first,
		     const char *kinds, struct list *l);

#endif
