/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/look.h"

#include "base/hash.h"

#include <math.h>

#define LIGHT       0.8 /* of boxes; text on them is black */
#define SHADE_LIGHT 0.07
#define SHADE_HUE   14

static const struct look kinds[LOOK_KINDS] = {
	[LOOK_USER] = { 48, 0.115, LIGHT },
	[LOOK_CXX] = { 95, 0.115, LIGHT + 0.05 },
	[LOOK_KERNEL] = { 252, 0.085, LIGHT - 0.01 },
	[LOOK_JIT] = { 168, 0.1, LIGHT + 0.01 },
	[LOOK_INTERPRETED] = { 348, 0.095, LIGHT + 0.02 },
	[LOOK_INLINED] = { 62, 0.055, LIGHT + 0.05 },
	[LOOK_LABEL] = { 255, 0.012, LIGHT + 0.02 },
};

static u8 channel(double linear)
{
	double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;

	return (u8)lround(255 * fmin(fmax(v, 0), 1));
}

struct rgb look_rgb(struct look k)
{
	double a = k.chroma * cos(k.hue * M_PI / 180), b = k.chroma * sin(k.hue * M_PI / 180);
	double l = pow(k.light + 0.3963377774 * a + 0.2158037573 * b, 3);
	double m = pow(k.light - 0.1055613458 * a - 0.0638541728 * b, 3);
	double s = pow(k.light - 0.0894841775 * a - 1.291485548 * b, 3);

	return (struct rgb){
		channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
		channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
		channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
	};
}

enum look_kind look_kind_of(enum frame_kind kind, const char *name)
{
	switch (kind) {
	case FRAME_KERNEL:
	case FRAME_HYPERVISOR:
	case FRAME_GUEST_KERNEL: return LOOK_KERNEL;
	case FRAME_JIT: return LOOK_JIT;
	case FRAME_INTERPRETED: return LOOK_INTERPRETED;
	case FRAME_INLINED: return LOOK_INLINED;
	case FRAME_MARKER: return LOOK_LABEL;
	default: return strstr(name, "::") ? LOOK_CXX : LOOK_USER;
	}
}

struct rgb look_of_kind(enum look_kind kind, double shade)
{
	struct look k = kinds[kind];

	if (kind == LOOK_LABEL)
		return look_rgb(k);
	k.light += (shade - 0.5) * SHADE_LIGHT;
	k.hue += (shade - 0.5) * SHADE_HUE;
	return look_rgb(k);
}

struct rgb look_of_heat(double part)
{
	double x = fmin(fmax(part, 0), 1);

	return look_rgb((struct look){ 90 - 58 * x, 0.03 + 0.13 * x, 0.965 - 0.33 * x });
}

struct rgb look_of_name(const char *name)
{
	u64 h = hash_str(name);

	return look_rgb((struct look){ (double)(h % 24) * 15, 0.09,
				       LIGHT + (double)(h / 24 % 5) * 0.025 - 0.05 });
}

void look_add(struct buf *out, struct rgb c)
{
	static const char digits[] = "0123456789abcdef";
	const char text[] = { '#',
			      digits[c.r >> 4],
			      digits[c.r & 15],
			      digits[c.g >> 4],
			      digits[c.g & 15],
			      digits[c.b >> 4],
			      digits[c.b & 15] };

	buf_add(out, text, sizeof(text));
}
