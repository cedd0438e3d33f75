/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call graph: functions as boxes, calls as arcs, in layers from callers to callees. What is
 * left out is counted and said.
 */

const GRAPH_NODES = 48;
const NODE_SHARE = 0.005;
const EDGE_SHARE = 0.002;
const BOX = { h: 40, gapX: 26, gapY: 54, pad: 12, most: 30 };

/* --- layout -------------------------------------------------------------------------------- */

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

/* As low as the longest chain of calls to it. */
function assignLayers(n, edges) {
	const layer = new Int32Array(n);

	for (let round = 0; round < n; round++) {
		let changed = false;

		for (const e of edges) {
			if (e.from === e.to) continue;
			const [a, b] = e.back ? [e.to, e.from] : [e.from, e.to];

			if (layer[b] < layer[a] + 1) {
				layer[b] = layer[a] + 1;
				changed = true;
			}
		}
		if (!changed) break;
	}
	return layer;
}

/* Edges over several layers go through points of their own in those between. */
function addPoints(nodes, edges) {
	const links = [];

	for (const e of edges) {
		if (e.from === e.to) continue;
		const [a, b] = e.back ? [e.to, e.from] : [e.from, e.to];
		let last = a;

		e.points = [];
		for (let l = nodes[a].layer + 1; l < nodes[b].layer; l++) {
			const id = nodes.length;

			nodes.push({ id, layer: l, w: 14, point: true });
			links.push([last, id, e.weight]);
			e.points.push(id);
			last = id;
		}
		links.push([last, b, e.weight]);
	}
	return links;
}

/* Moves each node to the mean of its neighbours, layer by layer, down and up. */
function orderLayers(nodes, links) {
	const layers = [],
		above = nodes.map(() => []),
		below = nodes.map(() => []);

	for (const node of nodes) (layers[node.layer] = layers[node.layer] || []).push(node);
	for (const [a, b, weight] of links) {
		below[a].push([b, weight]);
		above[b].push([a, weight]);
	}
	const place = () =>
		layers.forEach((list) =>
			list.forEach((node, i) => {
				node.at = i;
			})
		);
	const mean = (node, side) => {
		let sum = 0,
			weights = 0;

		for (const [other, w] of side[node.id]) {
			sum += nodes[other].at * Math.sqrt(w);
			weights += Math.sqrt(w);
		}
		return weights ? sum / weights : node.at;
	};

	place();
	for (let round = 0; round < 12; round++) {
		const side = round % 2 ? below : above,
			order = round % 2 ? layers.slice().reverse() : layers;

		for (const list of order) {
			for (const node of list) node.key = mean(node, side);
			list.sort((x, y) => x.key - y.key || x.id - y.id);
			list.forEach((node, i) => {
				node.at = i;
			});
		}
	}
	return { layers, above, below };
}

/*
 * As near to where they want to be as their widths allow: neighbours that would overlap become one
 * block that stands at the mean of their wishes.
 */
function settle(list) {
	const blocks = [];
	let offset = 0;

	list.forEach((node, i) => {
		offset += i ? (list[i - 1].w + node.w) / 2 + BOX.gapX : 0;
		node.offset = offset;
		let block = { first: i, sum: (node.wish - offset) * node.pull, pull: node.pull };

		while (
			blocks.length &&
			blocks[blocks.length - 1].sum / blocks[blocks.length - 1].pull >
				block.sum / block.pull
		) {
			const last = blocks.pop();

			block = {
				first: last.first,
				sum: last.sum + block.sum,
				pull: last.pull + block.pull,
			};
		}
		blocks.push(block);
	});
	blocks.forEach((block, j) => {
		const end = j + 1 < blocks.length ? blocks[j + 1].first : list.length;

		for (let i = block.first; i < end; i++)
			list[i].x = block.sum / block.pull + list[i].offset;
	});
}

function placeNodes(nodes, { layers, above, below }) {
	layers.forEach((list, l) => {
		for (const node of list) {
			node.y = l * (BOX.h + BOX.gapY);
			node.wish = node.at * 160 - list.length * 80;
			node.pull = 1;
		}
		settle(list);
	});
	for (let round = 0; round < 24; round++) {
		const order = round % 2 ? layers.slice().reverse() : layers,
			side = round % 2 ? below : above;

		for (const list of order) {
			for (const node of list) {
				/* Points follow both ends: what is long becomes straight. */
				const near =
					node.point || round > 20
						? above[node.id].concat(below[node.id])
						: side[node.id];
				const weight = near.reduce((sum, [, w]) => sum + w, 0);

				node.wish = weight
					? near.reduce((sum, [o, w]) => sum + nodes[o].x * w, 0) /
						weight
					: node.x;
				node.pull = node.point ? 2 : 1;
			}
			settle(list);
		}
	}
}

function layoutGraph(graph, nodes) {
	const edges = graph.edges;

	breakCycles(nodes.length, edges);
	const layer = assignLayers(nodes.length, edges);

	nodes.forEach((node, i) => {
		node.layer = layer[i];
	});
	const links = addPoints(nodes, edges);

	placeNodes(nodes, orderLayers(nodes, links));
}

/* --- view ---------------------------------------------------------------------------------- */

class GraphView {
	constructor(app) {
		this.app = app;
		this.canvas = el("canvas", {
			tabindex: 0,
			role: "application",
			"aria-label": "Call graph",
			"aria-describedby": "keys-hint",
		});
		this.note = el("div", { class: "graph-note" });
		this.stage = el("div", { class: "stage" }, this.canvas, this.note);
		this.node = el("div", { class: "single" }, this.stage);
		this.painter = new CanvasPainter(this.canvas);
		this.cursor = -1;
		this.listen();
	}
	listen() {
		new Pointer(this.canvas, {
			hover: (x, y, e) => {
				const i = x < 0 ? -1 : this.hit(x, y);

				if (i !== this.hoverAt) {
					this.hoverAt = i;
					this.draw();
				}
				if (i >= 0)
					this.app.tipOfFrame(
						this.graph.shown[i],
						e.clientX,
						e.clientY
					);
				else this.app.hideTip();
			},
			click: (x, y) => {
				const i = this.hit(x, y);

				if (i >= 0) this.focusOn(i);
			},
			double: (x, y) => {
				const i = this.hit(x, y);

				if (i >= 0)
					this.app.store.set({
						view: "sandwich",
						fn: this.graph.shown[i],
					});
			},
			menu: (x, y, e) => {
				const i = this.hit(x, y);

				if (i >= 0)
					this.app.menuOfFrame(
						this.graph.shown[i],
						e.clientX,
						e.clientY
					);
			},
			pan: (dx, dy) => {
				this.ox += dx;
				this.oy += dy;
				this.draw();
			},
			wheel: (x, y, e) => this.zoomAt(x, y, Math.exp(-e.deltaY * 0.0015)),
		});
	}
	zoomAt(x, y, factor) {
		const scale = clamp(this.scale * factor, 0.1, 3),
			f = scale / this.scale;

		this.ox = x - (x - this.ox) * f;
		this.oy = y - (y - this.oy) * f;
		this.scale = scale;
		this.draw();
	}
	update() {
		const { app } = this;

		this.painter.fit();
		if (this.version !== app.version) {
			this.version = app.version;
			this.build();
			this.fitAll();
		}
		this.draw();
	}
	build() {
		const { app } = this,
			{ sum } = app.shown;

		this.graph = callEdges(app.tree, app.table(), GRAPH_NODES, sum * NODE_SHARE);
		const best = new Map();

		for (const e of this.graph.edges)
			if (!best.has(e.to) || best.get(e.to).weight < e.weight) best.set(e.to, e);
		const kept = this.graph.edges.filter(
			(e) => e.weight >= sum * EDGE_SHARE || best.get(e.to) === e
		);

		this.cut = this.graph.edges.length - kept.length;
		this.graph.edges = kept;
		this.painter.begin(app.background);
		this.nodes = this.graph.shown.map((f, id) => {
			const name = shorten(app.model.frames.names[f], BOX.most);

			return {
				id,
				f,
				name,
				w: Math.max(
					178,
					name.length * this.painter.charWidth + 2 * BOX.pad
				),
			};
		});
		layoutGraph(this.graph, this.nodes);
		const { hidden } = this.graph;

		this.note.textContent =
			this.graph.shown.length +
			" functions; " +
			(hidden.functions
				? hidden.functions +
					" smaller ones with " +
					fmtPercent(sum ? hidden.self / sum : 0) +
					" of self time are hidden, dashed arcs lead through them"
				: "none is hidden") +
			(this.cut ? "; " + this.cut + " thin arcs left out" : "");
	}
	fitAll() {
		const real = this.nodes.filter((n) => !n.point),
			p = this.painter;

		if (!real.length) {
			this.scale = 1;
			this.ox = this.oy = 0;
			return;
		}
		const left = Math.min(...real.map((n) => n.x - n.w / 2)),
			right = Math.max(...real.map((n) => n.x + n.w / 2));
		const bottom = Math.max(...real.map((n) => n.y)) + BOX.h;

		this.scale = clamp(
			Math.min((p.width - 40) / (right - left), (p.height - 60) / bottom),
			0.9,
			1.1
		);
		this.ox = p.width / 2 - ((left + right) / 2) * this.scale;
		this.oy = 24;
		/* Too wide to be seen whole: begin with the heaviest root. */
		const root = real.find((n) => n.layer === 0) || real[0];

		if ((right - left) * this.scale > p.width)
			this.ox = p.width / 2 - root.x * this.scale;
	}
	place(n) {
		return [this.ox + n.x * this.scale, this.oy + n.y * this.scale];
	}
	draw() {
		this.painter.fit();
		this.painter.begin(this.app.background);
		if (this.nodes) this.paint(this.painter);
	}
	paint(p) {
		const { app } = this,
			{ sum } = app.shown,
			near = this.hoverAt >= 0 ? this.hoverAt : this.cursor;
		const edges = this.graph.edges.slice().sort((x, y) => x.weight - y.weight);

		for (const e of edges)
			this.paintEdge(p, e, sum, near >= 0 && (e.from === near || e.to === near));
		for (const n of this.nodes) if (!n.point) this.paintNode(p, n, sum);
	}
	paintEdge(p, e, sum, near) {
		const { colors, accent } = this.app,
			s = this.scale,
			width = Math.max(0.7, Math.sqrt(e.weight / (sum || 1)) * 7 * s);
		const stroke = near ? accent : colors.dark ? "#545b68" : "#b4bac4",
			dashed = e.direct < e.weight * 0.5;

		if (e.from === e.to) {
			const [x, y] = this.place(this.nodes[e.from]),
				r = (this.nodes[e.from].w / 2) * s;

			p.curve(
				[
					x + r,
					y + 10 * s,
					x + r + 34 * s,
					y,
					x + r + 34 * s,
					y + BOX.h * s,
					x + r,
					y + 30 * s,
				],
				stroke,
				width,
				dashed
			);
			return;
		}
		const chain = [
			e.from,
			...(e.back ? e.points.slice().reverse() : e.points),
			e.to,
		].map((i) => this.nodes[i]);

		for (let i = 0; i + 1 < chain.length; i++)
			this.paintLink(p, chain[i], chain[i + 1], stroke, width, dashed, e.back);
		this.paintArrow(p, chain[chain.length - 1], stroke, width, e.back);
	}
	paintLink(p, a, b, stroke, width, dashed, back) {
		const s = this.scale,
			[ax, ay] = this.place(a),
			[bx, by] = this.place(b),
			bend = (BOX.gapY / 2) * s * (back ? -1 : 1);
		const y0 = ay + (back ? 0 : BOX.h * s),
			y1 = by + (back ? BOX.h * s : 0);

		p.curve([ax, y0, ax, y0 + bend, bx, y1 - bend, bx, y1], stroke, width, dashed);
		if (b.point) p.curve([bx, by, bx, by + BOX.h * s], stroke, width, dashed);
	}
	paintArrow(p, node, stroke, width, back) {
		const [x, y] = this.place(node),
			s = (3 + width) * Math.min(1, this.scale + 0.2),
			tip = back ? y + BOX.h * this.scale : y,
			way = back ? 1 : -1;

		p.polygon([x, tip, x - s, tip + way * s * 1.6, x + s, tip + way * s * 1.6], stroke);
	}
	paintNode(p, n, sum) {
		const { app } = this,
			{ colors } = app,
			[x, y] = this.place(n),
			s = this.scale,
			t = app.table();
		const w = n.w * s,
			h = BOX.h * s,
			share = sum ? t.self[n.f] / sum : 0;
		const fill = app.matches
			? app.matches[n.f]
				? colors.match
				: colors.faint
			: colors.mode === "diff" && t.totalB
				? colors.ofDifference(
						app.tree,
						t.total[n.f],
						t.totalB[n.f],
						app.shown
					)
				: colors.mode === "kind" ||
					  colors.mode === "module" ||
					  colors.mode === "name"
					? colors.ofFrame(n.f)
					: colors.ramp(colors.selfRamp, Math.sqrt(share));

		p.round(
			x - w / 2,
			y,
			w,
			h,
			5 * s,
			fill,
			n.id === this.cursor ? app.accent : colors.dark ? "#0008" : "#0003"
		);
		if (n.id === this.cursor)
			p.frame(x - w / 2 - 1, y - 1, w + 2, h + 2, app.accent, 2);
		if (s < 0.4) return;
		const text = shorten(n.name, Math.floor((w - 8) / p.charWidth));

		p.text(text, x, y + h * 0.32, colors.text, FONT, "center");
		if (h > 26 && w > 150)
			p.text(
				"self " +
					fmtPercent(share) +
					"  total " +
					fmtPercent(sum ? t.total[n.f] / sum : 0),
				x,
				y + h * 0.72,
				colors.text,
				SMALL,
				"center"
			);
	}
	hit(x, y) {
		const s = this.scale;

		for (const n of this.nodes || []) {
			const [nx, ny] = this.place(n);

			if (
				!n.point &&
				Math.abs(x - nx) <= (n.w * s) / 2 &&
				y >= ny &&
				y <= ny + BOX.h * s
			)
				return n.id;
		}
		return -1;
	}
	exportPaint(p) {
		this.paint(p);
	}
	focusOn(i) {
		const n = this.nodes[i],
			p = this.painter;

		this.cursor = i;
		const [x, y] = this.place(n);

		if (x < 60 || x > p.width - 60) this.ox += p.width / 2 - x;
		if (y < 10 || y > p.height - 70) this.oy += p.height / 2 - y;
		this.app.selectFrame(n.f);
		this.draw();
	}
	key(e) {
		const real = this.graph.shown.length,
			{ cursor } = this;

		switch (e.key) {
			case "ArrowDown":
				this.follow((x) => x.from === cursor && x.to !== cursor, "to");
				return true;
			case "ArrowUp":
				this.follow((x) => x.to === cursor && x.from !== cursor, "from");
				return true;
			case "ArrowLeft":
			case "ArrowRight":
				this.sideways(e.key === "ArrowRight" ? 1 : -1);
				return true;
			case "+":
			case "=":
				this.zoomAt(this.painter.width / 2, this.painter.height / 2, 1.25);
				return true;
			case "-":
				this.zoomAt(this.painter.width / 2, this.painter.height / 2, 0.8);
				return true;
			case "Home":
				this.fitAll();
				this.draw();
				return true;
			case "Enter":
				if (cursor >= 0 && cursor < real)
					this.app.store.set({
						view: "sandwich",
						fn: this.graph.shown[cursor],
					});
				return true;
		}
		return false;
	}
	follow(test, end) {
		const list = this.graph.edges.filter(test).sort((x, y) => y.weight - x.weight);

		if (this.cursor < 0 && this.graph.shown.length) this.focusOn(0);
		else if (list.length) this.focusOn(list[0][end]);
	}
	sideways(way) {
		const me = this.nodes[this.cursor];

		if (!me) return;
		const row = this.nodes
				.filter((n) => !n.point && n.layer === me.layer)
				.sort((x, y) => x.x - y.x),
			next = row[row.indexOf(me) + way];

		if (next) this.focusOn(next.id);
	}
	stepMatch(way) {
		const { matches } = this.app,
			list = this.graph.shown
				.map((f, i) => [f, i])
				.filter(([f]) => matches && matches[f])
				.map(([, i]) => i);

		if (list.length)
			this.focusOn(
				list[(list.indexOf(this.cursor) + way + list.length) % list.length]
			);
	}
}

function shorten(text, most) {
	return text.length <= most ? text : most < 2 ? "" : text.slice(0, most - 1) + "…";
}
