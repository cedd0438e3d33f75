/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The frames that the page has, in order of time. */
import { firstIndex } from "../viewer/util.js";

const KEPT = 2 * 3600;

export class Frames {
	constructor() {
		this.all = [];
	}

	get last() {
		return this.all[this.all.length - 1];
	}

	/* Where the clock was set back, the time that comes again replaces what was there: one axis
	 * cannot show both. Returns by how many ms it was. */
	add(frame) {
		const before = this.last ? this.last.t : 0;

		if (frame.t === before) return 0;
		while (this.last && this.last.t >= frame.t) this.all.pop();
		this.all.push(frame);
		if (this.all.length > KEPT) this.all.splice(0, this.all.length - KEPT);
		return Math.max(0, before - frame.t);
	}

	/* Frames of the past, in front of what is there. */
	addOlder(frames) {
		const first = this.all.length ? this.all[0].t : Infinity;

		this.all = frames.filter((f) => f.t < first).concat(this.all);
	}

	/* The range of indices from @from to @to, and one more on each side for the lines. */
	range(from, to) {
		const { all } = this;

		return [
			Math.max(0, firstIndex(0, all.length, (i) => all[i].t >= from) - 1),
			Math.min(all.length, firstIndex(0, all.length, (i) => all[i].t > to) + 1),
		];
	}

	/* The frame nearest to a time; undefined: there is none within two seconds. */
	at(t) {
		const { all } = this,
			i = firstIndex(0, all.length, (k) => all[k].t >= t);
		const near = [all[i - 1], all[i]].filter((f) => f && Math.abs(f.t - t) < 2000);

		near.sort((a, b) => Math.abs(a.t - t) - Math.abs(b.t - t));
		return near[0];
	}
}
