/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One function in the middle, all its callers above, all that it calls below. */
import { calleesOf, callersOf } from "./analyse.js";
import { FlamePicture, ROW } from "./flame.js";
import { CanvasPainter, SMALL } from "./paint.js";
import { Glide, Pointer } from "./pointer.js";
import { FunctionTable } from "./table.js";
import { el } from "./util.js";

export class SandwichView {
	constructor(app) {
		this.app = app;
		this.callers = new FlamePicture();
		this.callees = new FlamePicture();
		this.callers.skip = 2;
		this.callees.skip = 1;
		this.callees.up = false;
		this.glide = new Glide();
		this.canvas = el("canvas", {
			tabindex: 0,
			role: "application",
			"aria-label": "Callers and callees",
			"aria-describedby": "keys-hint",
		});
		this.stage = el("div", { class: "stage" }, this.canvas);
		this.list = new FunctionTable(app, {
			compact: true,
			onPick: (f) => app.store.set({ function: f }),
		});
		this.node = el("div", { class: "split" }, this.list.node, this.stage);
		this.painter = new CanvasPainter(this.canvas);
		this.listen();
	}
	listen() {
		const { app } = this,
			target = (x, y) => {
				for (const p of [this.callees, this.callers]) {
					const v = p.tree ? p.hit(x, y) : -1;

					if (v >= 0) return [p, v];
				}
				return [y > this.middle ? this.callees : this.callers, -1];
			};

		new Pointer(this.canvas, {
			hover: (x, y, e) => {
				const [p, v] = x < 0 ? [this.callees, -1] : target(x, y);

				this.callers.hover = this.callees.hover = -1;
				p.hover = v;
				this.draw();
				app.tip(p.tree, v, e.clientX, e.clientY, app.shown.sum);
			},
			click: (x, y) => {
				const [p, v] = target(x, y);

				if (v >= 0) this.focusOn(p, v, true);
			},
			double: (x, y) => {
				const [p, v] = target(x, y);

				if (v >= 0) app.store.set({ function: p.tree.frame[v] });
			},
			menu: (x, y, e) => {
				const [p, v] = target(x, y);

				app.menu(p.tree, v, e.clientX, e.clientY);
			},
			pan: (dx, dy, x, y) => {
				const [p] = target(x, y);

				p.pan(-dx);
				p.scrollBy(p.up ? dy : -dy);
				this.draw();
			},
			wheel: (x, y, e) => {
				const [p] = target(x, y);

				if (!p.tree) return;
				if (e.ctrlKey || p.rows * ROW <= p.area.h)
					p.zoomAt(x, Math.exp(e.deltaY * 0.0022));
				else p.scrollBy(p.up ? -e.deltaY : e.deltaY);
				this.draw();
			},
		});
	}
	update() {
		const { app } = this,
			f = app.state.function || this.heaviest();

		this.list.update(f);
		if (
			this.version !== app.version ||
			this.fn !== f ||
			this.order !== app.state.order
		) {
			this.version = app.version;
			this.order = app.state.order;
			this.fn = f;
			for (const [p, tree] of [
				[this.callers, callersOf(app.tree, f)],
				[this.callees, calleesOf(app.tree, f)],
			]) {
				tree.setWidths(app.widths());
				tree.setOrder(app.state.order);
				p.setTree(tree);
				p.scroll = 0;
			}
			const top = this.callees.firstShown();

			this.callees.cursor = top;
			app.select(this.callees.tree, top);
		}
		this.draw();
	}
	heaviest() {
		const t = this.app.table();
		let best = 0;

		for (const f of t.rows) if (!best || t.self[f] > t.self[best]) best = f;
		return best;
	}
	draw() {
		const { painter: p, app } = this;

		p.fit();
		p.begin(app.background);
		this.paint(p, 0, true);
	}
	paint(p, top, marks) {
		const { app } = this,
			context = {
				colors: app.colors,
				matches: app.matches,
				shown: app.shown,
				accent: app.accent,
				marks,
			};
		const head = 22,
			half = Math.round((p.height - top) * 0.45);

		this.middle = top + half;
		if (!marks) context.describe = null;
		this.callers.area = { x: 0, y: top + head, w: p.width, h: half - head };
		this.callees.area = {
			x: 0,
			y: this.middle,
			w: p.width,
			h: p.height - this.middle - head,
		};
		for (const picture of [this.callers, this.callees])
			if (picture.tree && picture.tree.lay[0]) picture.paint(p, context);
		p.text(
			"▲ callers of " + app.model.frames.names[this.fn],
			8,
			top + 11,
			app.colors.faintText,
			SMALL
		);
		p.text("▼ what it calls", 8, p.height - 11, app.colors.faintText, SMALL);
	}
	exportPaint(p) {
		this.paint(p, p.top || 0, false);
	}
	active() {
		return this.callers.cursor >= 0 && this.inCallers ? this.callers : this.callees;
	}
	focusOn(p, v, zoom) {
		this.inCallers = p === this.callers;
		(this.inCallers ? this.callees : this.callers).cursor = -1;
		p.cursor = v;
		this.app.select(p.tree, v);
		if (zoom) this.glide.run(p, p.windowOf(v), () => this.draw());
		else p.reveal(v);
		this.draw();
	}
	key(e) {
		const p = this.active(),
			ways = {
				ArrowUp: p.up ? "child" : "parent",
				ArrowDown: p.up ? "parent" : "child",
				ArrowLeft: "previous",
				ArrowRight: "next",
			};

		if (this.list.key(e)) return true;
		if (ways[e.key]) {
			const v = p.step(ways[e.key]),
				top = p.firstShown();

			/* Over the function itself one gets from one half into the other. */
			if (v === p.cursor && e.key === "ArrowUp" && !p.up && this.callers.tree.n)
				this.focusOn(this.callers, this.callers.firstShown(), false);
			else if (
				p.up &&
				e.key === "ArrowDown" &&
				p.tree.depthOf(p.cursor) <= p.skip
			)
				this.focusOn(this.callees, this.callees.firstShown(), false);
			else this.focusOn(p, v < 0 ? top : v, false);
			return true;
		}
		if (e.key === "Enter" && p.cursor >= 0) {
			this.app.store.set({ function: p.tree.frame[p.cursor] });
			return true;
		}
		return false;
	}
	stepMatch(way) {
		this.list.stepMatch(way);
	}
}
