/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks in order of time, one lane for each thread or CPU. Drawn from the samples themselves: at
 * most one sample for each pixel is checked, so nothing has to be prepared.
 */
import { eachSample, groupLabel, NOWHERE, threadKey } from "./derive.js";
import { inkOn } from "./oklch.js";
import { CanvasPainter, SMALL } from "./paint.js";
import { Glide, Pointer } from "./pointer.js";
import { clamp, el, firstIndex, fmtPercent, fmtSeconds } from "./util.js";

const CHART_ROW = 17;
const AXIS = 24;
const LANES = 60; /* more are counted, not drawn */
const LANE_ROWS = 22; /* a click on the lane's head shows all */

export class ChartView {
	constructor(app) {
		this.app = app;
		this.canvas = el("canvas", {
			tabindex: 0,
			role: "application",
			"aria-label": "Stacks in order of time",
			"aria-describedby": "keys-hint",
		});
		this.stage = el("div", { class: "stage" }, this.canvas);
		this.node = el("div", { class: "single" }, this.stage);
		this.painter = new CanvasPainter(this.canvas);
		this.lanes = [];
		this.scroll = 0;
		this.cursor = null;
		this.glide = new Glide();
		this.listen();
	}
	listen() {
		new Pointer(this.canvas, {
			down: (x, y, e) => {
				this.selecting = e.shiftKey ? { x, lane: this.laneAt(y) } : null;
				this.selection = null;
			},
			end: () => this.selection && this.openSelection(),
			hover: (x, y, e) => {
				const hit = x < 0 ? null : this.hit(x, y);

				this.app.tip(
					this.tree,
					hit ? hit.v : -1,
					e.clientX,
					e.clientY,
					this.app.shown.sum,
					hit
						? [
								["at", fmtSeconds(hit.time, 0.001)],
								["in", hit.lane.label],
							]
						: []
				);
			},
			click: (x, y) => {
				const hit = this.hit(x, y);

				if (this.toggleLane(y) || !hit) return;
				this.cursor = hit;
				this.app.select(this.tree, hit.v);
				this.draw();
			},
			double: (x, y) => {
				const hit = this.hit(x, y);

				if (hit) this.zoomTo(hit.from, hit.to);
			},
			menu: (x, y, e) => {
				const hit = this.hit(x, y);

				this.app.menu(this.tree, hit ? hit.v : -1, e.clientX, e.clientY);
			},
			pan: (dx, dy, x) => {
				if (this.selecting) {
					const at = (px) => this.a + ((this.b - this.a) * px) / this.painter.width;

					this.selection = [at(this.selecting.x), at(x)].sort((p, q) => p - q);
					this.draw();
					return;
				}
				this.move(((this.b - this.a) * -dx) / this.painter.width);
				this.scrollBy(-dy);
			},
			wheel: (x, y, e) => {
				if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
					this.move(
						((e.deltaX + e.deltaY) * (this.b - this.a)) /
							this.painter.width
					);
				else if (e.ctrlKey || this.height() <= this.painter.height)
					this.zoomAt(x, Math.exp(e.deltaY * 0.0022));
				else this.scrollBy(e.deltaY);
			},
		});
	}
	laneAt(y) {
		return this.lanes.find((l) => y >= l.y && y < l.y + l.height);
	}
	/* The flame graph of the span, and of the thread or CPU in whose lane it was drawn. */
	openSelection() {
		const { lane } = this.selecting,
			{ app } = this,
			{ model, state } = app,
			filters = Object.assign({}, state.filters);

		if (lane && state.group === "cpu")
			filters.cpu = [String(model.samples.cpu[lane.samples[0]] - 1)];
		else if (lane) filters.thr = [threadKey(model.threads[model.samples.thread[lane.samples[0]]], "thr")];
		app.store.set({
			view: "flame",
			range: this.selection.map((t) => Number(Math.max(0, t).toFixed(6))),
			filters,
			zoom: [],
			window: null,
		});
		this.selection = null;
	}
	limits() {
		return this.app.state.range || [0, this.app.model.span || 1];
	}
	move(by) {
		const [low, high] = this.limits(),
			span = this.b - this.a;

		this.a = clamp(this.a + by, low, Math.max(low, high - span));
		this.b = this.a + span;
		this.draw();
	}
	zoomAt(x, factor) {
		const [low, high] = this.limits(),
			at = this.a + ((this.b - this.a) * x) / this.painter.width;
		const span = clamp((this.b - this.a) * factor, 1e-6, high - low);

		this.a = clamp(at - (span * x) / this.painter.width, low, high - span);
		this.b = this.a + span;
		this.draw();
	}
	zoomTo(from, to) {
		const extra = (to - from) * 0.05;

		this.glide.run(this, [from - extra, to + extra], () => this.draw());
	}
	height() {
		return AXIS + this.lanes.reduce((sum, l) => sum + l.height, 0);
	}
	scrollBy(dy) {
		this.scroll = clamp(
			this.scroll + dy,
			0,
			Math.max(0, this.height() - this.painter.height)
		);
		this.draw();
	}
	update() {
		const { app } = this,
			key = app.version + "/" + app.state.group;

		if (this.key_ !== key) {
			this.key_ = key;
			this.derived = app.chartTree();
			this.tree = this.derived.tree;
			this.depths = depthsOf(this.tree);
			this.makeLanes();
			[this.a, this.b] = this.limits();
			this.scroll = 0;
			this.cursor = null;
		}
		this.draw();
	}
	makeLanes() {
		const { model, state } = this.app,
			s = model.samples,
			byCpu = state.group === "cpu",
			lanes = new Map();
		const column = state.counts ? s.count : s.weight;

		eachSample(model, state.event, state.range, state.filters, (i) => {
			const node = this.nodeOf(i);

			if (node === NOWHERE) return;
			const key = byCpu ? s.cpu[i] : s.thread[i];
			let lane = lanes.get(key);

			if (!lane)
				lanes.set(
					key,
					(lane = {
						samples: [],
						weight: 0,
						rows: [],
						label: groupLabel(model, i, byCpu ? "cpu" : "tid"),
					})
				);
			lane.samples.push(i);
			lane.weight += column[i];
			lane.rows[this.depths[node]] = (lane.rows[this.depths[node]] || 0) + 1;
		});
		const all = [...lanes.values()].sort((x, y) =>
			byCpu
				? x.label.localeCompare(y.label, "en", { numeric: true })
				: y.weight - x.weight
		);

		this.lanes = all.slice(0, LANES);
		this.hidden = all.slice(LANES);
		for (const lane of this.lanes) {
			lane.most = lane.rows.length - 1;
			lane.gap = usualGap(lane.samples, s.time, model.events[state.event].frequency);
			this.setRows(lane, rowsFor(lane.rows, lane.samples.length));
		}
	}
	setRows(lane, rows) {
		lane.depth = rows;
		lane.height = (rows + 1) * CHART_ROW + 10;
	}
	/* True when that was the head of a lane. */
	toggleLane(y) {
		const lane = this.lanes.find((l) => y >= l.y && y < l.y + CHART_ROW);

		if (!lane) return false;
		this.setRows(
			lane,
			lane.depth < lane.most ? lane.most : rowsFor(lane.rows, lane.samples.length)
		);
		this.draw();
		return true;
	}
	nodeOf(i) {
		const stack = this.app.model.samples.stack[i];

		return this.derived.leaf ? this.derived.leaf[stack] : stack;
	}
	/* How long a sample stands: to the next one, unless the thread was away in between. */
	spanOf(lane, at) {
		const { time } = this.app.model.samples,
			t = time[lane.samples[at]];
		const next = at + 1 < lane.samples.length ? time[lane.samples[at + 1]] : Infinity;

		return [t, next - t <= lane.gap * 2.5 ? next : t + lane.gap];
	}
	draw() {
		const p = this.painter;

		p.fit();
		p.begin(this.app.background);
		const begin = performance.now();

		this.paint(p, 0);
		if (this.selection) {
			const [x, x2] = this.selection.map((t) => ((t - this.a) / (this.b - this.a)) * p.width);

			p.frame(x, AXIS, x2 - x, p.height - AXIS, this.app.accent, 2);
		}
		this.app.timing.draw = performance.now() - begin;
	}
	paint(p, top) {
		const { colors, shown } = this.app;
		let y = top + AXIS - this.scroll;

		p.clip(0, top + AXIS, p.width, p.height - top - AXIS);
		for (const lane of this.lanes) {
			lane.y = y;
			if (y + lane.height > top && y < p.height)
				this.paintLane(p, lane, y, shown, colors);
			y += lane.height;
		}
		if (this.hidden.length)
			p.text(
				this.hidden.length +
					" more lanes with less than these are not drawn",
				8,
				y + 10,
				colors.faintText,
				SMALL
			);
		p.unclip();
		this.paintAxis(p, top, colors);
	}
	paintAxis(p, top, colors) {
		const span = this.b - this.a,
			step = niceStep(span / (p.width / 110)),
			k = p.width / span;

		for (let t = Math.ceil(this.a / step) * step; t <= this.b; t += step) {
			const x = (t - this.a) * k;

			p.rect(Math.round(x), top + AXIS - 5, 1, 5, colors.faintText);
			p.text(fmtSeconds(t, step * 20), x + 4, top + 11, colors.faintText, SMALL);
		}
	}
	paintLane(p, lane, y, shown, colors) {
		const share = shown.sum ? lane.weight / shown.sum : 0,
			runs = [];
		const { time } = this.app.model.samples,
			list = lane.samples,
			k = p.width / (this.b - this.a);

		p.rect(0, y, p.width, CHART_ROW, colors.faint);
		p.text(
			lane.label,
			8,
			y + CHART_ROW / 2,
			colors.dark ? "#d5d9e0" : "#30343b",
			SMALL
		);
		p.text(
			(lane.most > lane.depth
				? "+ " + (lane.most - lane.depth) + " rows   "
				: "") + fmtPercent(share),
			p.width - 8,
			y + CHART_ROW / 2,
			colors.faintText,
			SMALL,
			"right"
		);
		let i = firstIndex(0, list.length, (j) => time[list[j]] >= this.a - lane.gap * 2.5);

		while (i < list.length && time[list[i]] < this.b) {
			const [from, to] = this.spanOf(lane, i),
				x0 = (from - this.a) * k;
			const pixel = Math.floor(x0),
				edge = this.a + (pixel + 1) / k;

			this.addToRuns(
				p,
				runs,
				this.pathOf(list[i]),
				x0,
				Math.max((to - this.a) * k, x0 + 0.5),
				y,
				lane.depth
			);
			i =
				to >= edge
					? i + 1
					: firstIndex(
							i + 1,
							list.length,
							(j) => time[list[j]] >= edge
						);
		}
		for (let d = 0; d < runs.length; d++) this.flush(p, runs[d], d, y);
	}
	pathOf(i) {
		const out = [],
			{ tree } = this;

		for (let v = this.nodeOf(i); v; v = tree.parent[v]) out.push(v);
		return out.reverse();
	}
	/* A box continues for as long as neighbours have the same node in its row. */
	addToRuns(p, runs, path, x0, x1, y, most) {
		const rows = Math.min(Math.max(path.length, runs.length), most);

		for (let d = 0; d < rows; d++) {
			const run = runs[d],
				v = path[d] || 0;

			if (run && run.v === v && x0 - run.x1 < 1.01) {
				run.x1 = x1;
				continue;
			}
			if (run) this.flush(p, run, d, y);
			runs[d] = { v, x0, x1 };
		}
	}
	flush(p, run, depth, y) {
		const { colors, matches, shown } = this.app,
			{ v } = run,
			top = y + (depth + 1) * CHART_ROW + 2;

		if (!v || run.x1 < 0 || run.x0 > p.width || top > p.height || top + CHART_ROW < 0)
			return;
		const f = this.tree.frame[v],
			left = Math.max(0, Math.round(run.x0)),
			right = Math.min(p.width, Math.round(run.x1));
		const match = matches && matches[f],
			w = Math.max(1, right - left - (right - left > 3 ? 1 : 0));

		const fill = matches
			? match
				? colors.match
				: colors.faint
			: colors.mode === "diff"
				? colors.ofFrame(f)
				: colors.ofNode(this.tree, v, shown);

		p.rect(
			left,
			top,
			w,
			CHART_ROW - 1,
			fill
		);
		if (this.cursor && this.cursor.v === v)
			p.frame(
				left + 1,
				top + 1,
				Math.max(1, w - 2),
				CHART_ROW - 3,
				this.app.accent,
				2
			);
		const room = Math.floor((w - 8) / p.charWidth),
			name = this.app.model.frames.names[f];

		if (room >= Math.min(name.length, 6))
			p.text(
				name.length <= room ? name : name.slice(0, room - 1) + "…",
				left + 4,
				top + CHART_ROW / 2,
				inkOn(fill, matches && !match ? colors.faintText : colors.text)
			);
	}
	hit(x, y) {
		const lane = this.lanes.find((l) => y >= l.y && y < l.y + l.height),
			{ time } = this.app.model.samples;

		if (!lane || y < AXIS) return null;
		const t = this.a + ((this.b - this.a) * x) / this.painter.width,
			row = Math.floor((y - lane.y - 2) / CHART_ROW) - 1;
		const i = firstIndex(0, lane.samples.length, (j) => time[lane.samples[j]] > t) - 1;

		if (i < 0 || row < 0) return null;
		const [from, to] = this.spanOf(lane, i),
			v = this.pathOf(lane.samples[i])[row];

		return t <= Math.max(to, from + (this.b - this.a) / this.painter.width) && v
			? Object.assign(
					{ v, lane, row, i, time: time[lane.samples[i]] },
					this.extent(lane, i, row, v)
				)
			: null;
	}
	extent(lane, i, row, v) {
		let first = i,
			last = i;
		const same = (j) => this.pathOf(lane.samples[j])[row] === v;

		while (
			first > 0 &&
			this.spanOf(lane, first - 1)[1] >=
				this.app.model.samples.time[lane.samples[first]] &&
			same(first - 1)
		)
			first--;
		while (
			last + 1 < lane.samples.length &&
			this.spanOf(lane, last)[1] >=
				this.app.model.samples.time[lane.samples[last + 1]] &&
			same(last + 1)
		)
			last++;
		return { from: this.spanOf(lane, first)[0], to: this.spanOf(lane, last)[1] };
	}
	exportPaint(p) {
		this.paint(p, p.top || 0);
	}
	key(e) {
		const step = (this.b - this.a) / 5;

		switch (e.key) {
			case "ArrowLeft":
			case "a":
				this.move(-step);
				return true;
			case "ArrowRight":
			case "d":
				this.move(step);
				return true;
			case "ArrowUp":
				this.scrollBy(-3 * CHART_ROW);
				return true;
			case "ArrowDown":
				this.scrollBy(3 * CHART_ROW);
				return true;
			case "PageUp":
				this.scrollBy(-this.painter.height * 0.8);
				return true;
			case "PageDown":
				this.scrollBy(this.painter.height * 0.8);
				return true;
			case "+":
			case "=":
			case "w":
				this.zoomAt(this.painter.width / 2, 0.7);
				return true;
			case "-":
			case "s":
				this.zoomAt(this.painter.width / 2, 1 / 0.7);
				return true;
			case "Home":
				[this.a, this.b] = this.limits();
				this.draw();
				return true;
		}
		return false;
	}
	/* The next sample, in any lane, that has a match in its stack. */
	stepMatch(way) {
		const { matches, model } = this.app,
			s = model.samples;

		if (!matches) return;
		const has = (i) => this.pathOf(i).some((v) => matches[this.tree.frame[v]]);
		const from = this.cursor ? this.cursor.time : (this.a + this.b) / 2;
		let best = null;

		for (const lane of this.lanes)
			for (const i of lane.samples) {
				const ahead = (s.time[i] - from) * way;

				if (ahead > 1e-9 && (!best || ahead < best.ahead) && has(i))
					best = { ahead, i, lane };
			}
		if (!best) return;
		const v = this.pathOf(best.i).find((u) => matches[this.tree.frame[u]]);

		this.cursor = { v, time: s.time[best.i], lane: best.lane };
		if (s.time[best.i] < this.a || s.time[best.i] > this.b)
			this.move(s.time[best.i] - (this.a + this.b) / 2);
		this.app.select(this.tree, v);
		this.draw();
	}
}

function depthsOf(tree) {
	const out = new Uint16Array(tree.n);

	for (let v = 1; v < tree.n; v++) out[v] = Math.min(65535, out[tree.parent[v]] + 1);
	return out;
}

/* The median distance of neighbours, but no more than the rate asked for says. */
function usualGap(samples, time, frequency) {
	const gaps = [],
		step = Math.max(1, Math.floor(samples.length / 2000));

	for (let j = 1; j < samples.length; j += step)
		gaps.push(time[samples[j]] - time[samples[j - 1]]);
	gaps.sort((x, y) => x - y);
	const most = frequency ? 1.2 / frequency : Infinity;

	return Math.max(1e-6, Math.min(most, gaps.length ? gaps[gaps.length >> 1] : 0.001));
}

/* Such that 98 of 100 stacks are seen whole: a few deep ones must not push all else away. */
function rowsFor(counts, samples) {
	let seen = 0,
		d = 0;

	for (; d < counts.length - 1 && seen < samples * 0.98; d++) seen += counts[d] || 0;
	return clamp(d, 1, LANE_ROWS);
}

/* 1, 2 or 5 times a power of ten, at least @least. */
export function niceStep(least) {
	const power = 10 ** Math.floor(Math.log10(least || 1)),
		x = least / power;

	return power * (x <= 1 ? 1 : x <= 2 ? 2 : x <= 5 ? 5 : 10);
}
