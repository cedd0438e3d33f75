/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The axis that all charts share: what is shown, the cursor, the selection. */
import { clamp } from "../viewer/util.js";

export class Axis {
	constructor(changed) {
		this.changed = changed;
		this.span = 60;      /* seconds */
		this.end = null;     /* ms; null: live */
		this.cursor = null;  /* ms */
		this.chosen = null;  /* [from, to], ms */
		this.newest = Date.now();
	}

	get to() {
		return this.end === null ? this.newest : this.end;
	}

	get from() {
		return this.to - this.span * 1000;
	}

	get live() {
		return this.end === null;
	}

	pause(on) {
		this.end = on ? this.to : null;
		this.changed();
	}

	/* What was shown or selected of a time that is not there any more goes. */
	setBack(newest) {
		this.newest = newest;
		this.cursor = null;
		if (this.end !== null && this.end > newest) this.end = null;
		if (this.chosen && this.chosen[1] > newest) this.chosen = null;
		this.changed();
	}

	/* By a share of what is shown; ahead of now is live. */
	move(share) {
		const end = this.to + share * this.span * 1000;

		this.end = end >= this.newest ? null : end;
		this.changed();
	}

	show(from, to) {
		this.span = clamp((to - from) / 1000, 5, 7200);
		this.end = to;
		this.changed();
	}

	scale(factor, around = (this.from + this.to) / 2) {
		const before = this.span,
			span = clamp(before * factor, 5, 7200);

		if (this.end !== null) this.end = around + (this.end - around) * (span / before);
		this.span = span;
		this.changed();
	}

	choose(from, to) {
		this.chosen = from === null ? null : [Math.min(from, to), Math.max(from, to)];
		this.changed();
	}
}
