/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State + model -> weights -> tree. Filters choose samples; transforms rewrite their stacks. As
 * long as there is no transform and no grouping the model's own tree is used with new weights.
 */
import { KIND, matchingFrames } from "./model.js";
import { Tree } from "./tree.js";
import { baseName, firstIndex, makeRegex } from "./util.js";

export const NOWHERE = 0xffffffff;

/* --- filters ------------------------------------------------------------------------------- */

export function threadKey(t, what) {
	return what === "proc"
		? String(t.pid)
		: what === "cg"
			? t.cgroup
			: what === "comm"
				? t.comm
				: t.pid + "/" + t.tid;
}

/* Thread index -> passes; null when all do. */
function threadFilter(model, filters) {
	const sets = ["proc", "thr", "cg", "comm"]
		.filter((k) => filters[k] && filters[k].length)
		.map((k) => [k, new Set(filters[k])]);

	if (!sets.length) return null;
	return Uint8Array.from(model.threads, (t) =>
		sets.every(([k, set]) => set.has(threadKey(t, k))) ? 1 : 0
	);
}

function cpuFilter(filters) {
	return filters.cpu && filters.cpu.length
		? new Set(filters.cpu.map((c) => Number(c) + 1))
		: null;
}

/* Calls @use(i) for the samples of @event in @range that pass the filters. */
export function eachSample(model, event, range, filters, use) {
	const { n, time, event: events, thread, cpu } = model.samples;
	const threads = threadFilter(model, filters),
		cpus = cpuFilter(filters);
	let from = 0,
		to = n;

	if (range && model.hasTime) {
		from = firstIndex(0, n, (i) => time[i] >= range[0]);
		to = firstIndex(0, n, (i) => time[i] >= range[1]);
	}
	for (let i = from; i < to; i++)
		if (
			events[i] === event &&
			(!threads || threads[thread[i]]) &&
			(!cpus || cpus.has(cpu[i]))
		)
			use(i);
}

/* What the state compares with: event and range of both sides. */
function sidesOf(state) {
	const a = { event: state.event, range: state.range };

	if (state.baselineEvent !== null) return [a, { event: state.baselineEvent, range: state.range }];
	if (state.baseline) return [a, { event: state.event, range: state.baseline }];
	if (state.ratioEvent !== null) return [a, { event: state.ratioEvent, range: state.range }];
	return [a, null];
}

export function isDiff(state) {
	return state.baselineEvent !== null || state.baseline !== null;
}

/* Self weights by stack. */
function weigh(model, state) {
	const [sideA, sideB] = sidesOf(state),
		s = model.samples;
	const column = state.counts ? s.count : s.weight;
	const out = {
		a: new Float64Array(model.stacks),
		b: null,
		count: null,
		sum: 0,
		samples: 0,
		samplesB: 0,
	};
	const needCount = !state.counts && !model.each[state.event];

	if (needCount) out.count = new Float64Array(model.stacks);
	eachSample(model, sideA.event, sideA.range, state.filters, (i) => {
		out.a[s.stack[i]] += column[i];
		out.sum += column[i];
		out.samples += s.count[i];
		if (needCount) out.count[s.stack[i]] += s.count[i];
	});
	if (!sideB) return out;
	out.b = new Float64Array(model.stacks);
	eachSample(model, sideB.event, sideB.range, state.filters, (i) => {
		out.b[s.stack[i]] += column[i];
		out.samplesB += s.count[i];
	});
	return out;
}

/* --- plumbing ------------------------------------------------------------------------------ */

/* What every stack of a language has, and no programmer wrote: [one box for it, its functions]. */
let rules = [];

export function setPlumbing(list) {
	rules = (list || []).map(([box, names]) => [box, new RegExp(names)]);
}

/* Frame -> the box that stands for it, 0: itself. */
function plumbingOf(model) {
	const { frames } = model;

	if (!model.plumbing)
		model.plumbing = Uint32Array.from({ length: frames.real }, (_, f) => {
			const found = f && rules.find(([, names]) => names.test(frames.names[f]));

			return found ? frames.label(found[0], KIND.MODULE, "") : 0;
		});
	return model.plumbing;
}

export function isPlumbing(model, f) {
	return f >= model.frames.real && !!model.plumbing && model.plumbing.includes(f);
}

/* --- transforms ---------------------------------------------------------------------------- */

/* A transform takes the frames of a stack, root first, and gives others, or null: dropped. */
export const TRANSFORMS = {
	focus: (path, f) => {
		const i = path.indexOf(f);

		return i < 0 ? null : path.slice(i);
	},
	drop: (path, f) => (path.includes(f) ? null : path),
	merge: (path, f) => (path.includes(f) ? path.filter((x) => x !== f) : path),
	collapse: (path, f) => {
		const first = path.indexOf(f),
			last = path.lastIndexOf(f);

		return first === last
			? path
			: path.slice(0, first + 1).concat(path.slice(last + 1));
	},
	module: (path, f, model) => {
		const frames = model.frames,
			name = frames.modules[f];
		const stand = frames.label(
			"[" + (baseName(name) || "no module") + "]",
			KIND.MODULE,
			name
		);
		const out = path.map((x) => (frames.modules[x] === name ? stand : x));

		return out.filter((x, i) => x !== stand || out[i - 1] !== stand);
	},
	recursion: (path) => path.filter((x, i) => x !== path[i - 1]),
	plumbing: (path, f, model) => {
		const stands = plumbingOf(model),
			out = path.map((x) => (x < stands.length && stands[x]) || x);

		return out.filter((x, i) => x === path[i] || x !== out[i - 1]);
	},
};

export const TRANSFORM_WORDS = {
	focus: "focus on",
	drop: "without",
	merge: "merge",
	collapse: "collapse recursion of",
	module: "one box for module of",
	recursion: "recursion collapsed",
	plumbing: "start-up and run-time code folded",
};

function transformPath(model, path, transforms) {
	for (const t of transforms) {
		path = TRANSFORMS[t.kind](path, t.frame, model);
		if (!path) return null;
	}
	return path;
}

function framesOfStack(model, stack) {
	const out = [];

	for (let v = stack; v; v = model.parent[v]) out.push(model.frame[v]);
	return out.reverse();
}

/* --- grouping ------------------------------------------------------------------------------ */

export function groupLabel(model, i, group) {
	const s = model.samples,
		t = model.threads[s.thread[i]];

	switch (group) {
		case "comm":
			return t.comm || "(no name)";
		case "pid":
			return (t.comm || "?") + " " + t.pid;
		case "tid":
			return (t.comm || "?") + " " + t.pid + "/" + t.tid;
		case "cpu":
			return s.cpu[i] ? "CPU " + (s.cpu[i] - 1) : "CPU not known";
		case "cg":
			return t.cgroup || "(no cgroup)";
	}
	return "";
}

/* A number for each sample that equals for equal labels; cheaper than the text of them. */
function groupKey(model, i, group) {
	return group === "cpu" ? model.samples.cpu[i] : model.samples.thread[i];
}

/* Stacks apart by label: entries {label, stack, a, b, n}, sorted. */
function groupedEntries(model, state) {
	const s = model.samples,
		column = state.counts ? s.count : s.weight,
		entries = new Map();
	const labels = new Map(),
		sides = sidesOf(state);

	sides.forEach(
		(side, isB) =>
			side &&
			eachSample(model, side.event, side.range, state.filters, (i) => {
				const key = groupKey(model, i, state.group);
				let label = labels.get(key);

				if (label === undefined) {
					label = model.frames.label(
						groupLabel(model, i, state.group),
						KIND.LABEL
					);
					labels.set(key, label);
				}
				const id = label * model.stacks + s.stack[i];
				let entry = entries.get(id);

				if (!entry)
					entries.set(
						id,
						(entry = {
							label,
							stack: s.stack[i],
							a: 0,
							b: 0,
							n: 0,
						})
					);
				if (isB) entry.b += column[i];
				else entry.a += column[i];
				entry.n += isB ? 0 : s.count[i];
			})
	);
	return [...entries.values()].sort((x, y) => x.label - y.label || x.stack - y.stack);
}

function plainEntries(model, weights) {
	const out = [];

	for (let i = 0; i < model.stacks; i++)
		if (weights.a[i] || (weights.b && weights.b[i]))
			out.push({
				label: 0,
				stack: i,
				a: weights.a[i],
				b: weights.b ? weights.b[i] : 0,
				n: weights.count ? weights.count[i] : 0,
			});
	return out;
}

/* --- building ------------------------------------------------------------------------------ */

/* Grows a tree path by path. Parents and frames in open-addressed slots. */
export class TreeBuilder {
	constructor() {
		this.parent = [0];
		this.frame = [0];
		this.slots = new Int32Array(1 << 12).fill(-1);
		this.last = [];
		this.lastNodes = [];
	}
	slot(parent, frame) {
		const mask = this.slots.length - 1;
		let i = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b)) >>> 0;

		for (i = (i ^ (i >>> 15)) & mask; ; i = (i + 1) & mask) {
			const v = this.slots[i];

			if (v < 0 || (this.parent[v] === parent && this.frame[v] === frame))
				return i;
		}
	}
	widen() {
		this.slots = new Int32Array(this.slots.length * 2).fill(-1);
		for (let v = 1; v < this.parent.length; v++)
			this.slots[this.slot(this.parent[v], this.frame[v])] = v;
	}
	child(parent, frame) {
		if (this.parent.length * 2 > this.slots.length) this.widen();
		const i = this.slot(parent, frame);

		if (this.slots[i] < 0) {
			this.slots[i] = this.parent.length;
			this.parent.push(parent);
			this.frame.push(frame);
		}
		return this.slots[i];
	}
	/* Neighbours share most of their path: only what differs is looked up. */
	add(path) {
		let same = 0,
			v;

		while (same < path.length && path[same] === this.last[same]) same++;
		this.last = path;
		this.lastNodes.length = same;
		v = same ? this.lastNodes[same - 1] : 0;
		for (let i = same; i < path.length; i++) {
			v = this.child(v, path[i]);
			this.lastNodes.push(v);
		}
		return v;
	}
}

/* Only the stacks with a match are left; shares stay those of the whole. */
function keepMatches(model, state) {
	const { regex } = makeRegex(state.search);

	if (!state.onlyMatches || !regex) return null;
	return matchingFrames(model, regex);
}

function buildDerived(model, state, entries, hasB, hasCount) {
	const b = new TreeBuilder(),
		at = new Uint32Array(entries.length).fill(NOWHERE);
	const matches = keepMatches(model, state),
		leaf = new Uint32Array(model.stacks).fill(NOWHERE);

	entries.forEach((entry, i) => {
		let path = framesOfStack(model, entry.stack);

		if (matches && !path.some((f) => matches[f])) return;
		path = transformPath(model, path, state.transforms);
		if (!path) return;
		if (entry.label) path = [entry.label].concat(path);
		at[i] = b.add(path);
		leaf[entry.stack] = at[i];
	});
	const tree = new Tree(model, Uint32Array.from(b.parent), Uint32Array.from(b.frame));
	const self = new Float64Array(tree.n),
		selfB = hasB ? new Float64Array(tree.n) : null;
	const count = hasCount ? new Float64Array(tree.n) : null;

	entries.forEach((entry, i) => {
		if (at[i] === NOWHERE) return;
		self[at[i]] += entry.a;
		if (selfB) selfB[at[i]] += entry.b;
		if (count) count[at[i]] += entry.n;
	});
	return { tree, self, selfB, count, leaf };
}

/*
 * { tree, leaf, sum, samples }: the tree from the root on, the node of each stack (null: the
 * stack's own number), and what all samples that pass the filters weigh.
 */
export function deriveTree(model, state) {
	const weights = weigh(model, state),
		{ sum, samples, samplesB } = weights;
	const plain = !state.transforms.length && !state.group && !keepMatches(model, state);
	let made;

	if (plain) {
		model.tree = model.tree || new Tree(model, model.parent, model.frame);
		made = {
			tree: model.tree,
			self: weights.a,
			selfB: weights.b,
			count: weights.count,
			leaf: null,
		};
	} else {
		/* Two trees of a million nodes are too many; this one can be made again. */
		model.tree = null;
		const entries = state.group
			? groupedEntries(model, state)
			: plainEntries(model, weights);

		made = buildDerived(model, state, entries, !!weights.b, !!weights.count);
	}
	made.tree.setWeights(made.self, made.selfB, made.count);
	made.tree.ownCount = made.count;
	/* Filters that match nothing of B, or a comparison of parts: the scale is that of the wholes. */
	if (weights.b) {
		let sumB = 0;

		for (const w of weights.b) sumB += w;
		made.tree.scaleB = sumB && sum ? sum / sumB : 1;
		made.tree.sumB = sumB;
	}
	return { tree: made.tree, leaf: made.leaf, sum, samples, samplesB };
}
