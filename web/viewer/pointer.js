/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hands on a picture: mouse and touch as a few events, and a window that glides. */
import { clamp } from "./util.js";

/* Glides from one window to another, unless the reader asked for less motion. */
export class Glide {
	constructor() {
		this.quick = matchMedia("(prefers-reduced-motion: reduce)");
		this.request = 0;
	}
	run(picture, to, draw, done) {
		const from = [picture.a, picture.b],
			begin = performance.now(),
			ms = this.quick.matches ? 0 : 140;

		cancelAnimationFrame(this.request);
		const frame = (now) => {
			const x = ms ? clamp((now - begin) / ms, 0, 1) : 1,
				e = 1 - (1 - x) ** 3;

			picture.a = from[0] + (to[0] - from[0]) * e;
			picture.b = from[1] + (to[1] - from[1]) * e;
			draw();
			if (x < 1) this.request = requestAnimationFrame(frame);
			else if (done) done();
		};

		frame(ms ? begin + 1 : begin);
	}
}

/* Mouse and touch on a canvas, as few events: hover, click, menu, pan, wheel. */
export class Pointer {
	constructor(canvas, on) {
		let down = null,
			moved = false;
		const at = (e) => {
			const box = canvas.getBoundingClientRect();

			return [e.clientX - box.left, e.clientY - box.top];
		};

		canvas.addEventListener("pointerdown", (e) => {
			if (e.button !== 0) return;
			down = at(e);
			moved = false;
			canvas.setPointerCapture(e.pointerId);
			if (on.down) on.down(...down, e);
		});
		canvas.addEventListener("pointermove", (e) => {
			const [x, y] = at(e);

			if (!down) {
				on.hover(x, y, e);
				return;
			}
			if (!moved && Math.hypot(x - down[0], y - down[1]) < 4) return;
			moved = true;
			on.pan(x - down[0], y - down[1], x, y);
			if (!on.keepStart) down = [x, y];
		});
		canvas.addEventListener("pointerup", (e) => {
			const was = down;

			down = null;
			if (was && !moved && e.button === 0) on.click(...at(e), e);
			else if (was && on.end) on.end(...at(e), e);
		});
		canvas.addEventListener("pointerleave", (e) => !down && on.hover(-1, -1, e));
		canvas.addEventListener("dblclick", (e) => on.double && on.double(...at(e), e));
		canvas.addEventListener("contextmenu", (e) => {
			e.preventDefault();
			if (on.menu) on.menu(...at(e), e);
		});
		canvas.addEventListener(
			"wheel",
			(e) => {
				e.preventDefault();
				on.wheel(...at(e), e);
			},
			{ passive: false }
		);
	}
}
