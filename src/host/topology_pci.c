/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PCI tree and what hangs on it: disks, network cards, graphics. */
#include "host/topology_files.h"

#include <fcntl.h>
#include <limits.h>

#include "base/io.h"

enum {
	CONFIG_BYTES = 64,
	CONFIG_REVISION = 0x08,
	CONFIG_HEADER = 0x0e,
	CONFIG_SECONDARY = 0x19,
	CONFIG_SUBORDINATE = 0x1a,
	HEADER_BRIDGE = 1,
	CLASS_BRIDGE = 0x0604,
	SECTOR = 512,
};

#define PCI "/sys/bus/pci/devices"

/* "0000:3b:00.1" */
static bool parse_address(const char *name, struct topology_pci *p)
{
	const char *end = name + strlen(name);
	u64 v[4];
	static const char after[] = { ':', ':', '.', '\0' };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		if (!scan_u64(&name, end, 16, &v[i]) || *name != after[i])
			return false;
		name++;
	}
	if (v[0] > UINT32_MAX || v[1] > 255 || v[2] > 31 || v[3] > 7)
		return false;
	p->domain = (u32)v[0];
	p->bus = (u8)v[1];
	p->slot = (u8)v[2];
	p->function = (u8)v[3];
	return true;
}

static void read_config(const struct topology *t, const char *name, struct topology_pci *p)
{
	_cleanup_free_ char *path = xasprintf("%s" PCI "/%s/config", t->root, name);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	u8 config[CONFIG_BYTES];

	if (fd < 0 || io_pread_all(fd, 0, config, sizeof(config)) < 0)
		return;
	p->revision = config[CONFIG_REVISION];
	p->bridge =
		(config[CONFIG_HEADER] & 0x7f) == HEADER_BRIDGE && p->class >> 8 == CLASS_BRIDGE;
	if (p->bridge) {
		p->first_bus = config[CONFIG_SECONDARY];
		p->last_bus = config[CONFIG_SUBORDINATE];
	}
}

/* Lanes times what one carries: 128 of 130 bits are data from 8 GT/s on, 8 of 10 before. */
static double link_of(const struct topology *t, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	u64 lanes = topology_number(t, 0, PCI "/%s/current_link_width", name);
	double speed;

	if (topology_line(t, &text, PCI "/%s/current_link_speed", name) < 0 || lanes > 64)
		return 0;
	buf_truncate(&text, strcspn(buf_str(&text), " "));
	if (parse_double(buf_str(&text), &speed, NULL) < 0 || !(speed > 0) || speed > 1000)
		return 0;
	return speed * (double)lanes * (speed >= 8 ? 128.0 / 130 : 0.8) / 8;
}

static void read_one(struct topology *t, const char *name)
{
	struct topology_pci p = { .node = -1 };
	u64 node;

	if (!parse_address(name, &p) || t->pci.len >= TOPOLOGY_DEVICES_MOST)
		return;
	p.class = (u32)topology_number(t, 0, PCI "/%s/class", name) & 0xffffff;
	p.vendor = (u16)topology_number(t, 0, PCI "/%s/vendor", name);
	p.device = (u16)topology_number(t, 0, PCI "/%s/device", name);
	p.subvendor = (u16)topology_number(t, 0, PCI "/%s/subsystem_vendor", name);
	p.subdevice = (u16)topology_number(t, 0, PCI "/%s/subsystem_device", name);
	p.revision = (u8)topology_number(t, 0, PCI "/%s/revision", name);
	node = topology_number(t, UINT64_MAX, PCI "/%s/numa_node", name);
	if (node < TOPOLOGY_NODES_MOST)
		p.node = (s32)node;
	if (!topology_list(t, TOPOLOGY_CPUS_MOST - 1, &p.cpus, PCI "/%s/local_cpulist", name))
		vec_clear(&p.cpus);
	p.link = link_of(t, name);
	read_config(t, name, &p);
	vec_push(&t->pci, p);
}

static u64 address_of(const struct topology_pci *p)
{
	return (u64)p->domain << 32 | (u64)p->bus << 16 | (u64)p->slot << 8 | p->function;
}

static int pci_order(const void *a, const void *b)
{
	u64 x = address_of(a), y = address_of(b);

	return x < y ? -1 : x > y;
}

/* The narrowest bridge whose buses hold it. */
static u32 parent_of(const struct topology *t, const struct topology_pci *p)
{
	u32 best = 0;

	for (size_t i = 0; i < t->pci.len; i++) {
		const struct topology_pci *b = &t->pci.items[i];

		if (!b->bridge || b == p || b->domain != p->domain || p->bus < b->first_bus ||
		    p->bus > b->last_bus || b->bus >= p->bus)
			continue;
		if (!best || b->first_bus > t->pci.items[best - 1].first_bus)
			best = (u32)i + 1;
	}
	return best;
}

void topology_read_pci(struct topology *t)
{
	topology_names names = { 0 };

	topology_folder(t, PCI, &names);
	vec_each(name, &names)
		read_one(t, *name);
	topology_names_release(&names);
	vec_sort(&t->pci, pci_order);
	vec_each(p, &t->pci)
		p->parent = parent_of(t, p);
}

/* --- devices ---------------------------------------------------------------------------------- */

static u32 pci_by_name(const struct topology *t, const char *name)
{
	struct topology_pci key = { 0 };
	const struct topology_pci *found;

	if (!parse_address(name, &key) || !t->pci.len)
		return 0;
	found = bsearch(&key, t->pci.items, t->pci.len, sizeof(key), pci_order);
	return found ? (u32)(found - t->pci.items) + 1 : 0;
}

/* The last PCI device on the way of the link; it is read, not followed. */
static u32 pci_of_link(const struct topology *t, const char *class, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s%s/%s", t->root, class, name);
	char link[PATH_MAX], *at = link, *part;
	ssize_t n = readlink(path, link, sizeof(link) - 1);
	u32 found = 0;

	if (n < 0)
		return 0;
	link[n] = '\0';
	while ((part = strsep(&at, "/"))) {
		u32 pci = pci_by_name(t, part);

		found = pci ? pci : found;
	}
	return found;
}

struct device_class {
	const char *path;
	enum topology_device_type type;
	const char *prefix; /* of the names that count, or NULL: all */
};

static const struct device_class classes[] = {
	{ "/sys/class/block", TOPOLOGY_BLOCK, NULL },
	{ "/sys/class/net", TOPOLOGY_NET, NULL },
	{ "/sys/class/infiniband", TOPOLOGY_INFINIBAND, NULL },
	{ "/sys/class/drm", TOPOLOGY_GPU, "card" },
	{ "/sys/class/drm", TOPOLOGY_GPU, "renderD" },
};

static bool is_partition(const struct topology *t, const char *class, const char *name)
{
	return topology_number(t, 0, "%s/%s/partition", class, name) != 0;
}

static void read_device(struct topology *t, const struct device_class *c, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct topology_device d = { .type = c->type };

	if (t->devices.len >= TOPOLOGY_DEVICES_MOST)
		return;
	/* "card0-DP-1" is a plug of card0 */
	if (c->prefix && (!starts_with(name, c->prefix) || strchr(name, '-')))
		return;
	d.pci = pci_of_link(t, c->path, name);
	if (!d.pci || (c->type == TOPOLOGY_BLOCK && is_partition(t, c->path, name)))
		return; /* loop devices, bridges of containers: no hardware */
	d.name = xstrdup(name);
	if (c->type == TOPOLOGY_BLOCK)
		d.size = MIN(topology_number(t, 0, "%s/%s/size", c->path, name),
			     UINT64_MAX / SECTOR) *
			 SECTOR;
	if (c->type == TOPOLOGY_NET && topology_line(t, &text, "%s/%s/address", c->path, name) >= 0)
		d.address = xstrdup(buf_str(&text));
	vec_push(&t->devices, d);
}

void topology_read_devices(struct topology *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		topology_names names = { 0 };

		topology_folder(t, classes[i].path, &names);
		vec_each(name, &names)
			read_device(t, &classes[i], *name);
		topology_names_release(&names);
	}
}
