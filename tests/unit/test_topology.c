/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "analysis/topology.h"
#include "analysis/topology_layout.h"
#include "analysis/topology_result.h"
#include "base/io.h"
#include "host/load.h"
#include "view/topology_form.h"

static const char xml[] =
	"<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
	"<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" cpuset=\"0x0000000f\">"
	"<info name=\"CPUModel\" value=\"a &amp; b\"/>"
	"<object type=\"Package\" os_index=\"0\" cpuset=\"0x0000000f\">"
	"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x0000000f\" local_memory=\"1048576\"/>"
	"<object type=\"L2Cache\" cpuset=\"0x00000003\" cache_size=\"65536\" cache_type=\"0\">"
	"<object type=\"Core\" os_index=\"0\" cpuset=\"0x00000003\">"
	"<object type=\"PU\" os_index=\"0\" cpuset=\"0x00000001\"/>"
	"<object type=\"PU\" os_index=\"1\" cpuset=\"0x00000002\"/></object></object>"
	"<object type=\"Core\" os_index=\"1\" cpuset=\"0x0000000c\">"
	"<object type=\"PU\" os_index=\"2\" cpuset=\"0x00000004\"/>"
	"<object type=\"PU\" os_index=\"3\" cpuset=\"0x00000008\"/></object></object>"
	"<object type=\"Misc\" name=\"x\"><object type=\"Bridge\" bridge_type=\"0-1\"/></object>"
	"</object></topology>";

TEST("XML is read and written again the same")
{
	struct topo_tree a, b;
	_cleanup_buf_ struct buf first = BUF_INIT, second = BUF_INIT, text = BUF_INIT;

	CHECK_EQ(topo_parse_xml(&a, xml, strlen(xml), NULL), 0);
	CHECK_EQ(a.n_cpus, 4);
	CHECK_EQ(a.n_cores, 2);
	CHECK_EQ(a.memory, 1048576);
	CHECK_STR(a.model, "a & b");
	topo_cpu_list(&a, a.root->children->children->next->cpus, &text);
	CHECK_STR(buf_str(&text), "2-3");
	buf_reset(&text);
	topo_summary(&a, &text);
	CHECK_STR(buf_str(&text), "1 package, 2 cores, 4 CPUs, 1 memory node");
	topology_form_xml(&a, &first);
	CHECK_EQ(topo_parse_xml(&b, buf_str(&first), first.len, NULL), 0);
	topology_form_xml(&b, &second);
	CHECK_STR(buf_str(&first), buf_str(&second));
	topo_release(&a);
	topo_release(&b);
}

TEST("XML that is cut anywhere is an error or a machine, never more")
{
	for (size_t n = 0; n < strlen(xml); n++) {
		_cleanup_err_ struct err e = ERR_INIT;
		_cleanup_free_ char *part = xmemdup(xml, n + 1);
		struct topo_tree t;

		if (topo_parse_xml(&t, part, n, &e) < 0)
			CHECK(e.what && strstr(e.what, "at byte"));
		else
			topo_release(&t);
	}
}

static bool inside(const struct topo_box *outer, const struct topo_box *b)
{
	return b->x > outer->x && b->y > outer->y && b->x + b->w < outer->x + outer->w &&
	       b->y + b->h < outer->y + outer->h;
}

static bool apart(const struct topo_box *a, const struct topo_box *b)
{
	return a->x + a->w <= b->x || b->x + b->w <= a->x || a->y + a->h <= b->y ||
	       b->y + b->h <= a->y;
}

TEST("boxes lie inside of one another or apart, at any width")
{
	static const u32 widths[] = { 1, 20, 40, 80, 1000 };
	struct topo_tree t;

	CHECK_EQ(topo_parse_xml(&t, xml, strlen(xml), NULL), 0);
	for (size_t k = 0; k < ARRAY_SIZE(widths) * 2; k++) {
		struct topo_layout l;

		topo_layout_make(&l, &t, widths[k / 2], k % 2, true);
		for (size_t i = 0; i < l.boxes.len; i++) {
			for (size_t j = i + 1; j < l.boxes.len; j++) {
				const struct topo_box *a = &l.boxes.items[i];
				const struct topo_box *b = &l.boxes.items[j];

				CHECK(inside(a, b) || apart(a, b));
			}
		}
		vec_each(line, &l.lines)
			CHECK(line->x + line->w < l.w && line->y < l.h);
		topo_layout_release(&l);
	}
	topo_release(&t);
}

TEST("boxes of characters, with a load")
{
	struct topo_cpu_load cpus[4] = { { .known = true, .busy = 0.5 },
					 { .known = true, .busy = 1 } };
	const struct topo_load load = { .cpus = cpus, .n_cpus = 4 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct topo_tree t;
	struct topo_layout l;

	CHECK_EQ(topo_parse_xml(&t, xml, strlen(xml), NULL), 0);
	topo_layout_make(&l, &t, 80, true, true);
	topology_form_boxes(&l, &load, false, false, &out);
	CHECK(strstr(buf_str(&out), "CPU 0 #####.....  50%"));
	CHECK(strstr(buf_str(&out), "CPU 1 ########## 100%"));
	CHECK(!strstr(buf_str(&out), "CPU 2 #")); /* not known is not 0 */
	CHECK(strstr(buf_str(&out), "+ Core 0 -"));
	topo_layout_release(&l);
	topo_release(&t);
}

TEST("masks of CPUs")
{
	range_list list = { 0 };

	CHECK_EQ(topology_parse_mask("00000003", 100, &list), 0);
	CHECK_EQ(list.len, 1);
	CHECK_EQ(list.items[0].last, 1);
	CHECK_EQ(topology_parse_mask("80000000,00000001", 100, &list), 0);
	CHECK_EQ(list.len, 2);
	CHECK_EQ(list.items[1].first, 63);
	CHECK_EQ(topology_parse_mask("F", 3, &list), 0);
	CHECK_EQ(topology_parse_mask("1f", 3, &list), -EINVAL);
	CHECK_EQ(topology_parse_mask("", 3, &list), -EINVAL);
	CHECK_EQ(topology_parse_mask("xyz", 3, &list), -EINVAL);
	vec_release(&list);
}

TEST("what CPUs did, from the files of the kernel")
{
	static const char stat[] = "cpu  9 9 9 9\ncpu0 10 1 5 100 20 2 3 4 7 0\ncpu2 1 2\nintr 5\n"
				   "cpu99999999999999999999 1\ncpux\n";
	static const char irqs[] =
		"           CPU0       CPU2\n  0:         12          3  IO-APIC\n"
		"NMI:          1          0   Non-maskable\nERR:          7\n";
	struct load_moment a = { 0 }, b = { 0 };
	struct topo_load l;

	load_parse_stat(&b, stat, strlen(stat));
	load_parse_interrupts(&b, irqs, strlen(irqs));
	CHECK_EQ(b.cpus.len, 3);
	CHECK_EQ(b.cpus.items[0].busy, 25);
	CHECK_EQ(b.cpus.items[0].idle, 120);
	CHECK(!b.cpus.items[1].known);
	CHECK_EQ(b.cpus.items[0].interrupts, 20);
	CHECK_EQ(b.cpus.items[2].interrupts, 3);
	load_parse_stat(&a, stat, strlen(stat));
	a.cpus.items[0].busy = 5;
	a.cpus.items[0].idle = 100;
	b.time = 2 * NSEC_PER_SEC;
	topo_load_between(&l, &a, &b, 0);
	CHECK_NEAR(l.cpus[0].busy, 0.5, 1e-9);
	CHECK_NEAR(l.cpus[0].interrupts, 10, 1e-9);
	CHECK(!l.cpus[1].known);
	topo_load_release(&l);
	/* a clock and counters that step back are no load */
	topo_load_between(&l, &b, &a, 0);
	CHECK_NEAR(l.cpus[0].busy, 0, 0);
	topo_load_release(&l);
	load_release(&a);
	load_release(&b);
}
