/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call graph: functions as boxes, calls as arcs, in layers from callers to callees. What is
 * left out is counted and said.
 */
import { callEdges, trunkOf } from "./analyse.js";
import { BOX, isIndirect, layoutGraph, lowerOf, thinEdges, upperOf } from "./layout.js";
import { inkOn } from "./oklch.js";
import { CanvasPainter, FONT, SMALL } from "./paint.js";
import { Pointer } from "./pointer.js";
import { clamp, el, fmtPercent } from "./util.js";

/* As many as can be read when all of them are visible; at least the last of these. */
const GRAPH_NODES = [48, 36, 26, 18, 12];
const READABLE = 0.62;
const NODE_SHARE = 0.005;
const EDGE_SHARE = 0.002;
const ARC_LABEL = 0.01; /* lighter calls have no number beside them */

/* --- view ---------------------------------------------------------------------------------- */

export class GraphView {
	constructor(app) {
		this.app = app;
		this.canvas = el("canvas", {
			tabindex: 0,
			role: "application",
			"aria-label": "Call graph",
			"aria-describedby": "keys-hint",
		});
		this.note = el("div", { class: "graph-note" });
		this.stage = el("div", { class: "stage" }, this.canvas, this.note);
		this.node = el("div", { class: "single" }, this.stage);
		this.painter = new CanvasPainter(this.canvas);
		this.cursor = -1;
		this.listen();
	}
	listen() {
		new Pointer(this.canvas, {
			hover: (x, y, e) => {
				const i = x < 0 ? -1 : this.hit(x, y);

				if (i !== this.hoverAt) {
					this.hoverAt = i;
					this.draw();
				}
				if (i >= 0)
					this.app.tipOfFrame(
						this.graph.shown[i],
						e.clientX,
						e.clientY
					);
				else this.app.hideTip();
			},
			click: (x, y) => {
				const i = this.hit(x, y);

				if (i >= 0) this.focusOn(i);
			},
			double: (x, y) => {
				const i = this.hit(x, y);

				if (i >= 0)
					this.app.store.set({
						view: "sandwich",
						function: this.graph.shown[i],
					});
			},
			menu: (x, y, e) => {
				const i = this.hit(x, y);

				if (i >= 0)
					this.app.menuOfFrame(
						this.graph.shown[i],
						e.clientX,
						e.clientY
					);
			},
			pan: (dx, dy) => {
				this.ox += dx;
				this.oy += dy;
				this.draw();
			},
			wheel: (x, y, e) => this.zoomAt(x, y, Math.exp(-e.deltaY * 0.0015)),
		});
	}
	zoomAt(x, y, factor) {
		const scale = clamp(this.scale * factor, 0.1, 3),
			f = scale / this.scale;

		this.ox = x - (x - this.ox) * f;
		this.oy = y - (y - this.oy) * f;
		this.scale = scale;
		this.draw();
	}
	update() {
		const { app } = this;

		this.painter.fit();
		if (this.version !== app.version) {
			this.version = app.version;
			for (const most of GRAPH_NODES) {
				this.build(most);
				this.fitAll();
				if (this.scale >= READABLE) break;
			}
		}
		this.draw();
	}
	build(most) {
		const { app } = this,
			{ sum } = app.shown;

		const trunk = trunkOf(app.tree);

		this.graph = callEdges(app.tree, app.table(), most, sum * NODE_SHARE, trunk);
		const best = new Map();

		for (const e of this.graph.edges)
			if (!best.has(e.to) || best.get(e.to).weight < e.weight) best.set(e.to, e);
		const kept = this.graph.edges.filter(
			(e) => e.weight >= sum * EDGE_SHARE || best.get(e.to) === e
		);

		this.cut = this.graph.edges.length - kept.length;
		this.graph.edges = thinEdges(this.graph.shown.length, kept, isIndirect);
		this.degree = new Uint32Array(this.graph.shown.length);
		for (const e of this.graph.edges) {
			this.degree[e.from]++;
			this.degree[e.to]++;
		}
		this.bridged = kept.length - this.graph.edges.length;
		this.painter.begin(app.background);
		this.nodes = this.graph.shown.map((f, id) => {
			const name = shorten(app.model.frames.names[f], BOX.most);

			return {
				id,
				f,
				name,
				w: Math.max(
					BOX.least,
					name.length * this.painter.charWidth + 2 * BOX.pad
				),
			};
		});
		layoutGraph(this.graph.edges, this.nodes, sum);
		const { hidden } = this.graph;

		this.note.textContent =
			this.graph.shown.length +
			" functions; " +
			(hidden.functions
				? hidden.functions +
					" smaller ones with " +
					fmtPercent(sum ? hidden.self / sum : 0) +
					" of self time are hidden, dashed arcs lead through them"
				: "none is hidden") +
			(trunk.size
				? "; begins where paths part, below " +
					[...trunk]
						.slice(-2)
						.map((f) => app.model.frames.names[f])
						.join(" → ")
				: "") +
			(this.cut ? "; " + this.cut + " thin arcs left out" : "") +
			(this.bridged
				? "; " + this.bridged + " dashed ones beside ways that are drawn"
				: "");
	}
	fitAll() {
		const real = this.nodes.filter((n) => !n.point),
			p = this.painter;

		if (!real.length) {
			this.scale = 1;
			this.ox = this.oy = 0;
			return;
		}
		const left = Math.min(...real.map((n) => n.x - n.w / 2)),
			right = Math.max(...real.map((n) => n.x + n.w / 2));
		const bottom = Math.max(...real.map((n) => n.y)) + BOX.h;

		this.scale = clamp(
			Math.min((p.width - 40) / (right - left), (p.height - 60) / bottom),
			0.1,
			1.1
		);
		this.ox = p.width / 2 - ((left + right) / 2) * this.scale;
		this.oy = Math.max(24, (p.height - 30 - bottom * this.scale) / 2);
	}
	place(n) {
		return [this.ox + n.x * this.scale, this.oy + n.y * this.scale];
	}
	draw() {
		this.painter.fit();
		this.painter.begin(this.app.background);
		if (this.nodes) this.paint(this.painter);
	}
	paint(p) {
		const { app } = this,
			{ sum } = app.shown,
			near = this.hoverAt >= 0 ? this.hoverAt : this.cursor;
		const edges = this.graph.edges.slice().sort((x, y) => x.weight - y.weight);

		for (const e of edges)
			this.paintEdge(p, e, sum, near >= 0 && (e.from === near || e.to === near));
		for (const e of edges) this.paintShare(p, e, sum);
		for (const n of this.nodes) if (!n.point) this.paintNode(p, n, sum);
	}
	paintEdge(p, e, sum, near) {
		const { colors, accent } = this.app,
			s = this.scale,
			width = Math.max(0.7, Math.sqrt(e.weight / (sum || 1)) * 7 * s);
		const stroke = near ? accent : colors.dark ? "#545b68" : "#b4bac4",
			dashed = isIndirect(e);

		if (e.from === e.to) {
			const [x, y] = this.place(this.nodes[e.from]),
				r = (this.nodes[e.from].w / 2) * s;

			p.curve(
				[
					x + r,
					y + 10 * s,
					x + r + 34 * s,
					y,
					x + r + 34 * s,
					y + BOX.h * s,
					x + r,
					y + 30 * s,
				],
				stroke,
				width,
				dashed
			);
			return;
		}
		const chain = [
			e.from,
			...(e.back ? e.points.slice().reverse() : e.points),
			e.to,
		].map((i) => this.nodes[i]);

		for (let i = 0; i + 1 < chain.length; i++)
			this.paintLink(p, chain[i], chain[i + 1], stroke, width, dashed, e.back);
		this.paintArrow(p, chain[chain.length - 1], stroke, width, e.back);
	}
	/* Beside the end at which fewer arcs meet: there it is plain to which one it belongs. */
	paintShare(p, e, sum) {
		const share = sum ? e.weight / sum : 0,
			s = this.scale;

		if (e.from === e.to || share < ARC_LABEL || s < 0.6) return;
		const chain = [upperOf(e), ...e.points, lowerOf(e)].map((i) => this.nodes[i]),
			first = this.degree[upperOf(e)] < this.degree[lowerOf(e)],
			at = first ? 0 : chain.length - 2,
			[ax, ay] = this.place(chain[at]),
			[bx, by] = this.place(chain[at + 1]);
		const t = first ? 0.25 : 0.72,
			text = fmtPercent(share),
			x = ax + (bx - ax) * t * t * (3 - 2 * t) + 5,
			y = ay + BOX.h * s + (by - ay - BOX.h * s) * t;

		p.rect(x - 2, y - 6, p.measure(text, SMALL) + 4, 12, this.app.background);
		p.text(text, x, y, this.app.colors.faintText, SMALL);
	}
	paintLink(p, a, b, stroke, width, dashed, back) {
		const s = this.scale,
			[ax, ay] = this.place(a),
			[bx, by] = this.place(b),
			bend = (BOX.gapY / 2) * s * (back ? -1 : 1);
		const y0 = ay + (back ? 0 : BOX.h * s),
			y1 = by + (back ? BOX.h * s : 0);

		p.curve([ax, y0, ax, y0 + bend, bx, y1 - bend, bx, y1], stroke, width, dashed);
		if (b.point) p.curve([bx, by, bx, by + BOX.h * s], stroke, width, dashed);
	}
	paintArrow(p, node, stroke, width, back) {
		const [x, y] = this.place(node),
			s = (3 + width) * Math.min(1, this.scale + 0.2),
			tip = back ? y + BOX.h * this.scale : y,
			way = back ? 1 : -1;

		p.polygon([x, tip, x - s, tip + way * s * 1.6, x + s, tip + way * s * 1.6], stroke);
	}
	paintNode(p, n, sum) {
		const { app } = this,
			{ colors } = app,
			[x, y] = this.place(n),
			s = this.scale,
			t = app.table();
		const w = n.w * s,
			h = BOX.h * s,
			share = sum ? t.self[n.f] / sum : 0;
		const fill = app.matches
			? app.matches[n.f]
				? colors.match
				: colors.faint
			: colors.mode === "diff" && t.totalB
				? colors.ofDifference(
						app.tree,
						t.total[n.f],
						t.totalB[n.f],
						app.shown
					)
				: colors.mode === "kind" ||
					  colors.mode === "module" ||
					  colors.mode === "name"
					? colors.ofFrame(n.f)
					: colors.ramp(colors.selfRamp, Math.sqrt(share));

		p.round(
			x - w / 2,
			y,
			w,
			h,
			5 * s,
			fill,
			n.id === this.cursor ? app.accent : colors.dark ? "#0008" : "#0003"
		);
		if (n.id === this.cursor)
			p.frame(x - w / 2 - 1, y - 1, w + 2, h + 2, app.accent, 2);
		if (s < 0.4) return;
		const text = shorten(n.name, Math.floor((w - 8) / p.charWidth));

		p.text(text, x, y + h * 0.32, inkOn(fill, colors.text), FONT, "center");
		const shares =
			"self " +
			fmtPercent(share) +
			"  total " +
			fmtPercent(sum ? t.total[n.f] / sum : 0);

		if (h > 26 && p.measure(shares, SMALL) < w - 4)
			p.text(shares, x, y + h * 0.72, inkOn(fill, colors.text), SMALL, "center");
	}
	hit(x, y) {
		const s = this.scale;

		for (const n of this.nodes || []) {
			const [nx, ny] = this.place(n);

			if (
				!n.point &&
				Math.abs(x - nx) <= (n.w * s) / 2 &&
				y >= ny &&
				y <= ny + BOX.h * s
			)
				return n.id;
		}
		return -1;
	}
	exportPaint(p) {
		this.paint(p);
	}
	focusOn(i) {
		const n = this.nodes[i],
			p = this.painter;

		this.cursor = i;
		const [x, y] = this.place(n);

		if (x < 60 || x > p.width - 60) this.ox += p.width / 2 - x;
		if (y < 10 || y > p.height - 70) this.oy += p.height / 2 - y;
		this.app.selectFrame(n.f);
		this.draw();
	}
	key(e) {
		const real = this.graph.shown.length,
			{ cursor } = this;

		switch (e.key) {
			case "ArrowDown":
				this.follow((x) => x.from === cursor && x.to !== cursor, "to");
				return true;
			case "ArrowUp":
				this.follow((x) => x.to === cursor && x.from !== cursor, "from");
				return true;
			case "ArrowLeft":
			case "ArrowRight":
				this.sideways(e.key === "ArrowRight" ? 1 : -1);
				return true;
			case "+":
			case "=":
				this.zoomAt(this.painter.width / 2, this.painter.height / 2, 1.25);
				return true;
			case "-":
				this.zoomAt(this.painter.width / 2, this.painter.height / 2, 0.8);
				return true;
			case "Home":
				this.fitAll();
				this.draw();
				return true;
			case "Enter":
				if (cursor >= 0 && cursor < real)
					this.app.store.set({
						view: "sandwich",
						function: this.graph.shown[cursor],
					});
				return true;
		}
		return false;
	}
	follow(test, end) {
		const list = this.graph.edges.filter(test).sort((x, y) => y.weight - x.weight);

		if (this.cursor < 0 && this.graph.shown.length) this.focusOn(0);
		else if (list.length) this.focusOn(list[0][end]);
	}
	sideways(way) {
		const me = this.nodes[this.cursor];

		if (!me) return;
		const row = this.nodes
				.filter((n) => !n.point && n.layer === me.layer)
				.sort((x, y) => x.x - y.x),
			next = row[row.indexOf(me) + way];

		if (next) this.focusOn(next.id);
	}
	stepMatch(way) {
		const { matches } = this.app,
			list = this.graph.shown
				.map((f, i) => [f, i])
				.filter(([f]) => matches && matches[f])
				.map(([, i]) => i);

		if (list.length)
			this.focusOn(
				list[(list.indexOf(this.cursor) + way + list.length) % list.length]
			);
	}
}

export function shorten(text, most) {
	return text.length <= most ? text : most < 2 ? "" : text.slice(0, most - 1) + "…";
}
