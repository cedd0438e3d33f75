/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call graphs: as SVG, laid out here, and as text for graphviz. */
#ifndef VIEW_SVG_GRAPH_H
#define VIEW_SVG_GRAPH_H

#include "analysis/callgraph.h"
#include "base/buf.h"

/* Lays @g out. */
void svg_graph(struct callgraph *g, const char *title, struct buf *out);
void dot_graph(struct callgraph *g, const char *title, struct buf *out);

#endif
