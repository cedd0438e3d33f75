/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown is a plain object. It is written into the URL's fragment, so a link to a view can be
 * sent, and the browser's own back button works.
 */
import { isDiff, TRANSFORMS } from "./derive.js";
import { hasStates } from "./waits.js";

const DEFAULTS = {
	view: "flame",
	icicle: false,
	reversed: false,
	order: "name",
	event: 0,
	counts: false,
	range: null,
	baseline: null,
	baselineEvent: null,
	ratioEvent: null,
	diffWidth: "both",
	absolute: false,
	filters: {},
	group: "",
	search: "",
	onlyMatches: false,
	transforms: [],
	zoom: [],
	window: null,
	function: 0,
	color: "kind",
	palette: "fathom",
	theme: "auto",
	heat: true,
	cell: 0,
	sort: "self",
	descending: true,
	mirror: false,
};

const numbers = (text) => text.split(",").map(Number);
const isNumbers = (list, n) => list.length === n && list.every(Number.isFinite);
const shortNumber = (x) => String(Number(x.toFixed(6)));

/* How each field is written; those not named here are texts, numbers or booleans. */
const CODECS = {
	range: { write: (r) => r.map(shortNumber).join(","), read: readRange },
	baseline: { write: (r) => r.map(shortNumber).join(","), read: readRange },
	window: { write: (r) => r.map((v) => Number(v.toPrecision(9))).join(","), read: readRange },
	baselineEvent: { write: String, read: (t) => (/^\d+$/.test(t) ? Number(t) : null) },
	ratioEvent: { write: String, read: (t) => (/^\d+$/.test(t) ? Number(t) : null) },
	zoom: {
		write: (z) => z.join("."),
		read: (t) => t.split(".").map(Number).filter(Number.isInteger),
	},
	transforms: {
		write: (list) => list.map((t) => t.kind + (t.frame ? "." + t.frame : "")).join(","),
		read: (text) =>
			text
				.split(",")
				.map((t) => ({
					kind: t.split(".")[0],
					frame: Number(t.split(".")[1] || 0),
				}))
				.filter(
					(t) =>
						Object.hasOwn(TRANSFORMS, t.kind) &&
						Number.isInteger(t.frame)
				),
	},
	filters: {
		write: (f) =>
			Object.entries(f)
				.filter(([, v]) => v.length)
				.map(([k, v]) => k + ":" + v.map(encodeURIComponent).join("+"))
				.join(","),
		read: readFilters,
	},
};

function readRange(text) {
	const r = numbers(text);

	return isNumbers(r, 2) && r[0] < r[1] ? r : null;
}

function readFilters(text) {
	const out = {};

	for (const part of text.split(",")) {
		const at = part.indexOf(":"),
			key = part.slice(0, at);

		if (["proc", "thr", "cpu", "cg", "comm"].includes(key))
			out[key] = part
				.slice(at + 1)
				.split("+")
				.map(decodeURIComponent);
	}
	return out;
}

function sameValue(a, b) {
	return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function writeFragment(state, from) {
	const parts = [];

	for (const key of Object.keys(DEFAULTS)) {
		if (sameValue(state[key], from[key])) continue;
		const value = state[key];
		/* "none" where the page would open with something. */
		const text =
			value === null
				? "none"
				: CODECS[key]
					? CODECS[key].write(value)
					: typeof value === "boolean"
						? value
							? "1"
							: "0"
						: String(value);

		parts.push(
			key +
				"=" +
				encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":")
		);
	}
	return "#" + parts.join("&");
}

function readValue(key, text) {
	if (CODECS[key]) return text === "none" ? null : CODECS[key].read(text);
	switch (typeof DEFAULTS[key]) {
		case "boolean":
			return text === "1";
		case "number":
			return Number.isFinite(Number(text)) ? Number(text) : DEFAULTS[key];
		default:
			return text;
	}
}

export const CHOICES = {
	view: ["flame", "time", "sandwich", "tree", "functions", "graph"],
	order: ["name", "weight", "first"],
	diffWidth: ["both", "a", "b"],
	group: ["", "comm", "pid", "tid", "cpu", "cg"],
	theme: ["auto", "light", "dark"],
	color: ["kind", "module", "name", "self", "diff", "ratio", "state", "waits", "wakers"],
	palette: ["fathom", "classic"],
};

/* Whatever is in the fragment, the state that comes out is one that can be shown. */
function sanitize(state, model) {
	const inEvents = (e) => Number.isInteger(e) && e >= 0 && e < model.events.length;

	for (const [key, choices] of Object.entries(CHOICES))
		if (!choices.includes(state[key])) state[key] = DEFAULTS[key];
	if (!inEvents(state.event)) state.event = 0;
	for (const key of ["baselineEvent", "ratioEvent"])
		if (state[key] !== null && (!inEvents(state[key]) || state[key] === state.event))
			state[key] = null;
	if (!model.hasTime) state.range = state.baseline = null;
	if (
		(state.color === "diff" && !isDiff(state)) ||
		(state.color === "ratio" && state.ratioEvent === null) ||
		(state.color === "state" && !hasStates(model))
	)
		state.color = "kind";
	const isFrame = (f) => Number.isInteger(f) && f >= 0 && f < model.frames.real;

	if (!isFrame(state.function)) state.function = 0;
	state.transforms = (state.transforms || []).filter((t) => isFrame(t.frame));
	state.filters = state.filters || {};
	state.zoom = state.zoom || [];
	if (state.window && !(state.window[0] >= 0 && state.window[1] <= 1.000001))
		state.window = null;
	return state;
}

function readFragment(text, from, model) {
	const state = structuredClone(from);

	for (const part of text.replace(/^#/, "").split("&")) {
		const at = part.indexOf("="),
			key = part.slice(0, at);

		if (at < 0 || !Object.hasOwn(DEFAULTS, key)) continue;
		try {
			state[key] = readValue(key, decodeURIComponent(part.slice(at + 1)));
		} catch {
			/* not ours: as if it were not there */
		}
	}
	return sanitize(state, model);
}

/* The state now, and what changes it. Back is the browser's. */
export class Store {
	constructor(model, initial, onChange) {
		this.model = model;
		this.initial = sanitize(Object.assign(structuredClone(DEFAULTS), initial), model);
		this.onChange = onChange;
		this.state = readFragment(location.hash, this.initial, model);
		this.depth = (history.state && history.state.depth) || 0;
		addEventListener("popstate", (e) => this.restore(e.state));
	}
	restore(saved) {
		this.depth = (saved && saved.depth) || 0;
		this.state = readFragment(location.hash, this.initial, this.model);
		this.onChange(this.state);
	}
	/* @quiet: no step of its own to go back to. */
	set(changes, quiet) {
		const next = sanitize(
			Object.assign(structuredClone(this.state), changes),
			this.model
		);

		if (sameValue(next, this.state)) return;
		this.state = next;
		this.save(quiet);
		this.onChange(next);
	}
	/* The same state in other numbers: no step, and nothing is drawn. */
	replace(changes) {
		Object.assign(this.state, changes);
		this.save(true);
	}
	save(quiet) {
		const url = writeFragment(this.state, this.initial);

		if (!quiet) this.depth++;
		try {
			history[quiet ? "replaceState" : "pushState"](
				{ depth: this.depth },
				"",
				url
			);
		} catch {
			/* some browsers refuse it for file: */
		}
	}
	back() {
		if (this.depth > 0) history.back();
	}
	/* All of the first event in the view that is open; how things look is kept. */
	reset() {
		const keep = [
			"view",
			"theme",
			"palette",
			"heat",
			"cell",
			"mirror",
			"sort",
			"descending",
			"function",
		];
		const next = structuredClone(this.initial);

		for (const key of keep) next[key] = this.state[key];
		this.set(next);
	}
}
