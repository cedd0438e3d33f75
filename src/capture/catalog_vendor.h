/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the catalogue: the names that libpfm4 knows for this CPU; none without it. */
#ifndef CAPTURE_CATALOG_VENDOR_H
#define CAPTURE_CATALOG_VENDOR_H

#include "capture/catalog.h"

void catalog_walk_vendor(const struct catalog_query *q);

#endif
