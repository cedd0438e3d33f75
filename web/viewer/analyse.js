/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions that are put to a tree: functions, callers, matches, edges, noise. */
import { TreeBuilder } from "./derive.js";
import { KIND } from "./model.js";
import { ReversedTree, Tree } from "./tree.js";

/*
 * Visits nodes so that each subtree is one run: parents before children, siblings in number
 * order. @enter may answer false: not into it.
 */
function walk(tree, enter, leave) {
	const next = new Uint32Array(tree.n),
		path = [0];

	for (let i = 0; i < tree.n; i++) next[i] = tree.kidStart[i];
	while (path.length) {
		const v = path[path.length - 1];

		if (next[v] < tree.kidStart[v + 1]) {
			const k = tree.kids[next[v]++];

			if (
				(tree.total[k] || (tree.totalB && tree.totalB[k])) &&
				enter(k) !== false
			)
				path.push(k);
			continue;
		}
		path.pop();
		if (v && leave) leave(v);
	}
}

/* Self and total of every function; recursion counts once. */
export function functionTable(tree) {
	const n = tree.model.frames.count,
		b = !!tree.totalB;
	const t = {
		self: new Float64Array(n),
		total: new Float64Array(n),
		selfB: b ? new Float64Array(n) : null,
		totalB: b ? new Float64Array(n) : null,
		rows: [],
	};
	const open = new Uint32Array(n),
		{ frame } = tree;

	walk(
		tree,
		(v) => {
			const f = frame[v];

			t.self[f] += tree.self[v];
			if (b) t.selfB[f] += tree.selfB[v];
			if (open[f]++) return;
			t.total[f] += tree.total[v];
			if (b) t.totalB[f] += tree.totalB[v];
		},
		(v) => {
			open[frame[v]]--;
		}
	);
	for (let f = 1; f < n; f++)
		if ((t.total[f] || (b && t.totalB[f])) && tree.model.frames.kinds[f] !== KIND.LABEL)
			t.rows.push(f);
	return t;
}

/* The topmost nodes of function @f: its own calls of itself are inside them. */
function outermost(tree, f) {
	const out = [];

	walk(tree, (v) => {
		if (tree.frame[v] !== f) return true;
		out.push(v);
		return false;
	});
	return out;
}

export function callersOf(tree, f) {
	const nodes = outermost(tree, f),
		pick = (column) => column && Float64Array.from(nodes, (v) => column[v]);

	return new ReversedTree(tree, nodes, pick(tree.total), pick(tree.totalB), pick(tree.count));
}

/* What @f calls, over all its callers: their subtrees laid on one another. */
export function calleesOf(tree, f) {
	const b = new TreeBuilder(),
		at = new Uint32Array(tree.n),
		top = b.child(0, f);
	let inside = 0;

	walk(
		tree,
		(v) => {
			if (!inside && tree.frame[v] !== f) return;
			at[v] = inside ? b.child(at[tree.parent[v]], tree.frame[v]) : top;
			inside++;
		},
		(v) => {
			if (at[v]) inside--;
		}
	);
	const out = new Tree(tree.model, Uint32Array.from(b.parent), Uint32Array.from(b.frame));
	const add = (column) => {
		if (!column) return null;
		const sums = new Float64Array(out.n);

		for (let v = 1; v < tree.n; v++) if (at[v]) sums[at[v]] += column[v];
		return sums;
	};

	out.setWeights(add(tree.self), add(tree.selfB), add(tree.ownCount));
	out.scaleB = tree.scaleB;
	return out;
}

/* --- search -------------------------------------------------------------------------------- */

/* What the matches weigh together, where one is on another counted once. */
export function matchedWeight(tree, matches) {
	const inside = new Uint8Array(tree.n);
	let sum = 0,
		boxes = 0;

	for (let v = 1; v < tree.n; v++) {
		const match = matches[tree.frame[v]];

		if (match && tree.total[v]) boxes++;
		if (inside[tree.parent[v]]) {
			inside[v] = 1;
		} else if (match) {
			inside[v] = 1;
			sum += tree.total[v];
		}
	}
	return { sum, boxes };
}

/* Matching nodes that are wide enough to be seen, in the order in which the eye meets them. */
export function matchList(tree, matches, least, most) {
	const out = [],
		stack = [0];

	while (stack.length && out.length < most) {
		const v = stack.pop();

		if (v && matches[tree.frame[v]]) out.push(v);
		tree.children(v);
		for (let i = tree.hi - 1; i >= tree.lo; i--)
			if (tree.lay[tree.kids[i]] >= least) stack.push(tree.kids[i]);
	}
	return out;
}

/* --- differences --------------------------------------------------------------------------- */

/* Standard deviations below which a difference is noise: 99 %, as fathom diff has it. */
const SURE = 2.576;

/* { share, change, noise, isNew, gone } of a node against the baseline. */
export function difference(tree, a, b, shown) {
	const now = a,
		before = b * tree.scaleB,
		{ each, eachB } = shown;
	const countNow = now / each,
		countBefore = b / eachB;
	const scale = each && eachB ? (tree.scaleB * eachB) / each : 1;
	const deviation = Math.sqrt(countNow + scale * scale * countBefore);

	return {
		before,
		delta: now - before,
		change: before ? now / before - 1 : Infinity,
		strength: (now - before) / (Math.max(now, before) || 1),
		noise: Math.abs(countNow - scale * countBefore) < SURE * deviation,
		isNew: !b && a > 0,
		gone: !a && b > 0,
	};
}

/* --- call graph ---------------------------------------------------------------------------- */

/* Functions from the root on through which everything leads, before paths part. */
export function trunkOf(tree) {
	const out = new Set();

	for (let v = 0; tree.children(v) === 1 && !tree.self[v]; ) {
		v = tree.kids[tree.lo];
		if (tree.self[v] || tree.children(v) < 1) break;
		out.add(tree.frame[v]);
	}
	return out;
}

/* Half of them because much happens below them, half because much happens in them. */
function heaviestOf(table, most, least, without) {
	const by = (column) =>
		table.rows
			.filter((f) => table.total[f] >= least && !without.has(f))
			.sort((a, b) => column[b] - column[a]);
	const chosen = new Set(by(table.total).slice(0, most / 2));

	for (const f of by(table.self)) if (chosen.size < most) chosen.add(f);
	return [...chosen].sort((a, b) => table.total[b] - table.total[a]);
}

/*
 * The @most heaviest functions and the calls between them. A call that leads through functions
 * that are not shown is an edge of its own kind. Each edge counts once in a stack.
 */
export function callEdges(tree, table, most, least, without) {
	const shown = heaviestOf(table, most, least, without);
	const index = new Map(shown.map((f, i) => [f, i]));
	const near = new Int32Array(tree.n).fill(-1),
		edges = new Map(),
		open = new Map();

	walk(
		tree,
		(v) => {
			const i = index.get(tree.frame[v]),
				from = near[tree.parent[v]];

			if (i === undefined) {
				near[v] = from;
				return;
			}
			near[v] = i;
			if (from < 0) return;
			const direct = index.get(tree.frame[tree.parent[v]]) === from;
			const key = from * most + i,
				times = open.get(key) || 0;
			let edge = edges.get(key);

			open.set(key, times + 1);
			if (times) return;
			if (!edge) edges.set(key, (edge = { from, to: i, weight: 0, direct: 0 }));
			edge.weight += tree.total[v];
			edge.direct += direct ? tree.total[v] : 0;
		},
		(v) => {
			const i = index.get(tree.frame[v]),
				from = near[tree.parent[v]];

			if (i !== undefined && from >= 0) {
				const key = from * most + i;

				open.set(key, open.get(key) - 1);
			}
		}
	);
	return { shown, edges: [...edges.values()], hidden: hiddenPart(table, index) };
}

function hiddenPart(table, index) {
	let functions = 0,
		self = 0;

	for (const f of table.rows) {
		if (index.has(f)) continue;
		functions++;
		self += table.self[f];
	}
	return { functions, self };
}
