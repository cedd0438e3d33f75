/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colours as the eye sees them, and colours over one another. */
import { clamp } from "./util.js";

/* OKLCH -> "rgb(r, g, b)": equal steps look equal, whatever the hue. */
export function oklch(l, c, h) {
	const a = c * Math.cos((h * Math.PI) / 180),
		b = c * Math.sin((h * Math.PI) / 180);
	const l3 = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
	const m3 = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
	const s3 = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
	const channel = (x) => {
		const v = x <= 0.0031308 ? 12.92 * x : 1.055 * Math.max(x, 0) ** (1 / 2.4) - 0.055;

		return Math.round(clamp(v, 0, 1) * 255);
	};
	const rgb = [
		4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3,
		-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3,
		-0.0041960863 * l3 - 0.7034186147 * m3 + 1.707614701 * s3,
	].map(channel);

	return "rgb(" + rgb.join(",") + ")";
}

const channels = new Map();

/* "rgb(1,2,3)" or "#010203" -> [1, 2, 3] */
export function channelsOf(color) {
	let rgb = channels.get(color);

	if (!rgb) {
		rgb = color.startsWith("#")
			? [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16))
			: color.match(/[\d.]+/g).map(Number);
		if (channels.size > 20000) channels.clear();
		channels.set(color, rgb);
	}
	return rgb;
}

/* @color over @background, which it covers by a part of 1. Non-zero cells are always visible. */
export function shade(color, background, part) {
	const a = channelsOf(color),
		b = channelsOf(background),
		k = Math.min(1, 0.12 + 0.88 * part);

	return "rgb(" + a.map((x, i) => Math.round(b[i] + (x - b[i]) * k)).join(",") + ")";
}

/* How bright a colour is, from 0 to 1, as WCAG has it. */
function luminance(color) {
	const [r, g, b] = channelsOf(color).map((x) =>
		x <= 10 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4
	);

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(one, other) {
	const [a, b] = [luminance(one), luminance(other)].sort((x, y) => y - x);

	return (a + 0.05) / (b + 0.05);
}

const LEGIBLE = 4.5; /* what WCAG asks of small text */
const inks = new Map();

/* The colour for text on @fill: @text, where that can be read, otherwise black or white. */
export function inkOn(fill, text) {
	const key = fill + text;
	let ink = inks.get(key);

	if (!ink) {
		ink =
			contrast(fill, text) >= LEGIBLE
				? text
				: contrast(fill, "#000000") > contrast(fill, "#ffffff")
					? "#000000"
					: "#ffffff";
		if (inks.size > 20000) inks.clear();
		inks.set(key, ink);
	}
	return ink;
}
