/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row of stretches as pixels. Each pixel gets the colours of what happened in its time, each by
 * its share, and the background for the rest: what is shorter than a pixel is neither lost nor made
 * longer than it was.
 */
import { channelsOf } from "../viewer/oklch.js";

export class Density {
	constructor(width) {
		this.width = width;
		this.sums = new Float32Array(width * 3);
		this.covered = new Float32Array(width);
		this.low = width;
		this.high = -1;
	}
	/* [x0, x1) in pixels. */
	add(x0, x1, rgb) {
		const from = Math.max(0, x0),
			to = Math.min(this.width, x1);

		if (to <= from) return;
		const first = Math.floor(from),
			last = Math.min(this.width - 1, Math.floor(to));

		this.low = Math.min(this.low, first);
		this.high = Math.max(this.high, last);
		for (let x = first; x <= last; x++)
			this.put(x, Math.min(to, x + 1) - Math.max(from, x), rgb);
	}
	put(x, part, rgb) {
		if (part <= 0) return;
		this.covered[x] += part;
		for (let c = 0; c < 3; c++) this.sums[x * 3 + c] += rgb[c] * part;
	}
	colorAt(x, back) {
		/* one task after the other: more than all of a pixel is rounding */
		const part = Math.min(1, this.covered[x]),
			k = this.covered[x] > 1 ? 1 / this.covered[x] : 1;
		const rgb = back.map((b, c) => Math.round(b * (1 - part) + this.sums[x * 3 + c] * k));

		return "rgb(" + rgb.join(",") + ")";
	}
	/* Equal neighbours are one rectangle. */
	paint(painter, left, y, height, background) {
		const back = channelsOf(background);
		let from = this.low,
			color = "";

		for (let x = this.low; x <= this.high + 1; x++) {
			const next = x <= this.high && this.covered[x] > 0 ? this.colorAt(x, back) : "";

			if (next === color) continue;
			if (color) painter.rect(left + from, y, x - from, height, color);
			from = x;
			color = next;
		}
	}
}
