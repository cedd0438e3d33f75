/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture: an axis, a lane for each CPU, a row for each task, arrows from wakers to wakees. */
import { channelsOf, inkOn, oklch, shade } from "../viewer/oklch.js";
import { CanvasPainter, SMALL } from "../viewer/paint.js";
import { clamp, firstIndex, fmtNs, hashText } from "../viewer/util.js";
import { waitLook } from "../viewer/waitlooks.js";
import { DOES, WAKE_STRIDE } from "./data.js";
import { Density } from "./density.js";

const LEFT = 170;
const LEFT_LEAST = 96; /* in a narrow window */
const AXIS = 26;
const LANE = 24; /* who runs on a CPU */
const QUEUE = 13; /* who wants to */
const GAP = 6;
const ROW = 20;
const ARROWS_APART = 5; /* pixels; closer ones cannot be distinguished */
const ARROWS_CROWD = 14; /* where not all fit, those that are drawn leave room for what they cross */
const SHORTEST = 1000; /* ns visible */

/* hue, chroma, lightness of what tasks do: light, dark; the first two as in graphs of hot and cold */
const LOOKS = [
	[
		[32, 0.155, 0.72],
		[32, 0.15, 0.6],
	],
	[
		[92, 0.15, 0.87],
		[88, 0.12, 0.66],
	],
	[
		[255, 0.03, 0.84],
		[255, 0.03, 0.42],
	],
	[
		[305, 0.14, 0.68],
		[305, 0.14, 0.56],
	],
	[
		[0, 0, 0.72],
		[0, 0, 0.5],
	],
];

/* What a task does -> its band; a thin line for sleeping: what uses or wants a CPU stands out. */
const BANDS = [0, 0, 2, 1, 3];
const HEIGHTS = [14, 10, 4, 6, 12];
const BAND_WAIT = 4;
const NAMED = 34; /* pixels of a stretch that has its words in it */
const BAND_IDLE = 2;

export class Picture {
	constructor(data, canvas) {
		this.data = data;
		this.painter = new CanvasPainter(canvas);
		this.a = 0;
		this.b = data.length;
		this.scroll = 0;
		this.chosen = -1;
		this.hover = null;
		this.selection = null;
		this.matches = null; /* task -> whether it matches */
		this.setTheme(false);
	}
	setTheme(dark) {
		this.dark = dark;
		this.background = dark ? "#15181e" : "#ffffff";
		this.text = dark ? "#e8eaee" : "#16181d";
		this.quiet = dark ? "#949ca9" : "#676e7a";
		this.line = dark ? "#2b313b" : "#dde0e6";
		this.moment = dark ? "#d9a0ff" : "#7b2fbf";
		this.accent = dark ? "#5aa2ff" : "#1f6feb";
		this.faint = dark ? "#20252d" : "#f3f4f7";
		this.states = LOOKS.map((look) => {
			const [hue, chroma, light] = look[dark ? 1 : 0];

			return oklch(light, chroma, hue);
		}).concat(
			this.data.kinds.map((kind) => {
				const [hue, chroma, light] = waitLook(kind.name);

				return oklch(dark ? light * 0.75 : light, chroma, hue);
			})
		);
		this.bands = BANDS.concat(this.data.kinds.map((kind) => (kind.idle ? BAND_IDLE : BAND_WAIT)));
		this.colors = new Map();
	}
	colorOf(task) {
		const { comm } = this.data.tasks[task];
		let c = this.colors.get(comm);

		if (!c) {
			const h = hashText(comm);

			c = oklch((this.dark ? 0.52 : 0.8) + ((h >>> 9) % 5) * 0.025 - 0.05, 0.1, (h % 24) * 15);
			this.colors.set(comm, c);
		}
		return this.isDim(task) ? shade(c, this.background, 0.1) : c;
	}
	isDim(task) {
		if (this.chosen >= 0) return task !== this.chosen;
		return !!this.matches && !this.matches[task];
	}
	/* Names stand there. */
	get left() {
		return Math.round(clamp(this.painter.width * 0.24, LEFT_LEAST, LEFT));
	}
	get width() {
		return Math.max(50, this.painter.width - this.left - 12);
	}
	/* Below the axis and the marks, which stay visible. */
	get top() {
		return AXIS + this.data.marks.height;
	}
	get rowsTop() {
		return this.top + this.data.cpus * (LANE + QUEUE + GAP) + 22;
	}
	get height() {
		return this.rowsTop + this.data.rows.length * ROW + 8;
	}
	x(t) {
		return this.left + ((t - this.a) / (this.b - this.a)) * this.width;
	}
	timeAt(x) {
		return clamp(this.a + ((x - this.left) / this.width) * (this.b - this.a), 0, this.data.length);
	}
	show(from, length) {
		const n = clamp(length, Math.min(SHORTEST, this.data.length), this.data.length);

		this.a = clamp(from, 0, this.data.length - n);
		this.b = this.a + n;
	}
	zoomAt(x, factor) {
		const t = this.timeAt(x);

		this.show(t - (t - this.a) * factor, (this.b - this.a) * factor);
	}
	scrollBy(dy) {
		this.scroll = clamp(this.scroll + dy, 0, Math.max(0, this.height - this.painter.height));
	}
	/* Scrolls to a row of tasks. */
	reveal(row) {
		const y = this.rowsTop + row * ROW - this.scroll;

		if (y < this.top + ROW || y > this.painter.height - 2 * ROW)
			this.scrollBy(y - (this.top + this.painter.height) / 2);
	}
	/* --- painting ---------------------------------------------------------------------- */
	draw() {
		const p = this.painter;

		p.fit();
		this.scrollBy(0);
		p.begin(this.background);
		p.clip(0, this.top, p.width, p.height - this.top);
		this.paintGrid(p);
		for (let c = 0; c < this.data.cpus; c++) this.paintCpu(p, c);
		this.paintTasks(p);
		this.paintWakes(p);
		p.unclip();
		this.paintAxis(p);
		this.data.marks.paint(p, this, AXIS + 2, this.left);
		this.paintSelection(p);
	}
	ticks() {
		const rough = (this.b - this.a) / (this.width / 110),
			unit = 10 ** Math.floor(Math.log10(rough)),
			step = [1, 2, 5, 10].find((k) => k * unit >= rough) * unit,
			out = [];

		for (let t = Math.ceil(this.a / step) * step; t <= this.b; t += step) out.push(t);
		return { out, step };
	}
	paintGrid(p) {
		for (const t of this.ticks().out)
			p.rect(Math.round(this.x(t)), AXIS, 1, p.height - AXIS, this.line);
	}
	paintAxis(p) {
		const { out, step } = this.ticks();

		p.rect(0, 0, p.width, AXIS - 1, this.background);
		p.rect(0, AXIS - 1, p.width, 1, this.line);
		for (const t of out)
			if (this.x(t) < this.left + this.width - 30)
				p.text(tickText(t, step), this.x(t) + 3, AXIS / 2, this.quiet, SMALL);
	}
	/* Stretches of @list that are visible; they do not overlap. */
	*inSight(list) {
		const { data } = this;

		for (
			let j = firstIndex(0, list.length, (k) => data.end(list[k]) > this.a);
			j < list.length && data.begin(list[j]) < this.b;
			j++
		)
			yield list[j];
	}
	laneTop(cpu) {
		return this.top + 4 + cpu * (LANE + QUEUE + GAP) - this.scroll;
	}
	paintCpu(p, cpu) {
		const { data } = this,
			y = this.laneTop(cpu),
			row = new Density(Math.ceil(this.width));

		p.text("CPU " + cpu, 10, y + LANE / 2, this.text, SMALL);
		p.rect(this.left, y, this.width, LANE, this.faint);
		for (const i of this.inSight(data.runsOfCpu[cpu]))
			row.add(
				this.x(data.begin(i)) - this.left,
				this.x(data.end(i)) - this.left,
				channelsOf(this.colorOf(data.task(i)))
			);
		row.paint(p, this.left, y, LANE, this.faint);
		for (const i of this.inSight(data.runsOfCpu[cpu])) this.paintName(p, i, y);
		this.paintQueue(p, cpu, y + LANE);
	}
	paintName(p, i, y) {
		const from = Math.max(this.x(this.data.begin(i)), this.left),
			to = Math.min(this.x(this.data.end(i)), this.left + this.width),
			{ comm } = this.data.tasks[this.data.task(i)];

		if (to - from >= 40 && p.measure(comm, SMALL) <= to - from - 8 && !this.isDim(this.data.task(i)))
			p.text(comm, from + 4, y + LANE / 2, inkOn(this.colorOf(this.data.task(i)), this.text), SMALL);
	}
	/* How many wanted the CPU, on average over each pixel. */
	queueOf(cpu) {
		const { data } = this,
			list = data.waitsOfCpu[cpu],
			row = new Float32Array(Math.ceil(this.width)),
			early = this.a - data.longestWait[cpu];

		for (
			let j = firstIndex(0, list.length, (k) => data.begin(list[k]) >= early);
			j < list.length && data.begin(list[j]) < this.b;
			j++
		) {
			const from = Math.max(0, this.x(data.begin(list[j])) - this.left),
				to = Math.min(row.length, this.x(data.end(list[j])) - this.left);

			for (let x = Math.floor(from); x < to; x++)
				row[x] += Math.min(to, x + 1) - Math.max(from, x);
		}
		return row;
	}
	paintQueue(p, cpu, y) {
		const row = this.queueOf(cpu),
			most = Math.max(1, row.reduce((m, n) => Math.max(m, n), 0)),
			fill = this.states[DOES.WAITS];

		for (let x = 0; x < row.length; x++)
			if (row[x] > 0) p.rect(this.left + x, y, 1, Math.max(0.5, (row[x] / most) * QUEUE), fill);
	}
	taskTop(index) {
		return this.rowsTop + index * ROW - this.scroll;
	}
	visibleRows() {
		const first = Math.max(0, Math.floor((this.scroll + this.top - this.rowsTop) / ROW)),
			last = Math.floor((this.scroll + this.painter.height - this.rowsTop) / ROW);

		return [first, Math.min(this.data.rows.length - 1, last)];
	}
	paintTasks(p) {
		const [first, last] = this.visibleRows();

		p.text(
			this.data.rows.length + " tasks, the busiest first",
			10,
			this.rowsTop - this.scroll - 10,
			this.quiet,
			SMALL
		);
		for (let r = first; r <= last; r++) this.paintTask(p, r);
	}
	paintTask(p, r) {
		const { data } = this,
			task = data.rows[r],
			y = this.taskTop(r),
			bands = HEIGHTS.map(() => new Density(Math.ceil(this.width))),
			dim = this.isDim(task);

		if (r % 2 === 0) p.rect(0, y, p.width, ROW, this.faint);
		p.text(
			fitText(p, data.tasks[task].name, this.left - 18),
			10,
			y + ROW / 2,
			dim ? this.quiet : this.text,
			SMALL
		);
		for (const i of this.inSight(data.ofTask[task]))
			bands[this.bands[data.does(i)]].add(
				this.x(data.begin(i)) - this.left,
				this.x(data.end(i)) - this.left,
				channelsOf(
					dim
						? shade(this.states[data.does(i)], this.background, 0.1)
						: this.states[data.does(i)]
				)
			);
		const back = r % 2 === 0 ? this.faint : this.background;

		for (let n = bands.length; n-- > 0; )
			bands[n].paint(p, this.left, y + (ROW - HEIGHTS[n]) / 2, HEIGHTS[n], back);
		if (!dim) for (const i of this.inSight(data.ofTask[task])) this.paintWords(p, i, y);
	}
	/* What a task does or waits for, where a stretch has room for it. */
	paintWords(p, i, y) {
		const { data } = this,
			does = data.does(i),
			from = Math.max(this.x(data.begin(i)), this.left),
			room = Math.min(this.x(data.end(i)), this.left + this.width) - from - 6;

		if (room < NAMED || HEIGHTS[this.bands[does]] < 10) return;
		const words = [does === DOES.RUNS ? "runs on CPU " + data.cpu(i) : data.words[does], data.shortWords(i)].find(
			(text) => p.measure(text, SMALL) <= room
		);

		if (words) p.text(words, from + 3, y + ROW / 2, inkOn(this.states[does], this.text), SMALL);
	}
	/* --- wake-ups ---------------------------------------------------------------------- */
	wakesInSight() {
		const { wakes } = this.data,
			n = wakes.length / WAKE_STRIDE,
			time = (k) => wakes[k * WAKE_STRIDE],
			out = [];

		for (
			let k = firstIndex(0, n, (j) => time(j) >= this.a);
			k < n && time(k) <= this.b;
			k++
		)
			out.push(k);
		return out;
	}
	wake(k) {
		const [time, cpu, waker, wakee] = this.data.wakes.subarray(
			k * WAKE_STRIDE,
			(k + 1) * WAKE_STRIDE
		);

		return { time, cpu, waker, wakee };
	}
	/* All of the span, of the chosen task if there is one. */
	candidates() {
		const rowOf = new Map(this.data.rows.map((task, r) => [task, r])),
			out = [];

		for (const k of this.wakesInSight()) {
			const w = this.wake(k),
				to = rowOf.get(w.wakee),
				from = rowOf.get(w.waker);

			if (to === undefined) continue;
			if (this.chosen >= 0 && w.waker !== this.chosen && w.wakee !== this.chosen) continue;
			/* interrupts of an idle CPU have no row */
			out.push({ x: this.x(w.time), from: from ?? to - 1, to, task: from !== undefined });
		}
		return out;
	}
	/* An arrow is left out if, on a row that it crosses, another one is too near. */
	thinned(list, apart) {
		const [first, last] = this.visibleRows(),
			taken = new Float32Array(Math.max(0, last - first + 1)).fill(-Infinity),
			out = [];

		for (const a of list) {
			const low = Math.max(0, Math.min(a.from, a.to) - first),
				high = Math.min(taken.length - 1, Math.max(a.from, a.to) - first);
			let fits = low <= high;

			for (let r = low; fits && r <= high; r++) fits = a.x - taken[r] >= apart;
			if (!fits) continue;
			taken.fill(a.x, low, high + 1);
			out.push(a);
		}
		return out;
	}
	/*
	 * All while they can be distinguished, otherwise from task to task, both visible, as far as they
	 * fit.
	 */
	arrows() {
		const list = this.candidates(),
			[first, last] = this.visibleRows(),
			seen = (r) => r >= first && r <= last,
			crossing = list.filter((a) => Math.min(a.from, a.to) <= last && Math.max(a.from, a.to) >= first),
			all = this.thinned(crossing, ARROWS_APART);

		if (all.length === crossing.length) return { shown: all, all: list.length, whole: true };
		const shown = this.thinned(
			crossing.filter((a) => a.task && seen(a.from) && seen(a.to)),
			ARROWS_CROWD
		);

		return { shown, all: list.length, whole: false };
	}
	paintWakes(p) {
		const { shown, all, whole } = this.arrows(),
			faint = whole ? this.accent : shade(this.accent, this.background, 0.4);

		this.wakesShown = shown.length;
		this.wakesAll = all;
		this.wakesWhole = whole;
		for (const { x, from, to } of shown) {
			const y2 = this.taskTop(to) + ROW / 2,
				y = this.taskTop(from) + ROW / 2,
				back = y2 > y ? -5 : 5;

			p.curve([x, y, x, y2], faint, 1);
			p.polygon([x, y2, x - 3, y2 + back, x + 3, y2 + back], this.accent);
		}
	}
	paintSelection(p) {
		if (!this.selection) return;
		const x = Math.max(this.left, this.x(this.selection[0])),
			x2 = Math.min(this.left + this.width, this.x(this.selection[1]));

		if (x2 <= x) return;
		p.rect(x, AXIS, 1, p.height - AXIS, this.accent);
		p.rect(x2, AXIS, 1, p.height - AXIS, this.accent);
		p.rect(x, AXIS - 4, x2 - x, 4, this.accent);
	}
	/* --- what is under a point ---------------------------------------------------------- */
	hit(x, y) {
		const { data } = this,
			t = this.timeAt(x),
			up = y + this.scroll;

		const mark = this.data.marks.hit(this, x, y, AXIS + 2);

		if (mark) return { mark };
		if (y < this.top) return null;
		const r = Math.floor((up - this.rowsTop) / ROW);

		if (up >= this.rowsTop)
			return r < data.rows.length ? this.hitList(data.ofTask[data.rows[r]], x, t, data.rows[r]) : null;
		const cpu = Math.floor((up - this.top - 4) / (LANE + QUEUE + GAP));

		if (cpu < 0 || cpu >= data.cpus) return null;
		if (up - this.top - 4 - cpu * (LANE + QUEUE + GAP) >= LANE) {
			const queue = this.queueOf(cpu),
				n = x >= this.left ? queue[Math.floor(x - this.left)] || 0 : 0;

			return { cpu, queue: n };
		}
		return this.hitList(data.runsOfCpu[cpu], x, t, -1, cpu);
	}
	hitList(list, x, t, task, cpu) {
		const { data } = this;

		if (x < this.left) return { task, cpu };
		const j = firstIndex(0, list.length, (k) => data.end(list[k]) > t),
			found = j < list.length && data.begin(list[j]) <= t ? list[j] : -1;

		return { task: found >= 0 ? data.task(found) : task, cpu, stretch: found };
	}
}

function fitText(p, text, room) {
	if (p.measure(text, SMALL) <= room) return text;
	let n = text.length;

	while (n > 1 && p.measure(text.slice(0, n) + "…", SMALL) > room) n--;
	return text.slice(0, n) + "…";
}

function tickText(t, step) {
	if (t === 0) return "0";
	const [unit, name] = step >= 1e9 ? [1e9, " s"] : step >= 1e6 ? [1e6, " ms"] : [1e3, " µs"];

	return t >= 1e9 && step >= 1e6
		? (t / 1e9).toFixed(clamp(Math.ceil(9 - Math.log10(step)), 0, 3)) + " s"
		: step < 1e3
			? fmtNs(t)
			: Number((t / unit).toFixed(3)) + name;
}
