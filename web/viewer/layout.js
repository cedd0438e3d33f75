/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the boxes of a call graph go: layers from callers to callees, in each an order with few
 * crossings, then places. Links that matter most become vertical, as many as can be without
 * crossing one another, so a hot path is a straight column; the columns are drawn to what they
 * call and are called by, and pushed apart where they come too close.
 *
 * nodes: { id, w, total }, heaviest first; points of arcs that pass a layer are added to them.
 */

export const BOX = { h: 40, gapY: 54, pad: 12, most: 30, least: 176 };

const LAYOUT = {
	gap: 24 /* between boxes */,
	pointGap: 9 /* beside arcs that pass */,
	pointWidth: 8,
	widthLeast: 1100,
	sweeps: 24,
	swaps: 8,
	rounds: 240,
	closeRanks: 0.02,
};

/* Most of it leads through functions that are not shown. */
export const isIndirect = (e) => e.direct < e.weight * 0.5;

/* --- layers -------------------------------------------------------------------------------- */

/* Turns round the edges that would close a cycle. */
function breakCycles(n, edges) {
	const out = Array.from({ length: n }, () => []),
		mark = new Uint8Array(n);

	for (const e of edges) if (e.from !== e.to) out[e.from].push(e);
	for (const list of out) list.sort((x, y) => y.weight - x.weight);
	const visit = (start) => {
		const path = [[start, 0]];

		mark[start] = 1;
		while (path.length) {
			const top = path[path.length - 1],
				[v, i] = top;

			if (i >= out[v].length) {
				mark[v] = 2;
				path.pop();
				continue;
			}
			top[1]++;
			const e = out[v][i];

			if (mark[e.to] === 1) {
				e.back = true;
			} else if (!mark[e.to]) {
				mark[e.to] = 1;
				path.push([e.to, 0]);
			}
		}
	};
	const called = new Set(edges.filter((e) => e.from !== e.to).map((e) => e.to));

	for (let v = 0; v < n; v++) if (!called.has(v) && !mark[v]) visit(v);
	for (let v = 0; v < n; v++) if (!mark[v]) visit(v);
}

export const upperOf = (e) => (e.back ? e.to : e.from);
export const lowerOf = (e) => (e.back ? e.from : e.to);

/* As low as the longest chain of calls to it. */
function assignLayers(n, edges) {
	const layer = new Int32Array(n);

	for (let round = 0, changed = true; round < n && changed; round++) {
		changed = false;
		for (const e of edges) {
			if (e.from === e.to || layer[lowerOf(e)] > layer[upperOf(e)]) continue;
			layer[lowerOf(e)] = layer[upperOf(e)] + 1;
			changed = true;
		}
	}
	return layer;
}

/* Where a layer is full, the lighter functions go further down. */
function spreadLayers(nodes, edges, layer) {
	const area = nodes.reduce((sum, n) => sum + (n.w + LAYOUT.gap) * (BOX.h + BOX.gapY), 0),
		limit = Math.max(LAYOUT.widthLeast, Math.sqrt(area) * 1.2),
		used = [],
		out = nodes.map(() => []);

	for (const e of edges) if (e.from !== e.to) out[upperOf(e)].push(lowerOf(e));
	const order = nodes
		.map((n) => [layer[n.id], n.id])
		.sort((x, y) => x[0] - y[0] || x[1] - y[1]);

	for (const [, id] of order) {
		const w = nodes[id].w + LAYOUT.gap;

		while (used[layer[id]] && used[layer[id]] + w > limit) layer[id]++;
		used[layer[id]] = (used[layer[id]] || 0) + w;
		for (const below of out[id]) layer[below] = Math.max(layer[below], layer[id] + 1);
	}
}

/* What nothing calls comes down to what it calls. */
function lowerRoots(edges, layer) {
	const called = new Set(edges.filter((e) => e.from !== e.to).map(lowerOf)),
		calls = new Map();

	for (const e of edges) {
		if (e.from === e.to || called.has(upperOf(e))) continue;
		const below = layer[lowerOf(e)];

		calls.set(upperOf(e), Math.min(below, calls.get(upperOf(e)) ?? below));
	}
	for (const [id, below] of calls) layer[id] = below - 1;
}

/* Edges over several layers go through points of their own in those between. */
function addPoints(nodes, edges, whole) {
	const links = [];
	const add = (up, down, { weight }, end) => {
		links.push({ up, down, end, weight: 0.01 + (whole ? weight / whole : 0) });
	};

	for (const e of edges) {
		if (e.from === e.to) continue;
		const end = nodes[lowerOf(e)].layer;
		let last = upperOf(e);

		e.points = [];
		for (let l = nodes[last].layer + 1; l < end; l++) {
			const id = nodes.length;

			nodes.push({ id, layer: l, w: LAYOUT.pointWidth, point: true });
			add(last, id, e, end);
			e.points.push(id);
			last = id;
		}
		add(last, lowerOf(e), e, end);
	}
	return links;
}

/* --- order --------------------------------------------------------------------------------- */

class LayerOrder {
	constructor(nodes, links) {
		this.nodes = nodes;
		this.layers = [];
		this.up = nodes.map(() => []);
		this.down = nodes.map(() => []);
		for (const k of links) {
			this.down[k.up].push(k);
			this.up[k.down].push(k);
		}
		for (const n of nodes) this.layers[n.layer] = [];
		/* roots may have come down from all of the first layers */
		this.layers = Array.from(this.layers, (list) => list || []);
		this.begin();
	}
	/*
	 * As a walk from the roots meets them, the heaviest callee in the middle of its siblings,
	 * those of one layer kept apart by those of others.
	 */
	begin() {
		const seen = new Uint8Array(this.nodes.length);

		for (const list of this.down) {
			const sorted = list.slice().sort((x, y) => y.weight - x.weight),
				middle = (list.length - 1) >> 1,
				ranks = new Map();

			for (const k of sorted) {
				k.rank = ranks.get(k.end) || 0;
				ranks.set(k.end, k.rank + 1);
			}
			sorted.sort((x, y) => x.rank - y.rank || y.weight - x.weight);
			sorted.forEach((k, i) => {
				list[middle + (i & 1 ? 1 : -1) * ((i + 1) >> 1)] = k;
			});
		}
		for (const root of this.nodes) {
			if (this.up[root.id].length) continue;
			const path = [root.id];

			while (path.length) {
				const id = path.pop();

				if (seen[id]) continue;
				seen[id] = 1;
				this.layers[this.nodes[id].layer].push(this.nodes[id]);
				for (let i = this.down[id].length - 1; i >= 0; i--)
					path.push(this.down[id][i].down);
			}
		}
		this.layers.forEach((list) => this.number(list));
	}
	number(list) {
		list.forEach((n, i) => {
			n.at = i;
		});
	}
	sort(list, side, end) {
		for (const n of list) {
			let sum = 0,
				weight = 0;

			for (const k of side[n.id]) {
				sum += k.weight * this.nodes[k[end]].at;
				weight += k.weight;
			}
			n.key = weight ? sum / weight : n.at;
		}
		list.sort((x, y) => x.key - y.key || x.at - y.at);
		this.number(list);
	}
	sweep(down) {
		const { layers } = this;

		if (down)
			for (let i = 1; i < layers.length; i++) this.sort(layers[i], this.up, "up");
		else
			for (let i = layers.length - 2; i >= 0; i--)
				this.sort(layers[i], this.down, "down");
	}
	/* What links of @a would cross of those of @b if it stood at its left. */
	crossed(a, b, side, end) {
		let sum = 0;

		for (const x of side[a.id])
			for (const y of side[b.id])
				if (this.nodes[y[end]].at < this.nodes[x[end]].at)
					sum += x.weight * y.weight;
		return sum;
	}
	both(a, b) {
		return this.crossed(a, b, this.up, "up") + this.crossed(a, b, this.down, "down");
	}
	crossings() {
		let sum = 0;

		for (const list of this.layers)
			for (let i = 0; i < list.length; i++)
				for (let k = i + 1; k < list.length; k++)
					sum += this.crossed(list[i], list[k], this.down, "down");
		return sum;
	}
	swap() {
		for (let round = 0, changed = true; round < LAYOUT.swaps && changed; round++) {
			changed = false;
			for (const list of this.layers)
				for (let i = 0; i + 1 < list.length; i++) {
					const [a, b] = [list[i], list[i + 1]];

					if (this.both(b, a) + 1e-12 >= this.both(a, b)) continue;
					[list[i], list[i + 1]] = [b, a];
					[b.at, a.at] = [i, i + 1];
					changed = true;
				}
		}
	}
	run() {
		let best = this.layers.map((list) => list.slice()),
			least = this.crossings();

		for (let i = 0; i < LAYOUT.sweeps && least > 0; i++) {
			this.sweep(!(i & 1));
			if (i % 4 === 3) this.swap();
			const now = this.crossings();

			if (now >= least) continue;
			least = now;
			best = this.layers.map((list) => list.slice());
		}
		this.layers = best;
		this.layers.forEach((list) => this.number(list));
		this.swap();
	}
}

/* --- places -------------------------------------------------------------------------------- */

/* The links of a layer that become vertical: the most important first, none across another. */
function alignLayer(nodes, list, down, above) {
	const rank = (k) => {
		const points = !!nodes[k.up].point + !!nodes[k.down].point;

		return k.weight * [1, 2, 8][points];
	};
	const partner = [],
		links = list.flatMap((n) => down[n.id]).sort((x, y) => rank(y) - rank(x));

	for (const k of links) {
		const up = nodes[k.up].at,
			at = nodes[k.down].at;

		if (partner[up] !== undefined || above[k.down] >= 0) continue;
		let left = up,
			right = up;

		while (left >= 0 && partner[left] === undefined) left--;
		while (right < list.length && partner[right] === undefined) right++;
		if (
			(left >= 0 && partner[left] >= at) ||
			(right < list.length && partner[right] <= at)
		)
			continue;
		partner[up] = at;
		above[k.down] = k.up;
	}
}

class Columns {
	constructor(nodes, order, links) {
		const above = new Int32Array(nodes.length).fill(-1);

		order.layers.forEach((list) => alignLayer(nodes, list, order.down, above));
		this.n = 0;
		for (const list of order.layers)
			for (const n of list)
				n.column = above[n.id] >= 0 ? nodes[above[n.id]].column : this.n++;
		this.x = new Float64Array(this.n);
		this.weight = new Float64Array(this.n);
		this.pulls = [];
		this.apart = [];
		this.lefts = Array.from(this.x, () => []);
		this.rights = Array.from(this.x, () => []);
		for (const list of order.layers)
			for (let i = 1; i < list.length; i++) this.keepOff(list[i - 1], list[i]);
		for (const k of links)
			this.pull(nodes[k.up].column, nodes[k.down].column, 0, k.weight);
		this.sort();
	}
	keepOff(a, b) {
		const gap = (a.w + b.w) / 2 + (a.point || b.point ? LAYOUT.pointGap : LAYOUT.gap),
			k = { left: a.column, right: b.column, gap };

		this.apart.push(k);
		this.lefts[k.right].push(k);
		this.rights[k.left].push(k);
		this.pull(k.left, k.right, gap, LAYOUT.closeRanks);
	}
	/* Column @b would be @off to the right of @a. */
	pull(a, b, off, weight) {
		if (a === b) return;
		this.pulls.push({ a, b, off, weight });
		this.weight[a] += weight;
		this.weight[b] += weight;
	}
	/* Each after all that are left of it. */
	sort() {
		const waiting = this.lefts.map((list) => list.length);

		this.sorted = [];
		waiting.forEach((n, i) => n || this.sorted.push(i));
		for (let i = 0; i < this.sorted.length; i++)
			for (const k of this.rights[this.sorted[i]])
				if (!--waiting[k.right]) this.sorted.push(k.right);
	}
	leftEnd(x, i) {
		return this.lefts[i].reduce((end, k) => Math.max(end, x[k.left] + k.gap), -Infinity);
	}
	rightEnd(x, i) {
		return this.rights[i].reduce((end, k) => Math.min(end, x[k.right] - k.gap), Infinity);
	}
	/* Between two places where nothing overlaps lies another such place. */
	makeRoom() {
		const { x, sorted } = this,
			other = x.slice();

		for (const i of sorted) x[i] = Math.max(x[i], this.leftEnd(x, i));
		for (const i of sorted.slice().reverse())
			other[i] = Math.min(other[i], this.rightEnd(other, i));
		x.forEach((v, i) => {
			x[i] = (v + other[i]) / 2;
		});
	}
	wishes() {
		const { x, weight } = this,
			wish = new Float64Array(this.n);

		for (const p of this.pulls) {
			wish[p.a] += p.weight * (x[p.b] - p.off);
			wish[p.b] += p.weight * (x[p.a] + p.off);
		}
		return wish.map((v, i) => (weight[i] ? v / weight[i] : x[i]));
	}
	settle() {
		const { x } = this;

		this.makeRoom();
		for (let round = 0; round < LAYOUT.rounds; round++) {
			const wish = this.wishes();

			for (let i = 0; i < this.n; i++) x[i] += (wish[i] - x[i]) / 2;
			for (let k = 0; k < 3; k++) this.pushApart();
		}
		this.makeRoom();
		for (let round = 0; round < 10; round++) {
			const wish = this.wishes();

			for (const i of round & 1 ? this.sorted.slice().reverse() : this.sorted)
				x[i] = Math.min(
					Math.max(wish[i], this.leftEnd(x, i)),
					this.rightEnd(x, i)
				);
		}
	}
	pushApart() {
		const { x } = this;

		for (const k of this.apart) {
			const missing = k.gap - (x[k.right] - x[k.left]);

			if (missing <= 0) continue;
			x[k.left] -= missing / 2;
			x[k.right] += missing / 2;
		}
	}
}

export function layoutGraph(edges, nodes, whole) {
	breakCycles(nodes.length, edges);
	const layer = assignLayers(nodes.length, edges);

	spreadLayers(nodes, edges, layer);
	lowerRoots(edges, layer);
	nodes.forEach((n, i) => {
		n.layer = layer[i];
	});
	const links = addPoints(nodes, edges, whole),
		order = new LayerOrder(nodes, links);

	order.run();
	const columns = new Columns(nodes, order, links);

	columns.settle();
	for (const n of nodes) {
		n.x = columns.x[n.column];
		n.y = n.layer * (BOX.h + BOX.gapY);
	}
}

/*
 * Takes away edges through hidden functions where others lead the same way; says how many. Edges
 * are visited lightest first.
 */
export function thinEdges(n, edges, isIndirect) {
	const kept = new Set(edges);
	const bridged = (edge) => {
		const seen = new Set([edge.from]),
			todo = [edge.from];

		while (todo.length) {
			const v = todo.pop();

			for (const e of kept) {
				if (e === edge || e.from !== v || seen.has(e.to)) continue;
				if (e.to === edge.to) return true;
				seen.add(e.to);
				todo.push(e.to);
			}
		}
		return false;
	};

	for (const e of edges.slice().sort((x, y) => x.weight - y.weight))
		if (isIndirect(e) && e.from !== e.to && bridged(e)) kept.delete(e);
	return edges.filter((e) => kept.has(e));
}
