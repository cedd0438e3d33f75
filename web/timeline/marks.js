/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the program said meanwhile: spans as bars in rows of their own, moments as lines. */
import { channelsOf, inkOn, oklch, shade } from "../viewer/oklch.js";
import { SMALL } from "../viewer/paint.js";
import { fmtNs, hashText } from "../viewer/util.js";

const BAR = 16; /* height of a row of spans */
const BARS_MOST = 8; /* rows; what has no place is on the last one */
const LABEL = 6; /* letters of a name that is cut */

export class Marks {
	/* list: [begin, length, tid, name, id, whether it ended], length -1: a moment */
	constructor(list, length) {
		this.spans = [];
		this.moments = [];
		const free = [];

		for (const [begin, span, tid, name, id, ended] of list || []) {
			if (span < 0) {
				this.moments.push({ begin, end: begin, tid, name });
				continue;
			}
			const end = Math.min(begin + span, length);
			let row = free.findIndex((t) => t <= begin);

			if (row < 0) row = Math.min(free.length, BARS_MOST - 1);
			free[row] = end;
			this.spans.push({ begin, end, tid, name, id, ended, row });
		}
		this.rows = free.length;
	}
	get height() {
		return this.rows * BAR + (this.moments.length ? BAR : 0) + (this.rows || this.moments.length ? 6 : 0);
	}
	colorOf(mark, dark) {
		return oklch(dark ? 0.6 : 0.8, 0.1, (hashText(mark.name) % 24) * 15);
	}
	paint(p, picture, top, left) {
		const right = left + picture.width;

		if (!this.height) return;
		p.text("marks", 10, top + BAR / 2, picture.text, SMALL);
		for (const s of this.spans) this.paintSpan(p, picture, s, top, left, right);
		/* names of moments as far as they do not overlap */
		let taken = left;

		for (const m of this.moments) {
			const x = picture.x(m.begin);

			if (x < left || x > right) continue;
			p.rect(Math.round(x), top, 1, p.height - top, shade(picture.moment, picture.background, 0.7));
			if (x < taken || x + 40 > right) continue;
			const words = fit(p, m.name, right - x - 6);

			if (!words) continue;
			p.text(words, x + 4, top + this.rows * BAR + BAR / 2, picture.quiet, SMALL);
			taken = x + p.measure(words, SMALL) + 14;
		}
	}
	paintSpan(p, picture, s, top, left, right) {
		const x = Math.max(left, picture.x(s.begin)),
			to = Math.min(right, picture.x(s.end)),
			y = top + s.row * BAR,
			fill = this.colorOf(s, picture.dark);

		if (to < left || x > right) return;
		p.rect(x, y + 1, Math.max(1, to - x), BAR - 2, fill);
		const words = to - x > 30 ? fit(p, s.name + " " + s.id, to - x - 8) : "";

		if (words) p.text(words, x + 4, y + BAR / 2, inkOn("rgb(" + channelsOf(fill).join(",") + ")", picture.text), SMALL);
	}
	/* The span at a point, or the moment beside it. */
	hit(picture, x, y, top) {
		const row = Math.floor((y - top) / BAR),
			t = picture.timeAt(x);

		if (y < top || y >= top + this.height) return null;
		return (
			this.spans.find((s) => s.row === row && s.begin <= t && t < s.end) ||
			this.moments.find((m) => Math.abs(picture.x(m.begin) - x) <= 3) ||
			null
		);
	}
	linesOf(mark, data) {
		const task = data.tasks.find((t) => t.tid === mark.tid),
			who = task ? task.name : String(mark.tid);

		if (mark.end === mark.begin) return [mark.name, ["logged at", "+" + fmtNs(mark.begin)], ["by", who]];
		return [
			mark.name + " " + mark.id,
			["took", fmtNs(mark.end - mark.begin) + (mark.ended ? "" : ", and had not ended")],
			["from", "+" + fmtNs(mark.begin)],
			["begun by", who],
		];
	}
}

function fit(p, text, room) {
	if (p.measure(text, SMALL) <= room) return text;
	let n = text.length;

	while (n >= LABEL && p.measure(text.slice(0, n) + "…", SMALL) > room) n--;
	return n >= LABEL ? text.slice(0, n) + "…" : "";
}
