/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/svg_colors.h"

#include "base/hash.h"
#include "base/io.h"
#include "base/parse.h"
#include "waits/kinds.h"

#include <math.h>

const char *const svg_palette_names[] = {
	"hot", "mem",   "io",   "wakeup", "chain",  "java",   "js",     "perl",
	"red", "green", "blue", "aqua",   "yellow", "purple", "orange", NULL,
};

static const char *const kind_words[LOOK_KINDS] = {
	[LOOK_USER] = "user code",          [LOOK_CXX] = "C++",
	[LOOK_KERNEL] = "kernel",           [LOOK_JIT] = "JIT-compiled",
	[LOOK_INTERPRETED] = "interpreted", [LOOK_INLINED] = "inlined",
	[LOOK_LABEL] = "processes, marks",
};

static const struct rgb gray = { 200, 200, 200 };

/* --- shades: 0..1 by name ------------------------------------------------------------------ */

struct shades {
	double a, b, c;
};

static u64 next_random(u64 x)
{
	return (x * 0x5deece66dull + 0xb) & ((1ull << 48) - 1);
}

/* The generator is drand48's: the colours that people know from flamegraph.pl. */
static double shade_of_sum(const char *name, size_t len)
{
	u32 sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += (u8)name[i];
	return (double)next_random(((u64)sum << 16) + 0x330e) / (double)(1ull << 48);
}

/* Names that begin alike look alike: only three letters count, the first one most. */
static double shade_of_letters(const char *name, size_t len, bool backwards)
{
	double sum = 0, most = 1, weight = 1;

	for (size_t i = 0; i < len && i < 3; i++) {
		u8 c = (u8)name[backwards ? len - 1 - i : i];

		sum += (double)(c % (10 + i)) / (double)(9 + i) * weight;
		most += weight;
		weight *= 0.7;
	}
	return 1 - sum / most;
}

static struct shades shades_of(struct svg_colors *c, const char *name, size_t len)
{
	struct shades s;

	switch (c->opts.shade) {
	case SHADE_RANDOM:
		c->seed = next_random(c->seed);
		s.a = (double)c->seed / (double)(1ull << 48);
		c->seed = next_random(c->seed);
		s.b = s.c = (double)c->seed / (double)(1ull << 48);
		break;
	case SHADE_HASH:
		s.a = shade_of_letters(name, len, false);
		s.b = s.c = shade_of_letters(name, len, true);
		break;
	default: s.a = s.b = s.c = shade_of_sum(name, len); break;
	}
	return s;
}

/* --- palettes ------------------------------------------------------------------------------ */

static u8 ramp(int base, int span, double v)
{
	return (u8)(base + (int)(span * v));
}

static struct rgb from_palette(enum svg_palette palette, struct shades v)
{
	u8 x;

	switch (palette) {
	case PALETTE_MEM: return (struct rgb){ 0, ramp(190, 50, v.b), ramp(0, 210, v.a) };
	case PALETTE_IO: x = ramp(80, 60, v.a); return (struct rgb){ x, x, ramp(190, 55, v.b) };
	case PALETTE_RED: x = ramp(50, 80, v.a); return (struct rgb){ ramp(200, 55, v.a), x, x };
	case PALETTE_GREEN: x = ramp(50, 60, v.a); return (struct rgb){ x, ramp(200, 55, v.a), x };
	case PALETTE_BLUE: x = ramp(80, 60, v.a); return (struct rgb){ x, x, ramp(205, 50, v.a) };
	case PALETTE_YELLOW: x = ramp(175, 55, v.a); return (struct rgb){ x, x, ramp(50, 20, v.a) };
	case PALETTE_PURPLE: x = ramp(190, 65, v.a); return (struct rgb){ x, ramp(80, 60, v.a), x };
	case PALETTE_AQUA: x = ramp(165, 55, v.a); return (struct rgb){ ramp(50, 60, v.a), x, x };
	case PALETTE_ORANGE: return (struct rgb){ ramp(190, 65, v.a), ramp(90, 65, v.a), 0 };
	default: return (struct rgb){ ramp(205, 50, v.c), ramp(0, 230, v.a), ramp(0, 55, v.b) };
	}
}

static bool is_java_path(const char *name)
{
	static const char *const roots[] = { "java/", "javax/", "jdk/", "net/",
					     "org/",  "com/",   "io/",  "sun/" };

	name += *name == 'L';
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++)
		if (starts_with(name, roots[i]))
			return true;
	return false;
}

static enum svg_palette java_palette(const char *name, u8 kind)
{
	if (kind == FRAME_JIT || kind == FRAME_INTERPRETED)
		return PALETTE_GREEN;
	if (kind == FRAME_INLINED)
		return PALETTE_AQUA;
	if (is_java_path(name) || strstr(name, ":::"))
		return PALETTE_GREEN;
	if (strstr(name, "::"))
		return PALETTE_YELLOW;
	return kind == FRAME_KERNEL ? PALETTE_ORANGE : PALETTE_RED;
}

static enum svg_palette js_palette(const char *name, u8 kind)
{
	const char *slash = strchr(name, '/');

	if (kind == FRAME_JIT || kind == FRAME_INTERPRETED)
		return slash ? PALETTE_GREEN : PALETTE_AQUA;
	if (strstr(name, "::"))
		return PALETTE_YELLOW;
	if (slash && strstr(slash, ".js"))
		return PALETTE_GREEN;
	if (strchr(name, ':'))
		return PALETTE_AQUA;
	return kind == FRAME_KERNEL ? PALETTE_ORANGE : PALETTE_RED;
}

static enum svg_palette perl_palette(const char *name, u8 kind)
{
	if (strstr(name, "::"))
		return PALETTE_YELLOW;
	if (strstr(name, "Perl") || strstr(name, ".pl"))
		return PALETTE_GREEN;
	return kind == FRAME_KERNEL ? PALETTE_ORANGE : PALETTE_RED;
}

/* Palettes of several hues come down to one for the name. */
static enum svg_palette plain_palette(enum svg_palette palette, const char *name, u8 kind,
				      bool waker)
{
	switch (palette) {
	case PALETTE_JAVA: return java_palette(name, kind);
	case PALETTE_JS: return js_palette(name, kind);
	case PALETTE_PERL: return perl_palette(name, kind);
	case PALETTE_WAKEUP: return PALETTE_AQUA;
	case PALETTE_CHAIN: return waker ? PALETTE_AQUA : PALETTE_BLUE;
	default: return palette;
	}
}

/* --- colours that mean something ------------------------------------------------------------ */

static enum look_kind kind_of(const struct frame *frame, const char *name)
{
	return frame ? look_kind_of(frame->kind, name) : LOOK_LABEL;
}

static struct rgb module_color(const char *module)
{
	const char *slash = strrchr(module, '/');

	return *module ? look_of_name(slash ? slash + 1 : module) : gray;
}

/* From pale to deep red; the root of the share, for small ones are many and large ones few. */
static struct rgb self_color(double share)
{
	double v = sqrt(share);

	return (struct rgb){ ramp(245, -35, v), ramp(235, -200, v), ramp(205, -180, v) };
}

/* As in the viewer. */
static const struct rgb noise_color = { 217, 220, 225 };
static const struct look new_look = { 98, 0.16, 0.88 };
static const struct look vanished_look = { 305, 0.13, 0.74 };

/* flamegraph.pl's: @part of the strongest colour, -1..1, above 0 is red. */
static struct rgb classic_two_sided(double part)
{
	u8 x = (u8)(210 * (1 - MIN(fabs(part), 1.0)));

	if (part == 0)
		return (struct rgb){ 255, 255, 255 };
	return part > 0 ? (struct rgb){ 255, x, x } : (struct rgb){ x, x, 255 };
}

/* The viewer's: orange above 0, blue below, which nearly all eyes tell apart. */
static struct rgb two_sided(const struct svg_colors *c, double part)
{
	double x = sqrt(MIN(fabs(part), 1.0));

	if (!c->own)
		return classic_two_sided(part);
	return look_rgb((struct look){ part > 0 ? 45 : 255, 0.012 + (part > 0 ? 0.16 : 0.14) * x,
				       0.94 - 0.26 * x });
}

static double growth_part(const struct svg_colors *c, double growth, double before)
{
	double part = c->most_growth ? growth / (double)c->most_growth : 0;

	/* twice as much, or half, is the strongest colour */
	if (c->flame->relative)
		part = before > 0 ? log2(MAX(before + growth, 1) / before) : 1;
	return c->opts.negate ? -part : part;
}

static struct rgb growth_color(const struct svg_colors *c, const struct flame_box *b)
{
	switch (flame_change(c->flame, b)) {
	case CHANGE_NONE: return two_sided(c, 0);
	case CHANGE_NOISE: return noise_color;
	case CHANGE_NEW:
		if (c->flame->strip || c->flame->confidence > 0)
			return look_rgb(new_look);
		break;
	case CHANGE_VANISHED: return look_rgb(vanished_look);
	default: break;
	}
	return two_sided(c, growth_part(c, (double)flame_growth(c->flame, b),
					(double)c->flame->tree.base[b->node]));
}

/* Around the ratio of the whole: twice or half of it is the strongest colour. */
static struct rgb ratio_color(const struct svg_colors *c, const struct flame_box *b)
{
	const struct flame *f = c->flame;
	const struct calltree_node *root = &f->tree.nodes.items[0];
	double all = (double)f->tree.base[0] / (double)root->total, here = flame_ratio(f, b);

	if (isnan(here) || all <= 0)
		return noise_color;
	return two_sided(c, here > 0 ? log2(here / all) : -1);
}

/* --- hot and cold --------------------------------------------------------------------------- */

static const struct look state_looks[HOT_KINDS] = {
	[HOT_ON_CPU] = { 32, 0.155, 0.72 },
	[HOT_RUNQ] = { 92, 0.15, 0.87 },
	[HOT_BLOCKED] = { 262, 0.11, 0.74 },
	[HOT_UNKNOWN] = { 0, 0, 0.81 },
};

/* Kinds of waits; web/viewer/waitlooks.js has the same numbers. */
static const struct look wait_looks[STATE_COUNT] = {
	[STATE_DISK] = { 305, 0.12, 0.7 },
	[STATE_FLUSH] = { 318, 0.13, 0.64 },
	[STATE_NETWORK] = { 235, 0.11, 0.73 },
	[STATE_LOCK] = { 355, 0.15, 0.68 },
	[STATE_RWLOCK] = { 348, 0.13, 0.73 },
	[STATE_COND] = { 342, 0.09, 0.78 },
	[STATE_SEMAPHORE] = { 2, 0.11, 0.75 },
	[STATE_BARRIER] = { 12, 0.1, 0.77 },
	[STATE_JOIN] = { 340, 0.06, 0.82 },
	[STATE_FUTEX] = { 350, 0.1, 0.74 },
	[STATE_PIPE] = { 195, 0.09, 0.77 },
	[STATE_SLEEP] = { 255, 0.035, 0.82 },
	[STATE_FAULT] = { 330, 0.14, 0.74 },
	[STATE_RECLAIM] = { 325, 0.17, 0.66 },
	[STATE_THROTTLED] = { 75, 0.14, 0.72 },
	[STATE_FROZEN] = { 215, 0.05, 0.8 },
	[STATE_STOPPED] = { 110, 0.05, 0.76 },
	[STATE_CHILD] = { 160, 0.1, 0.77 },
	[STATE_INTERRUPTIBLE] = { 262, 0.06, 0.8 },
	[STATE_UNINTERRUPTIBLE] = { 300, 0.1, 0.72 },
	[STATE_POLL] = { 145, 0.05, 0.86 },
	[STATE_WORK] = { 135, 0.06, 0.86 },
	[STATE_IDLE] = { 0, 0, 0.88 },
};

struct rgb svg_color_of_wait(enum thread_state s)
{
	return look_rgb(wait_looks[s].light > 0 ? wait_looks[s] : state_looks[HOT_BLOCKED]);
}

struct rgb svg_color_of_state(enum hotcold_state s)
{
	if (s < HOT_KINDS)
		return look_rgb(state_looks[s]);
	return svg_color_of_wait((enum thread_state)(s - HOT_KINDS));
}

/* The colours of what happened there, mixed by its shares; names differ a little in lightness. */
static struct rgb state_color(const struct svg_colors *c, const struct flame_box *b,
			      const char *name, size_t len)
{
	const struct flame_states *s = &c->flame->states[b->node];
	double sum = 0, r = 0, g = 0, blue = 0, light = 0.94 + 0.12 * shade_of_sum(name, len);

	if (streq(name, HOTCOLD_NOT_SAMPLED))
		return svg_color_of_state(HOT_UNKNOWN);
	for (int i = 0; i < HOT_STATES; i++) {
		double part = (double)s->ns[i];
		struct rgb color;

		if (part <= 0)
			continue;
		color = svg_color_of_state((enum hotcold_state)i);

		sum += part;
		r += part * color.r;
		g += part * color.g;
		blue += part * color.b;
	}
	if (sum <= 0)
		return svg_color_of_state(HOT_UNKNOWN);
	light /= sum;
	return (struct rgb){ (u8)MIN(r * light, 255.0), (u8)MIN(g * light, 255.0),
			     (u8)MIN(blue * light, 255.0) };
}

static void states_legend(const struct svg_colors *c, svg_legend *ret)
{
	const struct flame_states *all = &c->flame->states[0];

	for (int i = 0; i < HOT_STATES; i++)
		if (all->ns[i])
			vec_push(ret, (struct svg_legend_entry){
					      svg_color_of_state((enum hotcold_state)i),
					      hotcold_words((enum hotcold_state)i),
					      (double)all->ns[i] / c->flame->whole });
}

/* --- one box ------------------------------------------------------------------------------- */

/* As in the viewer: who waits is blue, who wakes aqua, who wants a CPU yellow. */
static const struct look sleeper_look = { 262, 0.095, 0.8 };
static const struct look waker_look = { 192, 0.085, 0.83 };

static struct rgb wait_color(const struct svg_colors *c, const struct flame_box *b, double shade)
{
	bool waker = c->opts.palette == PALETTE_WAKEUP || b->waker;
	struct look k = c->opts.palette == PALETTE_ORANGE ? state_looks[HOT_RUNQ]
			: waker                           ? waker_look
							  : sleeper_look;

	if (!b->node)
		return look_of_kind(LOOK_LABEL, 0.5);
	k.light += (shade - 0.5) * 0.07;
	k.hue += (shade - 0.5) * 14;
	return look_rgb(k);
}

static struct rgb name_color(double v)
{
	return look_rgb((struct look){ 25 + 70 * v, 0.115, 0.8 + (v - 0.5) * 0.08 });
}

static struct rgb named_color(struct svg_colors *c, const struct flame_box *b, const char *name,
			      size_t len)
{
	const struct frame *frame = flame_frame(c->flame, b);
	/* the root has no name of its own there: its shade is that of no letter */
	struct shades v = shades_of(c, name, b->node ? len : 0);

	if (c->own)
		return name_color(v.a);
	return from_palette(plain_palette(c->opts.palette, name,
					  frame ? frame->kind : (u8)FRAME_USER, b->waker),
			    v);
}

static struct rgb plain_color(struct svg_colors *c, const struct flame_box *b)
{
	const struct frame *frame = flame_frame(c->flame, b);
	const struct calltree_node *node = flame_node(c->flame, b);
	size_t len;
	const char *name = flame_name(c->flame, b, &len);

	if (streq(name, "--"))
		return (struct rgb){ 160, 160, 160 };
	if (streq(name, "-"))
		return gray;
	if (c->flame->ratio)
		return ratio_color(c, b);
	if (c->flame->tree.base)
		return growth_color(c, b);
	switch (c->opts.by) {
	case COLOR_BY_KIND: return look_of_kind(kind_of(frame, name), shades_of(c, name, len).a);
	case COLOR_BY_MODULE:
		return module_color(frame ? profile_str(c->flame->profile, frame->module) : "");
	case COLOR_BY_STATE: return state_color(c, b, name, len);
	case COLOR_BY_WAITS: return wait_color(c, b, shade_of_sum(name, len));
	case COLOR_BY_SELF: return self_color((double)node->self / (double)MAX(c->most_self, 1ull));
	default: return named_color(c, b, name, len);
	}
}

struct rgb svg_color(struct svg_colors *c, const struct flame_box *b)
{
	struct svg_palette_map *m = c->opts.map;
	struct rgb color;
	size_t len;
	const char *name = flame_name(c->flame, b, &len);
	u32 id = m ? intern_find(&m->names, name, len) : 0;

	if (id)
		return m->colors.items[id];
	color = plain_color(c, b);
	if (!m)
		return color;
	id = intern_bytes(&m->names, name, len);
	while (m->colors.len <= id)
		vec_push(&m->colors, color);
	m->changed = true;
	return color;
}

/* One kind only, and nothing that looks like C++: hues would be meaningless. */
static bool has_kinds(const struct flame *f)
{
	u32 seen = 0;

	vec_each(b, &f->boxes) {
		const struct frame *frame = flame_frame(f, b);

		if (frame && frame->kind != FRAME_MARKER)
			seen |= 1u << kind_of(frame, profile_str(f->profile, frame->name));
	}
	return seen & (seen - 1);
}

void svg_colors_init(struct svg_colors *c, const struct flame *f,
		     const struct svg_colors_opts *opts)
{
	*c = (struct svg_colors){ .flame = f, .opts = *opts, .seed = getpid() };
	c->own = opts->by != COLOR_BY_NAME;
	if (c->opts.by == COLOR_BY_AUTO)
		c->opts.by = f->states      ? COLOR_BY_STATE
			     : has_kinds(f) ? COLOR_BY_KIND
					    : COLOR_BY_NAME;
	vec_each(b, &f->boxes) {
		s64 growth = flame_growth(f, b);

		c->most_self = MAX(c->most_self, flame_node(f, b)->self);
		if (b->depth && !(f->strip && b->node >= f->strip))
			c->most_growth = MAX(c->most_growth, (u64)(growth < 0 ? -growth : growth));
	}
}

/* --- legend -------------------------------------------------------------------------------- */

enum { LEGEND_MODULES = 10 };

static const struct shades middle = { 0.5, 0.5, 0.5 };

static int compare_shares(const void *a, const void *b)
{
	const struct svg_legend_entry *x = a, *y = b;

	return x->share < y->share ? 1 : x->share > y->share ? -1 : strcmp(x->text, y->text);
}

static void kinds_legend(const struct svg_colors *c, svg_legend *ret)
{
	const struct calltree *t = &c->flame->tree;
	u64 self[LOOK_KINDS] = { 0 };
	bool seen[LOOK_KINDS] = { 0 };

	for (size_t i = 1; i < t->nodes.len; i++) {
		const struct calltree_node *n = &t->nodes.items[i];
		enum look_kind h = kind_of(n->frame ? &t->profile->frames.items[n->frame] : NULL,
					   profile_str(t->profile, n->name));

		self[h] += n->self;
		seen[h] = true;
	}
	for (int h = 0; h < LOOK_KINDS; h++)
		if (seen[h])
			vec_push(ret, (struct svg_legend_entry){
					      .color = look_of_kind((enum look_kind)h, 0.5),
					      .text = kind_words[h],
					      .share = h == LOOK_LABEL
							       ? -1
							       : (double)self[h] / c->flame->whole,
				      });
	vec_sort(ret, compare_shares);
}

static void modules_legend(const struct svg_colors *c, svg_legend *ret)
{
	const struct profile *p = c->flame->profile;
	_cleanup_map_ struct map self = MAP_INIT;

	vec_each(n, &c->flame->tree.nodes)
		if (n->frame)
			*map_at(&self, p->frames.items[n->frame].module) += n->self;
	map_each(slot, &self) {
		const char *path = profile_str(p, (u32)slot->key), *slash = strrchr(path, '/');

		vec_push(ret, (struct svg_legend_entry){
				      .color = module_color(path),
				      .text = !*path  ? "not known"
					      : slash ? slash + 1
						      : path,
				      .share = (double)slot->value / c->flame->whole,
			      });
	}
	vec_sort(ret, compare_shares);
	ret->len = MIN(ret->len, (size_t)LEGEND_MODULES);
}

static void growth_legend(const struct svg_colors *c, svg_legend *ret)
{
	const struct flame *f = c->flame;
	double most = c->opts.negate ? -1 : 1;

	vec_push(ret, (struct svg_legend_entry){ two_sided(c, most), "more than before", -1 });
	vec_push(ret, (struct svg_legend_entry){ two_sided(c, 0), "as before", -1 });
	vec_push(ret, (struct svg_legend_entry){ two_sided(c, -most), "less than before", -1 });
	if (f->strip || f->confidence > 0)
		vec_push(ret, (struct svg_legend_entry){ look_rgb(new_look), "new", -1 });
	if (f->strip)
		vec_push(ret, (struct svg_legend_entry){
				      look_rgb(vanished_look), "vanished (width: before)",
				      (double)f->tree.nodes.items[f->strip].total /
					      MAX((double)f->tree.base[0], 1) });
	if (f->confidence > 0)
		vec_push(ret, (struct svg_legend_entry){ noise_color, "within noise", -1 });
}

static void ratio_legend(const struct svg_colors *c, svg_legend *ret)
{
	vec_push(ret,
		 (struct svg_legend_entry){ two_sided(c, 1), "ratio twice the mean or more", -1 });
	vec_push(ret, (struct svg_legend_entry){ two_sided(c, 0), "mean", -1 });
	vec_push(ret, (struct svg_legend_entry){ two_sided(c, -1), "half the mean or less", -1 });
	vec_push(ret, (struct svg_legend_entry){ noise_color, "too few samples", -1 });
}

static void self_legend(const struct svg_colors *c, svg_legend *ret)
{
	vec_push(ret, (struct svg_legend_entry){ self_color(0), "no time of its own", -1 });
	vec_push(ret, (struct svg_legend_entry){ self_color(1), "most time of its own",
						 (double)c->most_self / c->flame->whole });
}

void svg_colors_legend(const struct svg_colors *c, svg_legend *ret)
{
	if (c->flame->ratio) {
		ratio_legend(c, ret);
		return;
	}
	if (c->flame->tree.base) {
		growth_legend(c, ret);
		return;
	}
	switch (c->opts.by) {
	case COLOR_BY_KIND: kinds_legend(c, ret); break;
	case COLOR_BY_MODULE: modules_legend(c, ret); break;
	case COLOR_BY_SELF: self_legend(c, ret); break;
	case COLOR_BY_STATE: states_legend(c, ret); break;
	case COLOR_BY_WAITS:
		if (c->opts.palette != PALETTE_CHAIN)
			break;
		vec_push(ret,
			 (struct svg_legend_entry){ look_rgb(sleeper_look), "who waited", -1 });
		vec_push(ret, (struct svg_legend_entry){ look_rgb(waker_look), "its waker", -1 });
		break;
	default:
		if (c->opts.palette != PALETTE_CHAIN)
			break;
		vec_push(ret, (struct svg_legend_entry){ from_palette(PALETTE_BLUE, middle),
							 "who waited", -1 });
		vec_push(ret, (struct svg_legend_entry){ from_palette(PALETTE_AQUA, middle),
							 "its waker", -1 });
		break;
	}
}

/* --- palette.map --------------------------------------------------------------------------- */

enum { MAP_FILE_MOST = 64 << 20 };

/* "1,2,3)" */
static bool read_rgb(const char *text, struct rgb *ret)
{
	const char *end = text + strlen(text);
	u64 parts[3];

	for (int i = 0; i < 3; i++) {
		if (!scan_u64(&text, end, 10, &parts[i]) || parts[i] > 255)
			return false;
		if (*text++ != (i < 2 ? ',' : ')'))
			return false;
	}
	*ret = (struct rgb){ (u8)parts[0], (u8)parts[1], (u8)parts[2] };
	return true;
}

/* "name->rgb(1,2,3)": names may hold "->" themselves */
static bool read_map_line(struct svg_palette_map *m, char *line)
{
	char *mark = strstr(line, "->rgb("), *next;
	struct rgb color;
	u32 id;

	while (mark && (next = strstr(mark + 1, "->rgb(")))
		mark = next;
	if (!mark || !read_rgb(mark + 6, &color))
		return false;
	id = intern_bytes(&m->names, line, (size_t)(mark - line));
	while (m->colors.len <= id)
		vec_push(&m->colors, color);
	m->colors.items[id] = color;
	return true;
}

int svg_palette_map_read(struct svg_palette_map *m, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char *line, *end;
	int r;

	if (!io_exists(path))
		return 0;
	r = io_read_file(path, MAP_FILE_MOST, &text, e);
	if (r < 0 || !text.len)
		return r;
	for (line = text.data; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line && !read_map_line(m, line))
			return err_set(e, EBADMSG, "'%s' is not a palette: '%.40s'", path, line);
	}
	return 0;
}

int svg_palette_map_write(const struct svg_palette_map *m, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!m->changed)
		return 0;
	for (u32 id = 1; id <= m->names.len; id++) {
		struct rgb c = m->colors.items[id];

		buf_addf(&text, "%s->rgb(%u,%u,%u)\n", intern_get(&m->names, id), c.r, c.g, c.b);
	}
	return io_write_file_atomic(path, buf_str(&text), text.len, e);
}

void svg_palette_map_release(struct svg_palette_map *m)
{
	intern_release(&m->names);
	vec_release(&m->colors);
}
