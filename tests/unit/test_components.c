/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Taxonomies and what they make of stacks. */
#include "unit/harness.h"

#include "analysis/components.h"
#include "base/asset.h"
#include "base/buf.h"
#include "profile/load.h"
#include "view/svg_asset.h"
#include "view/svg_bars.h"

#include <math.h>

static void parse(struct taxonomy *t, const char *text)
{
	CHECK_EQ(taxonomy_parse(t, text, strlen(text), "test", NULL), 0);
}

static u32 find(const struct taxonomy *t, const char *name)
{
	for (u32 i = 0; i < t->components.len; i++)
		if (streq(t->components.items[i].name, name))
			return i;
	return COMPONENT_UNMAPPED;
}

static void check_refused(const char *text, const char *line)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct taxonomy t;

	CHECK_EQ(taxonomy_parse(&t, text, strlen(text), "test", &e), -EBADMSG);
	CHECK(e.what && strstr(e.what, line));
	taxonomy_release(&t);
}

static void break_down(struct breakdown *b, const struct taxonomy *t, const char *folded)
{
	struct profile p;

	profile_init(&p);
	CHECK_EQ(profile_load_folded(&p, folded, strlen(folded), NULL), 0);
	CHECK_EQ(breakdown_init(b, t, &p, 0, false, NULL), 0);
	profile_release(&p);
}

TEST(order_of_rules)
{
	struct taxonomy t;
	struct breakdown b;

	parse(&t, "# comment\n\n=one\t#112233\ttext\ncopy*\tone\ncopy_x\ttwo\ncopy_*\tthree\r\n"
		  "sys_*\tfour\tstack\n*\tuser\tuser\n");
	break_down(&b, &t,
		   "copy_y_[k] 1\ncopy_x_[k] 2\nsys_a_[k];sys_b_[k];other_[k] 4\nother_[k] 8\n"
		   "main 16\nsys_a_[k];copy_z.isra.0_[k] 32\n");
	CHECK_EQ(b.weight[find(&t, "one")], 33);
	CHECK_EQ(b.weight[find(&t, "two")], 2);
	CHECK_EQ(b.weight[find(&t, "three")], 0);
	CHECK_EQ(b.weight[find(&t, "four")], 4);
	CHECK_EQ(b.weight[COMPONENT_UNMAPPED], 8);
	CHECK_EQ(b.weight[find(&t, "user")], 16);
	CHECK_EQ(b.total, 63);
	CHECK_EQ(b.kernel, 47);
	CHECK_EQ(b.kernel_unmapped, 8);
	CHECK_STR(t.components.items[0].color, "#112233");
	breakdown_release(&b);
	taxonomy_release(&t);
}

TEST(nearest_caller_counts)
{
	struct taxonomy t;
	struct breakdown b;

	parse(&t, "outer\ta\tstack\ninner\tb\tstack\n");
	break_down(&b, &t,
		   "outer_[k];inner_[k];x_[k] 1\nouter_[k];y_[k] 2\nouter_[k];y_[k];z_[k] 4\n");
	CHECK_EQ(b.weight[find(&t, "b")], 1);
	CHECK_EQ(b.weight[find(&t, "a")], 6);
	breakdown_release(&b);
	taxonomy_release(&t);
}

TEST(suffixes_are_not_part_of_names)
{
	struct taxonomy t;
	struct breakdown b;

	parse(&t, "tcp_ack\ttcp\nkmalloc\tmem\n");
	break_down(&b, &t, "tcp_ack.part.0_[k] 1\nkmalloc_noprof_[k] 2\n.hidden_[k] 4\n");
	CHECK_EQ(b.weight[0], 1);
	CHECK_EQ(b.weight[1], 2);
	CHECK_EQ(b.weight[COMPONENT_UNMAPPED], 4);
	breakdown_release(&b);
	taxonomy_release(&t);
}

TEST(rules_for_the_kernel_only)
{
	struct taxonomy t;
	struct breakdown b;

	parse(&t, "memcpy\tcopy\tkernel\nio_*\tio\tkernel-stack\n*\tapp\tuser\n");
	break_down(&b, &t,
		   "memcpy 1\nmemcpy_[k] 2\nio_main;x 4\nio_read_[k];y_[k] 8\n"
		   "io_main;z_[k] 16\n");
	CHECK_EQ(b.weight[find(&t, "copy")], 2);
	CHECK_EQ(b.weight[find(&t, "io")], 8);
	CHECK_EQ(b.weight[find(&t, "app")], 5);
	CHECK_EQ(b.weight[COMPONENT_UNMAPPED], 16);
	breakdown_release(&b);
	taxonomy_release(&t);
}

TEST(faults_name_their_line)
{
	check_refused("a\tb\nno tab\n", "line 2");
	check_refused("a\tb\twhere\n", "line 1");
	check_refused("=x\tred\n", "line 1");
	check_refused("=\n", "line 1");
	check_refused("", "no component");
}

TEST(too_many_components)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct taxonomy t;

	for (int i = 0; i <= COMPONENTS_MOST; i++)
		buf_addf(&text, "f%d\tc%d\n", i, i);
	CHECK_EQ(taxonomy_parse(&t, buf_str(&text), text.len, "x", NULL), -EBADMSG);
	taxonomy_release(&t);
}

/* What people will meet first. */
TEST(built_in_taxonomies)
{
	static const char *const names[] = { "tools/taxonomy-host-network.tsv",
					     "tools/taxonomy-storage.tsv" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct taxonomy t;

		CHECK(asset_find(names[i]) != NULL);
		CHECK(svg_asset(names[i], &text));
		CHECK_EQ(taxonomy_parse(&t, buf_str(&text), text.len, names[i], NULL), 0);
		taxonomy_release(&t);
	}
}

static void check_class(const struct taxonomy *t, const char *stack, const char *component)
{
	_cleanup_free_ char *line = xasprintf("%s 1\n", stack);
	struct breakdown b;

	break_down(&b, t, line);
	if (!b.weight[find(t, component)])
		printf("# '%s' is not '%s'\n", stack, component);
	CHECK_EQ(b.weight[find(t, component)], 1);
	breakdown_release(&b);
}

/* The classes that the study itself names for these functions. */
TEST(host_network_classes)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct taxonomy t;

	CHECK(svg_asset("tools/taxonomy-host-network.tsv", &text));
	CHECK_EQ(taxonomy_parse(&t, buf_str(&text), text.len, "x", NULL), 0);
	check_class(&t, "__check_object_size_[k]", "data copy");
	check_class(&t, "copy_user_enhanced_fast_string_[k]", "data copy");
	check_class(&t, "__inet_lookup_established_[k]", "tcp/ip");
	check_class(&t, "__ip_queue_xmit_[k]", "tcp/ip");
	check_class(&t, "__dev_queue_xmit_[k]", "netdevice");
	check_class(&t, "__napi_schedule_[k]", "netdevice");
	check_class(&t, "__alloc_skb_[k]", "skb");
	check_class(&t, "__build_skb_around_[k]", "skb");
	check_class(&t, "__kmalloc_node_track_caller_[k]", "memory");
	check_class(&t, "__slab_alloc_[k]", "memory");
	check_class(&t, "__lock_text_start_[k]", "lock");
	check_class(&t, "_raw_spin_lock_bh_[k]", "lock");
	check_class(&t, "__local_bh_enable_ip_[k]", "scheduling");
	check_class(&t, "__schedule_[k]", "scheduling");
	check_class(&t, "__do_softirq_[k]", "others");
	check_class(&t, "__fget_[k]", "others");
	check_class(&t, "main", "application");
	taxonomy_release(&t);
}

TEST(storage_classes)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct taxonomy t;

	CHECK(svg_asset("tools/taxonomy-storage.tsv", &text));
	CHECK_EQ(taxonomy_parse(&t, buf_str(&text), text.len, "x", NULL), 0);
	check_class(&t, "do_syscall_64_[k];vfs_write_[k];ext4_file_write_iter_[k];memcpy_[k]",
		    "file system");
	check_class(&t, "ext4_writepages_[k];submit_bio_[k];blk_mq_submit_bio_[k];x_[k]",
		    "block tx");
	check_class(&t, "virtblk_done_[k];blk_mq_complete_request_[k];bio_endio_[k];x_[k]",
		    "block rx");
	check_class(&t, "do_idle_[k];pv_native_safe_halt_[k]", "idle");
	check_class(&t, "net_rx_action_[k];x_[k]", "net rx");
	check_class(&t, "kernel_sendmsg_[k];tcp_sendmsg_[k];x_[k]", "net tx");
	check_class(&t, "submit_bio_[k];_raw_spin_lock_[k]", "others");
	check_class(&t, "dd", "application");
	taxonomy_release(&t);
}

TEST(bars_are_drawn_whole)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct taxonomy t;
	struct breakdown b;

	parse(&t, "a\t<one>\nb\ttwo\n");
	break_down(&b, &t, "a_[k] 3\nb_[k] 1\n");
	CHECK(fabs(breakdown_share(&b, 0) - 75) < 1e-9);
	svg_bars(&t, &b, 1, "a & b", &out);
	CHECK(strstr(buf_str(&out), "&lt;one&gt;: 75.00%") != NULL);
	CHECK(strstr(buf_str(&out), "width=\"825.00\"") != NULL);
	CHECK(strstr(buf_str(&out), "a &amp; b") != NULL);
	CHECK(!strstr(buf_str(&out), "change"));
	buf_reset(&out);
	svg_bars(&t, (struct breakdown[]){ b, b }, 2, "twice", &out);
	CHECK(strstr(buf_str(&out), "change") && strstr(buf_str(&out), "+0.00"));
	breakdown_release(&b);
	taxonomy_release(&t);
}
