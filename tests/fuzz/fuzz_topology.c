/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as hwloc's XML, drawn in every form, and as the files that tell loads and bindings. */
#include "analysis/topology.h"
#include "analysis/topology_layout.h"
#include "analysis/topology_result.h"
#include "host/affinity.h"
#include "host/load.h"
#include "view/topology_form.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_files(const char *text, size_t size)
{
	char *copy = xstrndup(text, size);
	struct load_moment m = { 0 };
	range_list list = { 0 };

	(void)topology_parse_mask(copy, TOPOLOGY_CPUS_MOST, &list);
	vec_release(&list);
	(void)affinity_parse(text, size, &list);
	load_parse_stat(&m, text, size);
	load_parse_interrupts(&m, text, size);
	load_release(&m);
	vec_release(&list);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT;
	struct topo_layout l;
	struct topo_tree t, again;
	struct result r;

	read_files((const char *)data, size);
	if (topo_parse_xml(&t, (const char *)data, size, NULL) < 0)
		return 0;
	topo_layout_make(&l, &t, 80, true, true);
	if (l.boxes.len < 1000)
		topology_form_boxes(&l, NULL, true, false, &out);
	topology_form_svg(&l, NULL, 0, "x", &out);
	topology_form_text(&t, true, &out);
	buf_reset(&out);
	topology_form_xml(&t, &out);
	if (topo_parse_xml(&again, buf_str(&out), out.len, NULL) < 0)
		abort(); /* what we write we read */
	result_init(&r, "topology");
	topo_result(&t, NULL, &r);
	result_release(&r);
	topo_release(&again);
	topo_layout_release(&l);
	topo_release(&t);
	buf_release(&out);
	return 0;
}
