/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waiting. Stacks of a graph of hot and cold end in a mark that says what the thread did there; in
 * stacks of waits a divider separates the waiter from its waker.
 */
import { KIND } from "./model.js";
import { ReversedTree } from "./tree.js";
import { fmtPercent } from "./util.js";
import { waitLook } from "./waitlooks.js";

export const DIVIDER = "--";
export const NOT_SAMPLED = "[not sampled]";
/* In the order of STATE_WORDS. */
const STATE_MARKS = ["[on CPU]", "[waiting for a CPU]", "[blocked]", "[not known]"];
const STATE_WORDS = ["on CPU", "waiting for a CPU", "blocked", "not known"];
export const STATE = { ON_CPU: 0, RUNQ: 1, BLOCKED: 2, UNKNOWN: 3, KINDS: 4 };
const KIND_MARK = /^\[blocked: (.*)\]$/;

/* Frame -> the state that it marks, -1: none. Kinds of waits are states of their own. */
function marksOf(model) {
	if (model.marks) return model.marks;
	const { names, kinds, real } = model.frames;

	model.waitKinds = [];
	model.marks = Int8Array.from({ length: real }, (_, f) => {
		if (kinds[f] !== KIND.MARKER) return -1;
		const kind = KIND_MARK.exec(names[f]);

		if (!kind) return STATE_MARKS.indexOf(names[f]);
		if (!model.waitKinds.includes(kind[1])) model.waitKinds.push(kind[1]);
		return STATE.KINDS + model.waitKinds.indexOf(kind[1]);
	});
	model.hasStates = model.marks.some((m) => m >= 0);
	return model.marks;
}

function statesIn(model) {
	marksOf(model);
	return STATE.KINDS + model.waitKinds.length;
}

/* [words, hue, chroma and lightness] of each state that a kind of wait is. */
export function waitLooks(model) {
	marksOf(model);
	return model.waitKinds.map(waitLook);
}

export function stateWords(model) {
	marksOf(model);
	return STATE_WORDS.concat(model.waitKinds.map((name) => "blocked: " + name));
}

export function isBlocked(state) {
	return state === STATE.BLOCKED || state >= STATE.KINDS;
}

function blockedIn(w) {
	return w.reduce((sum, x, s) => sum + (isBlocked(s) ? x : 0), 0);
}

export function hasStates(model) {
	marksOf(model);
	return model.hasStates;
}

export function markOf(model, f) {
	return f < model.frames.real ? marksOf(model)[f] : -1;
}

/* By node: the weight of each state. A mark tells about all on it and all below it. */
function statesOf(tree) {
	if (tree.states && tree.statesFor === tree.self) return tree.states;
	const { n, parent, frame, self } = tree,
		own = new Int8Array(n).fill(-1),
		STATES = statesIn(tree.model),
		sums = new Float64Array(n * STATES);

	for (let v = 1; v < n; v++)
		own[v] = own[parent[v]] >= 0 ? own[parent[v]] : markOf(tree.model, frame[v]);
	for (let v = n - 1; v >= 0; v--) {
		sums[v * STATES + (own[v] < 0 ? STATE.UNKNOWN : own[v])] += self[v];
		if (!v) break;
		for (let s = 0; s < STATES; s++)
			sums[parent[v] * STATES + s] += sums[v * STATES + s];
	}
	tree.states = sums;
	tree.statesFor = self;
	return sums;
}

/* Weights by state at a node; null: it is not one of a graph of hot and cold. */
export function stateWeights(tree, v) {
	if (!hasStates(tree.model)) return null;
	if (!(tree instanceof ReversedTree)) {
		const all = statesOf(tree),
			STATES = statesIn(tree.model),
			out = all.subarray(v * STATES, (v + 1) * STATES);

		return out[STATE.ON_CPU] + out[STATE.RUNQ] + blockedIn(out) || isMarked(tree, v)
			? out
			: null;
	}
	/* from the leaves on, the mark is at the root */
	for (let u = v; u; u = tree.parent[u]) {
		const mark = markOf(tree.model, tree.frame[u]);

		if (mark < 0) continue;
		const out = new Float64Array(statesIn(tree.model));

		out[mark] = tree.total[v];
		return out;
	}
	return null;
}

/* Only the mark for what is not known is on it. */
function isMarked(tree, v) {
	const { names } = tree.model.frames;

	for (let u = v; ; ) {
		if (markOf(tree.model, tree.frame[u]) >= 0) return true;
		if (tree.children(u) !== 1 || names[tree.frame[u]] === DIVIDER) return false;
		u = tree.kids[tree.lo];
	}
}

/* Lines [what, value] about the states of a node. */
export function stateFacts(app, tree, v) {
	const w = app.state.counts ? null : stateWeights(tree, v);

	if (!w) return [];
	return stateWords(tree.model)
		.map((words, s) => [words, w[s]])
		.filter(([, ns]) => ns > 0)
		.map(([words, ns]) => [
			words,
			app.shown.unit.show(ns) + "  (" + fmtPercent(ns / (tree.total[v] || 1)) + ")",
		]);
}

/* " 12.3%" of all that is shown. */
export function stateShare(shown, s) {
	const w = shown.state.counts ? null : stateWeights(shown.tree, 0);

	return w && shown.sum ? " " + fmtPercent(w[s] / shown.sum) : "";
}

/* Each divider leads from who waited to its waker, or from there to where that one waited. */
export function isWaker(tree, v) {
	const { names } = tree.model.frames;

	if (tree instanceof ReversedTree) {
		/* a stack with wakers ends in one */
		let waker = hasDivider(tree.model);

		for (let u = v; u; u = tree.parent[u])
			if (names[tree.frame[u]] === DIVIDER) waker = !waker;
		return waker;
	}
	if (!tree.wakers || tree.wakers.length !== tree.n) {
		tree.wakers = new Uint8Array(tree.n);
		for (let u = 1; u < tree.n; u++)
			tree.wakers[u] =
				tree.wakers[tree.parent[u]] ^
				(names[tree.frame[u]] === DIVIDER ? 1 : 0);
	}
	return tree.wakers[v] === 1;
}

function hasDivider(model) {
	if (model.divided === undefined)
		model.divided = model.frames.names.slice(0, model.frames.real).includes(DIVIDER);
	return model.divided;
}

/* --- from a wait to its waker ------------------------------------------------------------ */

/* Time that was spent blocked is on the box. */
export function hasWakers(app, tree, v) {
	const { model, state } = app;

	if (model.wakers === null || !tree || v <= 0 || tree instanceof ReversedTree) return false;
	switch (model.events[state.event].name) {
		case "offcpu-time":
			return true;
		case "wall-time": {
			const w = stateWeights(tree, v);

			return !!w && blockedIn(w) > 0;
		}
	}
	return false;
}

/* Shows the same box among the stacks that continue to its waker, with that above the divider. */
export function showWakers(app, tree, v) {
	const path = tree.path(v).filter((f) => markOf(app.model, f) < 0);

	app.store.set({
		view: "flame",
		event: app.model.wakers,
		counts: false,
		reversed: false,
		baselineEvent: null,
		ratioEvent: null,
		baseline: null,
		zoom: path,
		window: null,
		color: "waits",
	});
	if (app.tree.depthOf(app.tree.follow(path)) < path.length) {
		app.store.back();
		app.toast("no waker was seen there");
	}
}
