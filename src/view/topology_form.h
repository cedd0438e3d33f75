/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree of a machine in the forms that others read, and for people. */
#ifndef VIEW_TOPOLOGY_FORM_H
#define VIEW_TOPOLOGY_FORM_H

#include "analysis/topology.h"
#include "analysis/topology_layout.h"
#include "base/buf.h"

/* hwloc's XML, version 2. */
void topology_form_xml(const struct topo_tree *t, struct buf *out);

/* An outline, one line for each object or chain of objects, as lstopo prints it. */
void topology_form_text(const struct topo_tree *t, bool devices, struct buf *out);

/* Boxes of characters, at most @width wide where that is possible; @unicode: lines, not ASCII. */
void topology_form_boxes(const struct topo_layout *l, const struct topo_load *load, bool unicode,
			 bool color, struct buf *out);
/*
 * The same boxes as a picture. With several moments of load it plays them, a second each; the
 * picture needs no script.
 */
void topology_form_svg(const struct topo_layout *l, const struct topo_load *loads, size_t n_loads,
		       const char *title, struct buf *out);

#endif
