/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trees of calls. Node 0 is the root; a node's parent has a smaller number. Children are put in
 * order, and get their place, when they are first checked: a picture of a million nodes touches
 * only those that are wider than a pixel.
 *
 * Weights: self and total of what is shown, selfB and totalB of what it is compared with (or
 * null), and lay, the width that a box gets.
 */
import { firstIndex } from "./util.js";

export class Tree {
	constructor(model, parent, frame) {
		this.model = model;
		this.n = parent.length;
		this.parent = parent;
		this.frame = frame;
		this.lo = this.hi = 0;
		this.order = "name";
		this.stamp = 1;
		this.linkChildren();
	}
	/* Counting sort by parent: the children of v are kids[kidStart[v]] and on. */
	linkChildren() {
		const { n, parent } = this,
			start = new Uint32Array(n + 1),
			kids = new Uint32Array(n);

		for (let i = 1; i < n; i++) start[parent[i] + 1]++;
		for (let i = 0; i < n; i++) start[i + 1] += start[i];
		for (let i = 1; i < n; i++) kids[start[parent[i]]++] = i;
		/* Each start has moved to the next one's place. */
		start.copyWithin(1, 0, n);
		start[0] = 0;
		this.kidStart = start;
		this.kids = kids;
		this.start = new Float64Array(n);
		this.stamps = new Uint8Array(n);
	}
	/* Takes over the arrays of self weights; b and count may be null. */
	setWeights(self, selfB, count) {
		this.self = self;
		this.total = this.summed(self);
		this.selfB = selfB;
		this.totalB = selfB ? this.summed(selfB) : null;
		this.count = count ? this.summed(count) : null;
		this.scaleB = selfB && this.totalB[0] ? this.total[0] / this.totalB[0] || 1 : 1;
		this.setWidths("a");
	}
	summed(self) {
		const total = self.slice(),
			parent = this.parent;

		for (let i = this.n - 1; i > 0; i--) total[parent[i]] += total[i];
		return total;
	}
	/* What boxes are as wide as: a, b (scaled), or both: whatever is more in each stack. */
	setWidths(which) {
		if (which === "a" || !this.selfB) {
			this.lay = this.total;
		} else {
			const both = new Float64Array(this.n),
				s = this.scaleB;

			for (let i = 0; i < this.n; i++)
				both[i] =
					which === "b"
						? this.selfB[i] * s
						: Math.max(this.self[i], this.selfB[i] * s);
			this.lay = this.summed(both);
		}
		this.forgetOrder();
	}
	setOrder(order) {
		if (this.order !== order) {
			this.order = order;
			this.forgetOrder();
		}
	}
	forgetOrder() {
		this.stamp = (this.stamp % 255) + 1;
		if (this.stamp === 1) this.stamps.fill(0);
		this.start[0] = 0;
	}
	/* Sets lo and hi: the children of v are kids[lo..hi), in order, only those with a width. */
	children(v) {
		const lo = this.kidStart[v];
		let hi = this.kidStart[v + 1];

		if (this.stamps[v] !== this.stamp) this.arrange(v, lo, hi);
		/* Those without a width are at the end. */
		if (hi > lo && !this.lay[this.kids[hi - 1]])
			hi = firstIndex(lo, hi, (i) => !this.lay[this.kids[i]]);
		this.lo = lo;
		this.hi = hi;
		return hi - lo;
	}
	arrange(v, lo, hi) {
		const { kids, lay, start } = this;
		let end = lo;

		for (let i = lo; i < hi; i++) {
			const k = kids[i];

			if (lay[k]) {
				kids[i] = kids[end];
				kids[end++] = k;
			}
		}
		if (end - lo > 1) this.sortKids(lo, end);
		for (let i = lo, x = start[v]; i < end; i++) {
			start[kids[i]] = x;
			x += lay[kids[i]];
		}
		this.stamps[v] = this.stamp;
	}
	sortKids(lo, hi) {
		const { kids, lay, frame } = this,
			rank = this.model.frames.rank();
		const compare =
			this.order === "weight"
				? (a, b) => lay[b] - lay[a] || rank[frame[a]] - rank[frame[b]]
				: this.order === "first"
					? (a, b) => a - b
					: (a, b) => rank[frame[a]] - rank[frame[b]] || a - b;

		if (hi - lo > 12) {
			kids.subarray(lo, hi).sort(compare);
			return;
		}
		for (let i = lo + 1; i < hi; i++) {
			const k = kids[i];
			let j = i;

			for (; j > lo && compare(kids[j - 1], k) > 0; j--) kids[j] = kids[j - 1];
			kids[j] = k;
		}
	}
	/* Frames from below the root to v. */
	path(v) {
		const out = [];

		for (; v; v = this.parent[v]) out.push(this.frame[v]);
		return out.reverse();
	}
	/* The node that a path of frames leads to, as far as it leads. */
	follow(path) {
		let v = 0;

		for (const f of path) {
			const next = this.childOf(v, f);

			if (next < 0) break;
			v = next;
		}
		return v;
	}
	childOf(v, frame) {
		this.children(v);
		for (let i = this.lo; i < this.hi; i++)
			if (this.frame[this.kids[i]] === frame) return this.kids[i];
		return -1;
	}
	/* Sees to it that start[v] is set. */
	locate(v) {
		const path = [];

		for (; v; v = this.parent[v]) path.push(this.parent[v]);
		for (const p of path.reverse()) this.children(p);
	}
	depthOf(v) {
		let d = 0;

		for (; v; v = this.parent[v]) d++;
		return d;
	}
	samplesOf(v, each) {
		return this.count ? this.count[v] : this.total[v] / (each || 1);
	}
}

/*
 * The same samples from the leaf on: below each function stand those that called it. Grown where
 * it is checked. Every node owns a range of entries (a node of the tree it was made from, and
 * weights); its children share that range out among themselves, so entries are sorted in place.
 */
export class ReversedTree extends Tree {
	/* @nodes: where the stacks that count begin. For all of a tree: the nodes with self weight. */
	constructor(source, nodes, weights, weightsB, counts) {
		super(source.model, new Uint32Array(1), new Uint32Array(1));
		this.source = source;
		this.grows = true;
		this.at = Uint32Array.from(nodes);
		this.weightA = weights;
		this.weightB = weightsB;
		this.weightN = counts;
		this.scaleB = source.scaleB;
		this.room = 1;
		this.n = 0;
		this.which = "a";
		this.addNode(0, 0, 0, this.at.length);
	}
	static of(source) {
		const nodes = [],
			a = [],
			b = source.selfB ? [] : null,
			n = source.count ? [] : null;

		for (let i = 0; i < source.n; i++) {
			if (!source.self[i] && !(b && source.selfB[i])) continue;
			nodes.push(i);
			a.push(source.self[i]);
			if (b) b.push(source.selfB[i]);
			if (n) n.push(source.ownCount[i]);
		}
		return new ReversedTree(
			source,
			nodes,
			Float64Array.from(a),
			b && Float64Array.from(b),
			n && Float64Array.from(n)
		);
	}
	grow() {
		const room = Math.max(1024, this.room * 2);
		const longer = (old, Type) => {
			const out = new Type(room + 1);

			out.set(old.subarray(0, Math.min(old.length, this.n + 1)));
			return out;
		};

		for (const key of ["parent", "frame", "kids", "kidStart", "kidEnd", "from", "to"])
			this[key] = longer(this[key] || new Uint32Array(0), Uint32Array);
		for (const key of ["self", "total", "start", "layOwn"])
			this[key] = longer(this[key] || new Float64Array(0), Float64Array);
		this.totalB = this.weightB
			? longer(this.totalB || new Float64Array(0), Float64Array)
			: null;
		this.selfB = this.totalB;
		this.count = this.weightN
			? longer(this.count || new Float64Array(0), Float64Array)
			: null;
		this.stamps = longer(this.stamps, Uint8Array);
		this.grown = longer(this.grown || new Uint8Array(0), Uint8Array);
		this.lay = this.which === "a" ? this.total : this.layOwn;
		this.room = room;
	}
	addNode(parent, frame, from, to) {
		if (!this.n || this.n >= this.room) this.grow();
		const v = this.n++;
		let a = 0,
			b = 0,
			both = 0,
			n = 0;

		for (let i = from; i < to; i++) {
			const wb = this.weightB ? this.weightB[i] : 0;

			a += this.weightA[i];
			b += wb;
			both += Math.max(this.weightA[i], wb * this.scaleB);
			n += this.weightN ? this.weightN[i] : 0;
		}
		this.parent[v] = parent;
		this.frame[v] = frame;
		this.from[v] = from;
		this.to[v] = to;
		this.total[v] = a;
		if (this.totalB) this.totalB[v] = b;
		if (this.count) this.count[v] = n;
		this.layOwn[v] = this.which === "b" ? b * this.scaleB : both;
		return v;
	}
	/* Only before anything has grown. */
	setWidths(which) {
		this.which = which;
		if (!this.at) return;
		this.n = 0;
		this.grown.fill(0);
		this.addNode(0, 0, 0, this.at.length);
		this.lay = which === "a" || !this.weightB ? this.total : this.layOwn;
		this.forgetOrder();
	}
	children(v) {
		if (!this.grown[v]) this.growBelow(v);
		const lo = this.kidStart[v];
		let hi = this.kidEnd[v];

		if (this.stamps[v] !== this.stamp) this.arrange(v, lo, hi);
		while (hi > lo && !this.lay[this.kids[hi - 1]]) hi--;
		this.lo = lo;
		this.hi = hi;
		return hi - lo;
	}
	growBelow(v) {
		const { source, at } = this,
			from = this.from[v],
			to = this.to[v];
		const groups = new Map();

		this.grown[v] = 1;
		for (let i = from; i < to; i++) {
			if (v) at[i] = source.parent[at[i]];
			const f = at[i] ? source.frame[at[i]] : 0;
			const group = groups.get(f);

			if (group) group.push(i);
			else groups.set(f, [i]);
		}
		this.shareOut(v, from, groups);
	}
	/* Those whose stack ends here come first: they are the node's own. */
	shareOut(v, from, groups) {
		const ended = groups.get(0) || [],
			order = ended.slice(),
			parts = [];

		groups.delete(0);
		for (const [frame, list] of groups) {
			parts.push([frame, from + order.length, from + order.length + list.length]);
			for (const i of list) order.push(i);
		}
		this.permute(from, order);
		this.kidStart[v] = this.n;
		for (const [frame, a, b] of parts) {
			const k = this.addNode(v, frame, a, b);

			this.kids[k] = k;
		}
		this.kidEnd[v] = this.n;
		let own = 0;

		for (let i = from; i < from + ended.length; i++) own += this.weightA[i];
		this.self[v] = own;
	}
	permute(from, order) {
		for (const column of [this.at, this.weightA, this.weightB, this.weightN]) {
			if (!column) continue;
			const sorted = order.map((i) => column[i]);

			column.set(sorted, from);
		}
	}
}
