/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One chart: a canvas with lines, areas or strips, and a legend with the figures at the cursor. */
import { clamp, el, fill, hashText } from "../viewer/util.js";
import { fmtFigure, fmtScale, fmtTime, roundUp, unitName } from "./units.js";

const COLORS = ["#3b82f6", "#f59e0b", "#10b981", "#ef4444", "#8b5cf6", "#ec4899", "#14b8a6", "#a16207",
	"#6366f1", "#84cc16", "#f97316", "#0ea5e9"];
const GAP = 3500; /* ms without a frame: the line has a hole */
const LEFT = 50, BOTTOM = 14, TOP = 4;
const LEGEND_MOST = 8;

export class Chart {
	constructor(info, index, app) {
		this.info = info;
		this.index = index;
		this.app = app;
		this.canvas = el("canvas", { tabindex: 0, role: "img" });
		this.legend = el("div", { class: "legend" });
		this.title = el("span", { text: info.title });
		this.root = el("section", { class: "card", id: `chart-${info.id}${app.number ? "-" + app.number : ""}`, "aria-label": info.title },
			el("h3", {}, this.title, el("span", { class: "unit", text: unitName(info.unit) })),
			this.canvas, this.legend);
		/* rows are times then, and figures counts */
		this.times = info.strip && info.unit === "ns";
		this.names = [];
		this.colors = new Map();
		this.largest = 0;
		this.listen();
	}

	/* Of which machine, where there are several. */
	nameHost(name) {
		this.titleText = this.info.title + (name ? ` (${name})` : "");
		this.title.textContent = this.titleText;
		this.root.setAttribute("aria-label", this.titleText);
	}

	get figureUnit() {
		return this.times ? "count" : this.info.unit;
	}

	nameText(name) {
		return this.times ? "< " + fmtScale("ns", Number(name)) : name;
	}

	/* The values of a frame by name. */
	values(frame) {
		const raw = frame.c[this.index];

		if (!raw) return {};
		if (this.info.each) return raw;
		return Object.fromEntries(this.info.lines.map((line, i) => [line.label, raw[i]]));
	}

	/* A name keeps its colour; two that are shown together have different ones. */
	chooseColors() {
		const taken = new Set(this.names.map((n) => this.colors.get(n)));

		this.names.forEach((name, i) => {
			if (this.colors.has(name)) return;
			let at = (this.info.each ? hashText(name) : i) % COLORS.length;

			for (let tries = 1; tries < COLORS.length && taken.has(COLORS[at]); tries++) at = (at + 1) % COLORS.length;
			this.colors.set(name, COLORS[at]);
			taken.add(COLORS[at]);
		});
		/* names that came back get another one where theirs is taken by now */
		const seen = new Set();

		for (const name of this.names) {
			if (seen.has(this.colors.get(name))) this.colors.set(name, COLORS.find((c) => !taken.has(c)) || this.colors.get(name));
			seen.add(this.colors.get(name));
			taken.add(this.colors.get(name));
		}
	}

	/* --- pointer and keys ----------------------------------------------------------------- */

	timeAt(x) {
		const { axis } = this.app,
			width = this.canvas.clientWidth - LEFT;

		return axis.from + (clamp(x - LEFT, 0, width) / width) * axis.span * 1000;
	}

	listen() {
		const { canvas } = this;
		let begin = null;

		const time = (e) => this.timeAt(e.clientX - canvas.getBoundingClientRect().left);

		canvas.addEventListener("pointerdown", (e) => {
			if (e.button !== 0) return;
			begin = time(e);
			canvas.setPointerCapture(e.pointerId);
		});
		canvas.addEventListener("pointermove", (e) => {
			const { axis } = this.app;

			axis.cursor = time(e);
			if (begin !== null && Math.abs(axis.cursor - begin) > axis.span * 5) {
				if (axis.live) axis.end = axis.to;
				axis.choose(begin, axis.cursor);
			} else {
				this.app.redraw();
			}
		});
		canvas.addEventListener("pointerup", () => (begin = null));
		canvas.addEventListener("pointercancel", () => (begin = null));
		canvas.addEventListener("pointerleave", () => {
			this.app.axis.cursor = null;
			this.app.redraw();
		});
		canvas.addEventListener("keydown", (e) => this.onKey(e));
		canvas.addEventListener("blur", () => this.tell(-1));
	}

	/* What a line means; -1: nothing any more. The lines of instances all mean the same. */
	tell(line) {
		const item = line < (this.info.each ? 1 : this.info.lines.length) ? this.legend.children[line] : null;

		if (!item && this.told === undefined) return;
		this.told = item ? line : undefined;
		if (item) this.canvas.setAttribute("aria-describedby", "hover");
		else this.canvas.removeAttribute("aria-describedby");
		this.app.explain(item, this.info, line);
	}

	/* Arrows move the cursor; with shift they select. Enter tells what the lines mean, one by one. */
	onKey(e) {
		const { axis } = this.app,
			step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];

		if (e.key === "Enter") this.tell(this.told === undefined ? 0 : this.told + 1);
		if (e.key === "Escape") this.tell(-1);
		if (!step) return;
		e.preventDefault();
		const before = axis.cursor === null ? axis.to : axis.cursor;

		axis.cursor = clamp(before + step * 1000 * Math.max(1, Math.round(axis.span / 60)), axis.from, axis.to);
		if (!e.shiftKey) return void this.app.redraw();
		if (axis.live) axis.end = axis.to;
		const fixed = axis.chosen && this.anchor !== undefined ? this.anchor : before;

		this.anchor = fixed;
		axis.choose(fixed, axis.cursor);
	}

	/* --- drawing -------------------------------------------------------------------------- */

	draw() {
		const { canvas, app } = this,
			ratio = devicePixelRatio || 1,
			[low, high] = app.frames.range(app.axis.from, app.axis.to),
			frames = app.frames.all.slice(low, high);

		this.names = this.namesOf(frames);
		/* nothing is known where nothing may be attached */
		if (this.times) this.root.hidden = !this.names.length;
		const width = canvas.clientWidth, height = canvas.clientHeight;

		if (!width || !height) return;
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
		}
		const g = canvas.getContext("2d");

		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, width, height);
		const box = { x: LEFT, y: TOP, w: width - LEFT, h: height - TOP - BOTTOM };

		if (!this.info.strip) this.chooseColors();
		this.x = (t) => box.x + ((t - app.axis.from) / (app.axis.span * 1000)) * box.w;
		this.drawTimes(g, box, height);
		g.save();
		g.beginPath();
		g.rect(box.x, 0, box.w, box.y + box.h);
		g.clip();
		if (this.info.strip) this.drawStrips(g, box, frames);
		else this.drawLines(g, box, frames);
		this.drawMarks(g, box);
		g.restore();
		this.drawLegend();
	}

	/* The largest of what is shown: all that share the scale are measured before one is drawn. */
	measure() {
		const { app, info } = this;

		if (info.most) return;
		const [low, high] = app.frames.range(app.axis.from, app.axis.to),
			frames = app.frames.all.slice(low, high),
			names = this.namesOf(frames);

		this.largest = frames.reduce((most, frame) => {
			const row = this.values(frame),
				seen = names.map((n) => row[n] || 0);

			return Math.max(most, info.stacked ? seen.reduce((a, b) => a + b, 0) : Math.max(0, ...seen));
		}, 0);
	}

	namesOf(frames) {
		if (!this.info.each) return this.info.lines.map((l) => l.label);
		const sums = new Map();

		for (const frame of frames)
			for (const [name, v] of Object.entries(this.values(frame))) sums.set(name, (sums.get(name) || 0) + (v || 0));
		const names = [...sums.keys()];

		if (this.times) return this.rowsBetween(names);
		if (this.info.strip) return names.slice(0, 64);
		return names.sort((a, b) => sums.get(b) - sums.get(a)).slice(0, LEGEND_MOST);
	}

	/* Every power of two from the shortest to the longest, longest first. */
	rowsBetween(names) {
		const values = names.map(Number).filter((v) => v > 0), rows = [];

		for (let v = Math.max(...values); rows.length < 64 && v >= Math.min(...values); v /= 2) rows.push(String(v));
		return rows;
	}

	drawTimes(g, box, height) {
		const { axis, colors } = this.app,
			step = [5, 10, 15, 30, 60, 120, 300, 600, 1800].find((s) => axis.span / s <= Math.max(2, box.w / 80)) || 3600;

		g.font = "10px system-ui, sans-serif";
		g.fillStyle = colors.quiet;
		g.strokeStyle = colors.grid;
		g.textAlign = "center";
		for (let t = Math.ceil(axis.from / 1000 / step) * step * 1000; t <= axis.to; t += step * 1000) {
			const x = this.x(t);

			g.beginPath();
			g.moveTo(x, box.y);
			g.lineTo(x, box.y + box.h);
			g.stroke();
			const text = fmtTime(t, step < 60), half = g.measureText(text).width / 2;

			if (x > box.x + half && x < box.x + box.w - half) g.fillText(text, x, height - 3);
		}
	}

	drawScale(g, box, most) {
		const { colors } = this.app;

		g.restore();
		g.save();
		g.textAlign = "right";
		g.fillStyle = colors.quiet;
		g.strokeStyle = colors.grid;
		for (const share of [0, 0.5, 1]) {
			const y = box.y + box.h * (1 - share);

			g.beginPath();
			g.moveTo(box.x, y);
			g.lineTo(box.x + box.w, y);
			g.stroke();
			g.fillText(fmtScale(this.info.unit, most * share), box.x - 4, clamp(y + 3, 9, box.y + box.h));
		}
		g.beginPath();
		g.rect(box.x, 0, box.w, box.y + box.h);
		g.clip();
	}

	drawLines(g, box, frames) {
		const { stacked, unit } = this.info,
			rows = frames.map((f) => this.values(f));
		const most = this.info.most || roundUp(unit, Math.max(...this.app.group(this).map((c) => c.largest)));

		this.drawScale(g, box, most);
		const y = (v) => box.y + box.h * (1 - v / most);
		let base = frames.map(() => 0);

		this.names.forEach((name) => {
			const top = rows.map((row, k) => (row[name] === null || row[name] === undefined ? null : base[k] + row[name]));

			g.strokeStyle = g.fillStyle = this.colors.get(name);
			for (const [a, b] of this.pieces(frames, top)) this.drawPiece(g, frames, top, stacked ? base : null, a, b, y);
			if (stacked) base = top.map((v, k) => (v === null ? base[k] : v));
		});
	}

	/* Runs of frames without a hole. */
	*pieces(frames, values) {
		let begin = -1;

		for (let i = 0; i <= frames.length; i++) {
			const hole = i === frames.length || values[i] === null;

			if (begin >= 0 && (hole || frames[i].t - frames[i - 1].t > GAP)) {
				yield [begin, i];
				begin = -1;
			}
			if (begin < 0 && !hole) begin = i;
		}
	}

	drawPiece(g, frames, top, base, a, b, y) {
		g.beginPath();
		for (let i = a; i < b; i++) g.lineTo(this.x(frames[i].t), y(top[i]));
		if (base) {
			for (let i = b - 1; i >= a; i--) g.lineTo(this.x(frames[i].t), y(base[i]));
			g.globalAlpha = 0.75;
			g.fill();
			g.globalAlpha = 1;
			return;
		}
		g.lineWidth = 1.5;
		if (b - a === 1) g.fillRect(this.x(frames[a].t) - 1, y(top[a]) - 1, 2.5, 2.5);
		else g.stroke();
		g.lineWidth = 1;
	}

	/* Counts of requests differ by orders of magnitude. */
	heatOf(v) {
		const most = this.info.most || this.largest || 1;

		return heat(this.times ? Math.log1p(v) / Math.log1p(most) : v / most);
	}

	drawStrips(g, box, frames) {
		const height = box.h / Math.max(1, this.names.length);

		this.names.forEach((name, row) => {
			for (let i = 0; i < frames.length; i++) {
				const v = this.values(frames[i])[name];

				if (v === null || v === undefined || (this.times && !v)) continue;
				const from = frames[i - 1] && frames[i].t - frames[i - 1].t <= GAP ? frames[i - 1].t : frames[i].t - 1000,
					x = this.x(from);

				g.fillStyle = this.heatOf(v);
				g.fillRect(x, box.y + row * height, this.x(frames[i].t) - x + 0.5, Math.max(1, height - 1));
			}
		});
		g.restore();
		g.save();
		g.textAlign = "right";
		g.fillStyle = this.app.colors.quiet;
		const step = this.times ? Math.ceil(9 / height) : 1;

		if (height * step >= 9)
			this.names.forEach((name, row) => row % step === 0 && g.fillText(this.nameText(name).replace("< ", "").slice(0, 8), box.x - 4, box.y + (row + 0.5) * height + 3));
	}

	drawMarks(g, box) {
		const { axis, colors } = this.app;

		if (axis.chosen) {
			const [a, b] = axis.chosen.map((t) => clamp(this.x(t), box.x, box.x + box.w));

			g.fillStyle = colors.select;
			g.fillRect(a, box.y, b - a, box.h);
		}
		if (axis.cursor !== null) {
			const x = this.x(axis.cursor);

			g.strokeStyle = colors.quiet;
			g.beginPath();
			g.moveTo(x, box.y);
			g.lineTo(x, box.y + box.h);
			g.stroke();
		}
	}

	/* --- legend --------------------------------------------------------------------------- */

	drawLegend() {
		const { app, info } = this,
			frame = app.axis.cursor === null ? app.frames.at(app.axis.to) : app.frames.at(app.axis.cursor),
			row = frame ? this.values(frame) : {},
			names = this.legendNames(row),
			key = names.join("\n");

		if (this.legendKey !== key) {
			this.legendKey = key;
			fill(this.legend, ...names.map((name, i) => this.legendItem(name, i)));
		}
		names.forEach((name, i) => {
			const item = this.legend.children[i];

			item.lastChild.textContent = fmtFigure(this.figureUnit, row[name]);
			item.firstChild.style.background = info.strip ? this.heatOf(row[name] || 0) : this.colors.get(name);
		});
		const said = names.map((n) => this.nameText(n) + " " + fmtFigure(this.figureUnit, row[n])).join(", ");

		this.canvas.setAttribute("aria-label", this.titleText + (frame ? " at " + fmtTime(frame.t) + ": " + said : ": no data"));
	}

	/* Of times those in which there was something, if that is not all of them. */
	legendNames(row) {
		const names = this.times ? this.names.filter((n) => row[n]) : this.names;

		return names.slice(0, LEGEND_MOST);
	}

	legendItem(name, i) {
		const item = el("span", {}, el("i"), document.createTextNode(this.nameText(name)), el("b"));

		item.addEventListener("pointerenter", () => this.app.explain(item, this.info, this.info.each ? 0 : i));
		item.addEventListener("pointerleave", () => this.app.explain(null));
		return item;
	}
}

/* From the ground to red, darker or brighter all the way. */
export function heat(share) {
	const s = clamp(share, 0, 1), hue = 42 - 32 * s;

	return document.documentElement.dataset.theme === "dark"
		? `hsl(${hue.toFixed(0)} ${(35 + 50 * s).toFixed(0)}% ${(20 + 40 * s).toFixed(0)}%)`
		: `hsl(${hue.toFixed(0)} 85% ${(91 - 43 * s).toFixed(0)}%)`;
}
