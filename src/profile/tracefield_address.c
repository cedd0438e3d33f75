/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses as the kernel's %p writes them: hardware, internet, socket, uuid. */
#include "profile/tracefield_tree.h"

#include <netinet/in.h>

static void print_mac(struct buf *out, const u8 *p, char separator)
{
	for (int i = 0; i < 6; i++) {
		if (i && separator)
			buf_addch(out, separator);
		buf_addf(out, "%02x", p[i]);
	}
}

static void print_ip4(struct buf *out, const u8 *p, bool zeros)
{
	buf_addf(out, zeros ? "%03d.%03d.%03d.%03d" : "%d.%d.%d.%d", p[0], p[1], p[2], p[3]);
}

static void print_ip6(struct buf *out, const u8 *p, bool colons)
{
	for (int i = 0; i < 16; i += 2)
		buf_addf(out, "%s%02x%02x", i && colons ? ":" : "", p[i], p[i + 1]);
}

static u32 word_at(const u8 *p, int i)
{
	return (u32)p[i * 2] << 8 | p[i * 2 + 1];
}

/* The longest run of two or more zero words among the first @words. */
static void longest_zeros(const u8 *p, int words, int *ret_at, int *ret_n)
{
	*ret_at = -1;
	*ret_n = 1;
	for (int i = 0, n; i < words; i += n ? n : 1) {
		for (n = 0; i + n < words && !word_at(p, i + n); n++)
			;
		if (n > *ret_n) {
			*ret_at = i;
			*ret_n = n;
		}
	}
}

/* ::ffff:1.2.3.4 and the rarer form of an address that a router made */
static bool has_ip4(const u8 *p)
{
	bool zeros = !word_at(p, 0) && !word_at(p, 1) && !word_at(p, 2) && !word_at(p, 3);

	return (zeros && !word_at(p, 4) && word_at(p, 5) == 0xffff) ||
	       (word_at(p, 4) == 0 && word_at(p, 5) == 0x5efe) ||
	       (word_at(p, 4) == 0x200 && word_at(p, 5) == 0x5efe);
}

static void print_ip6_short(struct buf *out, const u8 *p)
{
	bool ip4 = has_ip4(p);
	int words = ip4 ? 6 : 8, at, n;
	bool colon = false;

	longest_zeros(p, words, &at, &n);
	for (int i = 0; i < words; i++) {
		if (i == at) {
			buf_addstr(out, colon || !i ? "::" : ":");
			colon = false;
			i += n - 1;
			continue;
		}
		if (colon)
			buf_addch(out, ':');
		buf_addx(out, word_at(p, i));
		colon = true;
	}
	if (!ip4)
		return;
	if (colon)
		buf_addch(out, ':');
	print_ip4(out, p + 12, false);
}

/* %pIS[pc]: a whole socket address, with its port if asked for */
static void print_socket(struct buf *out, struct tracefield_bytes b, const char *how)
{
	bool port = strchr(how, 'p'), is_short = strchr(how, 'c');
	u16 family;

	if (b.n < 8) {
		buf_addstr(out, "INVALIDSOCKET");
		return;
	}
	memcpy(&family, b.p, 2);
	if (family == AF_INET) {
		print_ip4(out, b.p + 4, false);
	} else if (family == AF_INET6 && b.n >= 24) {
		buf_addstr(out, port ? "[" : "");
		if (is_short)
			print_ip6_short(out, b.p + 8);
		else
			print_ip6(out, b.p + 8, true);
		buf_addstr(out, port ? "]" : "");
	} else {
		buf_addstr(out, "INVALIDFAMILY");
		return;
	}
	if (port)
		buf_addf(out, ":%u", word_at(b.p, 1));
}

static void print_uuid(struct buf *out, const u8 *p, char how)
{
	static const u8 little[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	bool is_little = how == 'l' || how == 'L', upper = how == 'B' || how == 'L';

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			buf_addch(out, '-');
		buf_addf(out, upper ? "%02X" : "%02x", p[is_little ? little[i] : i]);
	}
}

bool tracefield_print_address(const struct tracefield_run *r, const struct piece *p)
{
	struct tracefield_bytes b = tracefield_eval_bytes(r, p->arg);
	struct buf *out = r->out;
	size_t need = 0;

	switch (p->sub[0]) {
	case 'M':
	case 'm': need = 6; break;
	case 'I':
	case 'i': need = p->sub[1] == '4' ? 4 : p->sub[1] == 'S' ? 2 : 16; break;
	case 'U': need = 16; break;
	default: return false;
	}
	if (!b.p || b.n < need) {
		buf_addstr(out, "(no data)");
		return true;
	}
	if (p->sub[0] == 'U')
		print_uuid(out, b.p, p->sub[1]);
	else if (p->sub[0] == 'M' || p->sub[0] == 'm')
		print_mac(out, b.p, p->sub[0] == 'm' ? 0 : p->sub[1] == 'F' ? '-' : ':');
	else if (p->sub[1] == '4')
		print_ip4(out, b.p, p->sub[0] == 'i');
	else if (p->sub[1] == 'S')
		print_socket(out, b, p->sub + 2);
	else if (p->sub[0] == 'I' && p->sub[2] == 'c')
		print_ip6_short(out, b.p);
	else
		print_ip6(out, b.p, p->sub[0] == 'I');
	return true;
}
