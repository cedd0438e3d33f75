/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes that export_model() wrote -> the model that every view reads. Stacks are nodes of a
 * tree in depth-first order; node 0 is the root of all and has frame 0.
 */
import { countFormat, fmtCount, fmtLarge, fmtNs, fmtScaled } from "./util.js";

/* As many and in the order of enum frame_kind. */
export const KIND = {
	USER: 0,
	KERNEL: 1,
	JIT: 2,
	INTERPRETED: 3,
	INLINED: 4,
	HYPERVISOR: 5,
	GUEST_KERNEL: 6,
	GUEST_USER: 7,
	MARKER: 8 /* those after it are only in the page */,
	LABEL: 9,
	CPP: 10,
	MODULE: 11,
	WAKER: 12,
};
export const KIND_NAMES = [
	"user",
	"kernel",
	"JIT",
	"interpreted",
	"inlined",
	"hypervisor",
	"guest's kernel",
	"guest's user code",
	"divider",
	"label",
	"C++",
	"module",
	"waker",
];

const TYPES = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

/* Room for @before more items in front of the column's own. */
function readColumn(spec, buffer, offset, before) {
	const n = spec.items;

	if (spec.constant !== undefined) {
		const most = spec.constant;
		const Type =
			most < 256 ? Uint8Array : most < 4294967296 ? Uint32Array : Float64Array;

		return new Type(n + before).fill(most, before);
	}
	if (spec.bytes === 8) {
		const halves = new Uint32Array(buffer, offset + spec.at, n * 2);
		const out = new Float64Array(n + before);

		for (let i = 0; i < n; i++)
			out[i + before] = halves[2 * i] + halves[2 * i + 1] * 4294967296;
		return out;
	}
	const view = new TYPES[spec.bytes](buffer, offset + spec.at, n);

	if (!before) return view;
	const out = new TYPES[spec.bytes](n + before);

	out.set(view, before);
	return out;
}

function parentsOf(depth) {
	const n = depth.length,
		parent = new Uint32Array(n);
	let deepest = 0;

	for (let i = 1; i < n; i++) if (depth[i] > deepest) deepest = depth[i];
	const at = new Uint32Array(deepest + 1);

	for (let i = 1; i < n; i++) {
		const d = depth[i];

		parent[i] = at[d - 1];
		at[d] = i;
	}
	return { parent, deepest };
}

/* Seconds since the first sample. */
function timesOf(deltas, stepNs) {
	const times = new Float64Array(deltas.length);
	let steps = 0;

	for (let i = 0; i < deltas.length; i++) {
		steps += deltas[i];
		times[i] = (steps * stepNs) / 1e9;
	}
	return times;
}

class Frames {
	constructor(names, modules, files, lines, kinds, unnamed, strings) {
		this.names = Array.from(names, (id) => strings[id]);
		this.modules = Array.from(modules, (id) => strings[id]);
		this.files = Array.from(files, (id) => strings[id]);
		this.lines = Array.from(lines);
		this.kinds = Array.from(kinds);
		this.unnamed = unnamed;
		this.real = this.names.length;
		this.labels = new Map();
		this.ranks = null;
		this.names[0] = "all";
		this.kinds[0] = KIND.LABEL;
		for (let i = 1; i < this.real; i++) this.refineKind(i);
	}
	/* What only the name tells: C++, dividers between a sleeper and its waker, wakers. */
	refineKind(f) {
		const name = this.names[f];

		if (name === "-" || name === "--") {
			this.kinds[f] = KIND.MARKER;
		} else if (name.endsWith("_[w]")) {
			this.kinds[f] = KIND.WAKER;
			this.names[f] = name.slice(0, -4);
		} else if (this.kinds[f] === KIND.USER && /::|^[^<].*<.*>/.test(name)) {
			this.kinds[f] = KIND.CPP;
		}
	}
	/* A frame that is not code: "git-1234", "CPU 3". */
	label(text, kind, module) {
		const key = kind + text;
		let id = this.labels.get(key);

		if (id === undefined) {
			id = this.names.length;
			this.names.push(text);
			this.modules.push(module || "");
			this.files.push("");
			this.lines.push(0);
			this.kinds.push(kind);
			this.labels.set(key, id);
			this.ranks = null;
		}
		return id;
	}
	get count() {
		return this.names.length;
	}
	/* Frame -> its place in alphabetical order. */
	rank() {
		if (this.ranks) return this.ranks;
		const ids = Uint32Array.from(this.names, (_, i) => i),
			names = this.names;

		ids.sort((a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b));
		this.ranks = new Uint32Array(ids.length);
		for (let i = 0; i < ids.length; i++) this.ranks[ids[i]] = i;
		return this.ranks;
	}
	place(f) {
		const file = this.files[f];

		return file ? file + (this.lines[f] ? ":" + this.lines[f] : "") : "";
	}
}

function readThreads(header) {
	return header.threads.map(([pid, tid, comm, cgroup]) => ({
		pid,
		tid,
		comm: header.strings[comm],
		cgroup: header.strings[cgroup],
	}));
}

function readSamples(col, header) {
	const s = {
		time: timesOf(col("time"), header.time_step_ns),
		stack: col("stack"),
		thread: col("thread"),
		cpu: col("cpu"),
		event: col("event"),
		weight: col("weight"),
		count: col("count"),
	};

	s.n = s.stack.length;
	s.merged = header.columns.count.constant !== 1 && s.n > 0;
	return s;
}

/* What a sample of each event weighs, when that is the same for all of them, else 0. */
function constantWeights(samples, events) {
	const each = new Array(events.length).fill(undefined);

	for (let i = 0; i < samples.n; i++) {
		const e = samples.event[i],
			w = samples.weight[i] / samples.count[i];

		if (each[e] === undefined) each[e] = w;
		else if (each[e] !== w) each[e] = 0;
	}
	return each.map((w) => w || 0);
}

const WAKERS_EVENT = "offwake-time";

/* The number of the event whose stacks go on to the wakers; null: there is none. */
function wakersEvent(model) {
	const ev = model.events.findIndex((e) => e.name === WAKERS_EVENT && e.samples);

	return ev < 0 ? null : ev;
}

export function readModel(bytes) {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

	if (
		bytes.length < 12 ||
		view.getUint32(0, false) !== 0x4654484d ||
		view.getUint32(4, true) !== 1
	)
		throw new Error("this is not the data of a profile");
	const length = view.getUint32(8, true);
	const header = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
	const offset = bytes.byteOffset + 12 + length;
	const col = (name, before) =>
		readColumn(header.columns[name], bytes.buffer, offset, before || 0);
	const depth = col("depth", 1);
	const { parent, deepest } = parentsOf(depth);
	const model = {
		facts: header.facts,
		events: header.events,
		threads: readThreads(header),
		depth,
		parent,
		deepest,
		frame: col("frame", 1),
		stacks: depth.length,
		samples: readSamples(col, header),
		hasTime: header.has_time,
	};

	model.frames = new Frames(
		col("name", 1),
		col("module", 1),
		col("file", 1),
		col("line", 1),
		col("kind", 1),
		col("no_name", 1),
		header.strings
	);
	model.wakers = wakersEvent(model);
	model.each = constantWeights(model.samples, model.events);
	model.hasTime = model.hasTime && !model.samples.merged;
	model.span = model.hasTime ? model.samples.time[model.samples.n - 1] : 0;
	return model;
}

/* Frame -> whether its name matches; null: nothing is searched for. */
export function matchingFrames(model, regex) {
	if (!regex) return null;
	return Uint8Array.from(model.frames.names, (name, f) => (f && regex.test(name) ? 1 : 0));
}

/* How weights of an event are shown. */
export function unitOf(model, event, byCount) {
	const ev = model.events[event] || { unit: "", name: "samples", samples: 0, weight: 0 };

	if (byCount) return { scale: 1, show: (w) => fmtCount(w) + " samples", name: "samples" };
	if (ev.unit === "ns") return { scale: 1, show: fmtNs, name: "time" };
	if (ev.unit === "bytes")
		return {
			scale: 1,
			name: "bytes",
			show: (w) => fmtScaled(w, [" B", " KiB", " MiB", " GiB", " TiB"], 1024),
		};
	if (ev.unit === "thousandths" || ev.unit === "millionths") {
		const scale = ev.unit === "thousandths" ? 1e-3 : 1e-6;

		return {
			scale,
			show: (w) => countFormat.format(w * scale) + " samples",
			name: "samples",
		};
	}
	if (ev.weight === ev.samples)
		return { scale: 1, show: (w) => fmtCount(w) + " samples", name: "samples" };
	return {
		scale: 1,
		show: (w) => fmtLarge(w) + " " + (ev.unit || ev.name),
		name: ev.unit || ev.name,
	};
}
