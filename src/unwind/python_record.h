/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mapping that Python's functions have in a recording: see runtime/python_names.h. */
#ifndef UNWIND_PYTHON_RECORD_H
#define UNWIND_PYTHON_RECORD_H

#include "base/buf.h"
#include "recording/record.h"

/* Appends the record about that mapping of a process. */
void python_record_mapping(struct buf *out, const struct perf_event_attr *attr,
			   const struct record_ids *ids);

#endif
