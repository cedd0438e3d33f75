/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the file holds: stretches of time in which a task ran, wanted a CPU or was blocked, in order
 * of their begin, five numbers each; and wake-ups, four numbers each. Times are ns from the start.
 */

import { Marks } from "./marks.js";

/* From KINDS on: kinds of waits, where the recording tells them. */
export const DOES = { RUNS: 0, WAITS: 1, SLEEPS: 2, DISK: 3, STOPPED: 4, KINDS: 5 };
const WORDS = [
	"runs",
	"wants a CPU",
	"sleeps (interruptible)",
	"blocked (uninterruptible: disk)",
	"stopped or other",
];
const SHORT = ["runs", "ready", "sleeps", "disk", "stopped"];
export const STRIDE = 5; /* begin, length, CPU, task, what it does */
export const WAKE_STRIDE = 4; /* time, CPU, waker, wakee */

/* Lists of stretches by a key; each is in order of time. */
function listsBy(n, groups, keyOf) {
	const sizes = new Uint32Array(groups);

	for (let i = 0; i < n; i++) {
		const key = keyOf(i);

		if (key >= 0) sizes[key]++;
	}
	const lists = Array.from(sizes, (size) => new Uint32Array(size));

	sizes.fill(0);
	for (let i = 0; i < n; i++) {
		const key = keyOf(i);

		if (key >= 0) lists[key][sizes[key]++] = i;
	}
	return lists;
}

export class Data {
	constructor(d) {
		this.cpus = d.cpus;
		this.length = d.length;
		this.start = d.start; /* seconds of the recording's clock, as text */
		this.file = d.file;
		this.facts = d.facts;
		this.kinds = (d.kinds || []).map(([name, words, idle]) => ({ name, words, idle: !!idle }));
		this.words = WORDS.concat(this.kinds.map((k) => k.words));
		this.stretches = Float64Array.from(d.stretches);
		this.marks = new Marks(d.marks, d.length);
		this.wakes = Float64Array.from(d.wakes);
		this.n = this.stretches.length / STRIDE;
		this.tasks = d.tasks.map(([tid, comm]) => ({
			tid,
			comm,
			name: comm + " " + tid,
			time: this.words.map(() => 0),
		}));
		for (let i = 0; i < this.n; i++)
			this.tasks[this.task(i)].time[this.does(i)] += this.span(i);
		const runs = (i) => this.does(i) === DOES.RUNS,
			waits = (i) => this.does(i) === DOES.WAITS;

		this.runsOfCpu = listsBy(this.n, this.cpus, (i) => (runs(i) ? this.cpu(i) : -1));
		this.waitsOfCpu = listsBy(this.n, this.cpus, (i) => (waits(i) ? this.cpu(i) : -1));
		this.ofTask = listsBy(this.n, this.tasks.length, (i) => this.task(i));
		this.longestWait = this.waitsOfCpu.map((list) =>
			list.reduce((most, i) => Math.max(most, this.span(i)), 0)
		);
		/* those that used most of the CPUs first, or wanted to */
		const weight = (t) => t.time[DOES.RUNS] + t.time[DOES.WAITS];

		this.rows = [...this.tasks.keys()]
			.filter((t) => weight(this.tasks[t]) > 0)
			.sort((x, y) => weight(this.tasks[y]) - weight(this.tasks[x]));
	}
	begin(i) {
		return this.stretches[i * STRIDE];
	}
	span(i) {
		return this.stretches[i * STRIDE + 1];
	}
	end(i) {
		return this.begin(i) + this.span(i);
	}
	cpu(i) {
		return this.stretches[i * STRIDE + 2];
	}
	task(i) {
		return this.stretches[i * STRIDE + 3];
	}
	does(i) {
		return this.stretches[i * STRIDE + 4];
	}
	/* What a stretch is, in one word. */
	shortWords(i) {
		const does = this.does(i);

		if (does === DOES.RUNS) return "CPU " + this.cpu(i);
		return does < DOES.KINDS ? SHORT[does] : this.kinds[does - DOES.KINDS].name;
	}
	/* Of [from, to): ns of all that a task did, by what it is. */
	didIn(task, from, to) {
		const sums = this.words.map(() => 0);

		for (const i of this.ofTask[task])
			sums[this.does(i)] += Math.max(0, Math.min(this.end(i), to) - Math.max(this.begin(i), from));
		return sums;
	}
	/* Of [from, to): ns that each task ran. */
	ranIn(from, to) {
		const sums = new Map();

		for (const list of this.runsOfCpu)
			for (const i of list) {
				const part = Math.min(this.end(i), to) - Math.max(this.begin(i), from);

				if (part > 0)
					sums.set(this.task(i), (sums.get(this.task(i)) || 0) + part);
			}
		return [...sums].sort((x, y) => y[1] - x[1]);
	}
}
