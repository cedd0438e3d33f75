/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The subsecond-offset heat map: a column is a stretch of time, a row an offset into it, a cell as
 * dark as the samples in it are many. Dragging from cell to cell selects the time between them;
 * with shift, the baseline of a comparison.
 */
import { niceStep } from "./chart.js";
import { eachSample } from "./derive.js";
import { CanvasPainter, SMALL } from "./paint.js";
import { Pointer } from "./pointer.js";
import { clamp, el, fmtCount, fmtNs, fmtSeconds } from "./util.js";

const HEAT_ROWS = 40; /* at most */
const HEAT_ROWS_LEAST = 8;
const HEAT_STEPS = [
	0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600,
	3600,
];
const RANGE_WORDS = { A: "A: shown", B: "B: baseline" };
const HEAT_LEFT = 54;
const HEAT_BOTTOM = 16;

export class HeatMap {
	constructor(app) {
		this.app = app;
		this.canvas = el("canvas", {
			tabindex: 0,
			role: "application",
			"aria-describedby": "heat-hint",
			"aria-label":
				"Heat map of samples over time: arrows move, Enter marks the ends of a range, shift Enter those of the baseline, Escape clears",
		});
		this.node = el("div", { class: "heat-stage" }, this.canvas);
		this.painter = new CanvasPainter(this.canvas);
		this.anchor = null;
		this.cell = [0, 0];
		this.rows = HEAT_ROWS;
		this.dragging = null;
		this.listen();
		this.canvas.addEventListener("focus", () => this.draw());
		this.canvas.addEventListener("blur", () => this.draw());
	}
	listen() {
		new Pointer(this.canvas, {
			keepStart: true,
			down: (x, y, e) => {
				this.byKey = false;
				this.dragging = {
					from: this.cellAt(x, y),
					to: null,
					base: e.shiftKey,
				};
			},
			hover: (x, y, e) => this.hoverAt(x, y, e),
			pan: (dx, dy, x, y) => {
				this.dragging.to = this.cellAt(x, y);
				this.draw();
			},
			end: (x, y) => {
				const d = this.dragging;

				this.dragging = null;
				this.anchor = null;
				this.choose(d.from, this.cellAt(x, y), d.base);
			},
			click: (x, y, e) => {
				this.dragging = null;
				this.cell = this.cellAt(x, y);
				this.mark(e.shiftKey);
			},
			wheel: () => {},
		});
	}
	/* The first mark of a range, or its other end. */
	mark(base) {
		if (this.anchor && this.anchor.base === base) {
			const { cell } = this.anchor;

			this.anchor = null;
			this.choose(cell, this.cell, base);
			return;
		}
		this.anchor = { cell: this.cell, base };
		this.app.say(
			"range begins at " +
				fmtSeconds(this.timeOf(this.cell), this.step / this.rows)
		);
		this.draw();
	}
	timeOf([column, row]) {
		return (column + row / this.rows) * this.step;
	}
	choose(c1, c2, base) {
		const t1 = this.timeOf(c1),
			t2 = this.timeOf(c2),
			end = Math.max(t1, t2) + this.step / this.rows;
		const range = [Math.min(t1, t2), end].map((t) => Number(t.toFixed(6))),
			{ state } = this.app;

		if (base)
			this.app.store.set({
				baseline: range,
				baselineEvent: null,
				ratioEvent: null,
				color: "diff",
			});
		else this.app.store.set({ range, zoom: [], window: null });
		this.app.say(
			(base ? "baseline " : "range ") +
				fmtSeconds(range[0]) +
				" to " +
				fmtSeconds(range[1]) +
				(state.baseline && !base ? ", compared with the baseline" : "")
		);
	}
	cellAt(x, y) {
		const column = clamp(
			Math.floor((x - HEAT_LEFT) / this.columnWidth),
			0,
			this.columns - 1
		);
		const row = clamp(this.rows - 1 - Math.floor(y / this.rowHeight), 0, this.rows - 1);

		return [column, row];
	}
	hoverAt(x, y, e) {
		if (
			x < HEAT_LEFT ||
			y > this.rows * this.rowHeight ||
			x > HEAT_LEFT + this.columns * this.columnWidth
		) {
			this.app.hideTip();
			return;
		}
		const cell = this.cellAt(x, y),
			n = this.counts[cell[0] * this.rows + cell[1]];
		const lines = [
			["from", fmtSeconds(this.timeOf(cell), this.step / this.rows)],
			["samples", fmtCount(n)],
		];

		if (this.matched)
			lines.push([
				"matching",
				fmtCount(this.matched[cell[0] * this.rows + cell[1]]),
			]);
		this.app.tipText(
			"cell of " + fmtNs((this.step / this.rows) * 1e9),
			lines,
			e.clientX,
			e.clientY
		);
	}
	chooseStep(width) {
		const { span } = this.app.model,
			wanted = this.app.state.cell,
			most = Math.floor((width - HEAT_LEFT) / 4);

		if (wanted && span / wanted <= most * 2) return wanted;
		/* A second, as people expect, unless that leaves few columns. */
		return (
			HEAT_STEPS.find((s) => (s >= 1 || span / s <= 80) && span / s <= most) ||
			HEAT_STEPS[HEAT_STEPS.length - 1]
		);
	}
	update() {
		const { model, state, matches } = this.app;

		if (!model.hasTime || !state.heat) return;
		this.painter.fit();
		this.step = this.chooseStep(this.painter.width);
		this.rows = this.chooseRows();
		this.columns = Math.max(1, Math.ceil((model.span + 1e-9) / this.step));
		this.countSamples(matches);
		this.draw();
	}
	/* A row is no shorter than the time between samples: else there would be stripes of nothing. */
	chooseRows() {
		const { model, state } = this.app,
			ev = model.events[state.event],
			cpus = new Set();

		for (const cpu of model.samples.cpu) cpus.add(cpu);
		const rate =
			ev.frequency || ev.samples / Math.max(1, cpus.size) / (model.span || 1);

		return clamp(Math.floor(this.step * rate), HEAT_ROWS_LEAST, HEAT_ROWS);
	}
	countSamples(matches) {
		const { model, state } = this.app,
			s = model.samples,
			cells = this.columns * this.rows;
		const has = matches && stacksWith(model, matches),
			per = this.rows / this.step;

		const { frequency } = model.events[state.event],
			wide = frequency ? per / frequency : 0;

		this.counts = new Uint32Array(cells);
		this.matched = has ? new Uint32Array(cells) : null;
		this.shares = new Float32Array(cells);
		this.matchedShares = has ? new Float32Array(cells) : null;
		eachSample(model, state.event, null, state.filters, (i) => {
			const end = Math.min(cells - 1e-6, s.time[i] * per + 1e-9),
				match = has && has[s.stack[i]];

			this.counts[Math.floor(end)]++;
			spread(this.shares, end, wide);
			if (!match) return;
			this.matched[Math.floor(end)]++;
			spread(this.matchedShares, end, wide);
		});
		/* A few outliers must not make all the rest pale. */
		const full = this.shares.filter((n) => n).sort();

		this.most = full.length ? full[Math.floor(full.length * 0.995)] : 1;
	}
	draw() {
		const { app, painter: p } = this,
			{ colors } = app;

		if (!app.model.hasTime || !app.state.heat || !this.counts) return;
		p.fit();
		this.rowHeight = (p.height - HEAT_BOTTOM) / this.rows;
		this.columnWidth = Math.max(1, (p.width - HEAT_LEFT - 4) / this.columns);
		p.begin(app.background);
		this.paintCells(p, colors);
		this.paintAxes(p, colors);
		const d = this.dragging,
			{ state } = app;

		this.paintRange(p, state.range, "A", app.accent);
		this.paintRange(p, state.baseline, "B", app.accentB);
		if (d && d.to)
			this.paintRange(
				p,
				this.between(d.from, d.to),
				d.base ? "B" : "A",
				d.base ? app.accentB : app.accent
			);
		if (this.anchor)
			this.paintCell(
				p,
				this.anchor.cell,
				this.anchor.base ? app.accentB : app.accent
			);
		if (this.byKey && document.activeElement === this.canvas)
			this.paintCell(p, this.cell, colors.dark ? "#fff" : "#000");
	}
	between(c1, c2) {
		const a = this.timeOf(c1),
			b = this.timeOf(c2);

		return [Math.min(a, b), Math.max(a, b) + this.step / this.rows];
	}
	paintCells(p, colors) {
		const gap = this.columnWidth > 5 ? 1 : 0;
		const edge = (c) => Math.round(HEAT_LEFT + c * this.columnWidth);

		for (let c = 0; c < this.columns; c++)
			for (let r = 0; r < this.rows; r++) {
				const fill = this.cellFill(colors, c * this.rows + r);

				if (!fill) continue;
				const y = Math.round((this.rows - 1 - r) * this.rowHeight);
				const high = Math.round((this.rows - r) * this.rowHeight) - y;

				p.rect(
					edge(c),
					y,
					Math.max(1, edge(c + 1) - edge(c) - gap),
					this.rowHeight > 4 ? high - 1 : high,
					fill
				);
			}
	}
	/* While there is a search, how much of it; otherwise how many samples. "" for none. */
	cellFill(colors, cell) {
		const n = this.shares[cell],
			m = this.matched ? this.matchedShares[cell] : 0;

		if (m)
			return colors.ramp(
				colors.matchRamp,
				0.35 + 0.65 * Math.min(1, m / this.most)
			);
		if (!n) return "";
		if (this.matched) return colors.faint;
		return colors.ramp(colors.heat, 0.12 + 0.88 * Math.min(1, n / this.most));
	}
	paintAxes(p, colors) {
		const bottom = this.rows * this.rowHeight,
			every = niceStep(Math.max(this.step, (70 / this.columnWidth) * this.step));

		p.text("0", HEAT_LEFT - 6, bottom - 6, colors.faintText, SMALL, "right");
		p.text(fmtNs(this.step * 1e9), HEAT_LEFT - 6, 7, colors.faintText, SMALL, "right");
		for (let t = 0; t <= this.app.model.span; t += every)
			p.text(
				fmtSeconds(t, every * 20),
				HEAT_LEFT + (t / this.step) * this.columnWidth,
				bottom + 9,
				colors.faintText,
				SMALL
			);
	}
	paintCell(p, [c, r], stroke) {
		p.frame(
			HEAT_LEFT + c * this.columnWidth - 1,
			(this.rows - 1 - r) * this.rowHeight - 1,
			this.columnWidth + 2,
			this.rowHeight + 2,
			stroke,
			2
		);
	}
	/* Outline of the cells of a range: part of a column, whole columns, part of a column. */
	paintRange(p, range, letter, color) {
		if (!range) return;
		const first = range[0] / this.step,
			last = range[1] / this.step,
			bottom = this.rows * this.rowHeight;

		for (let c = Math.floor(first + 1e-9); c < last - 1e-9; c++) {
			const low = Math.max(0, first - c),
				high = Math.min(1, last - c),
				x = HEAT_LEFT + c * this.columnWidth;
			const y = bottom * (1 - high),
				h = bottom * (high - low);

			p.rect(x, y, this.columnWidth, 2, color);
			p.rect(x, y + h - 2, this.columnWidth, 2, color);
			if (c < first + 1) p.rect(x, y, 2, h, color);
			if (c >= last - 1 - 1e-9) p.rect(x + this.columnWidth - 2, y, 2, h, color);
		}
		const x = HEAT_LEFT + Math.floor(first + 1e-9) * this.columnWidth;

		const words = RANGE_WORDS[letter],
			wide = p.measure(words, SMALL) + 10;

		p.round(Math.min(x + 3, p.width - wide - 4), 3, wide, 15, 3, color);
		p.text(words, Math.min(x + 3, p.width - wide - 4) + 5, 11, "#fff", SMALL);
	}
	key(e) {
		this.byKey = true;
		const moves = {
				ArrowLeft: [-1, 0],
				ArrowRight: [1, 0],
				ArrowUp: [0, 1],
				ArrowDown: [0, -1],
			},
			move = moves[e.key];

		if (move) {
			this.cell = [
				clamp(this.cell[0] + move[0], 0, this.columns - 1),
				clamp(this.cell[1] + move[1], 0, this.rows - 1),
			];
			this.app.say(
				fmtSeconds(this.timeOf(this.cell), this.step / this.rows) +
					", " +
					this.counts[this.cell[0] * this.rows + this.cell[1]] +
					" samples"
			);
		} else if (e.key === "Enter" || e.key === " ") {
			this.mark(e.shiftKey);
		} else if (e.key === "Escape") {
			this.anchor = null;
			this.app.store.set({ range: null, baseline: null });
		} else {
			return false;
		}
		this.draw();
		return true;
	}
}

/*
 * A sample stands for the time since the one before it: @wide cells up to @end. So a thread that
 * runs all the time is the same in every cell, whatever sampling rate and cells have in common.
 */
function spread(cells, end, wide) {
	let at = Math.floor(end),
		left = wide;

	if (wide <= 0) {
		cells[at]++;
		return;
	}
	for (let from = end; left > 0 && at >= 0; at--) {
		const part = Math.min(left, from - at);

		cells[at] += part / wide;
		left -= part;
		from = at;
	}
}

/* Stack -> has a frame that matches. */
function stacksWith(model, matches) {
	const out = new Uint8Array(model.stacks);

	for (let v = 1; v < model.stacks; v++)
		out[v] = out[model.parent[v]] || matches[model.frame[v]] ? 1 : 0;
	return out;
}
