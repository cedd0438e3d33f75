/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The flame picture. Work is bounded by pixels, not by nodes: of boxes narrower than half a pixel
 * only the sums over each pixel and row are drawn, as a shade, and there is a limit to how many of
 * them are summed up.
 */
import { matchList } from "./analyse.js";
import { isDiff, isPlumbing } from "./derive.js";
import { inkOn, shade } from "./oklch.js";
import { CanvasPainter, SMALL } from "./paint.js";
import { Glide, Pointer } from "./pointer.js";
import { clamp, debounce, el, firstIndex } from "./util.js";
import { hasWakers, isBlocked, markOf, showWakers } from "./waits.js";

export const ROW = 19;
const LEAST_PIXELS = 0.5;
const CRUMBS_MOST = 400000; /* nodes summed up in one picture */
const LABEL_LEAST = 6; /* characters: a shorter beginning of a name says nothing */

/*
 * Paints a tree between the weights a and b. o: { tree, area, a, b, row, scroll, up, skip, text,
 * colors, matches, shown }. Returns how many rows there are. Rows that are not seen are measured,
 * not painted.
 */
function paintTree(p, o) {
	const t = o.tree,
		k = o.area.w / (o.b - o.a),
		nodes = [0],
		depths = [0],
		skip = o.skip || 0,
		crumbs = new Crumbs(p, o, skip);
	let deepest = 0;

	t.start[0] = 0;
	while (nodes.length) {
		const v = nodes.pop(),
			depth = depths.pop();

		if (depth > deepest) deepest = depth;
		if (depth >= skip)
			paintBox(p, o, v, depth - skip, (t.start[v] - o.a) * k, t.lay[v] * k);
		t.children(v);
		const { kids, start, lay } = t,
			hi = t.hi;
		let i = firstIndex(t.lo, hi, (j) => start[kids[j]] + lay[kids[j]] > o.a);

		while (i < hi && start[kids[i]] < o.b) {
			const c = kids[i],
				width = lay[c] * k;

			if (width >= LEAST_PIXELS) {
				nodes.push(c);
				depths.push(depth + 1);
				i++;
				continue;
			}
			const pixel = Math.floor((start[c] - o.a) * k),
				edge = o.a + (pixel + 1) / k;
			let next = firstIndex(i + 1, hi, (j) => start[kids[j]] >= edge);

			/* The last of them may reach beyond the pixel. */
			if (next - 1 > i && lay[kids[next - 1]] * k >= LEAST_PIXELS) next--;
			for (; i < next; i++) crumbs.add(kids[i], depth + 1, pixel);
		}
	}
	crumbs.paint();
	return deepest + 1 - skip;
}

/* What is in each pixel of each row, of boxes that are too narrow to be drawn. */
class Crumbs {
	constructor(p, o, skip) {
		this.painter = p;
		this.o = o;
		this.skip = skip;
		this.width = Math.ceil(o.area.w);
		this.scale = o.area.w / (o.b - o.a);
		this.rows = [];
		this.left = o.tree.grows ? CRUMBS_MOST / 20 : CRUMBS_MOST;
	}
	row(depth) {
		return (this.rows[depth] = this.rows[depth] || {
			covered: new Float32Array(this.width),
			widest: new Float32Array(this.width),
			node: new Uint32Array(this.width),
		});
	}
	/* With all that is on it: its children are in the same pixel, or in the next at most. */
	add(v, depth, pixel) {
		const { tree } = this.o,
			nodes = [v],
			depths = [depth];

		if (pixel < 0 || pixel >= this.width) return;
		while (nodes.length) {
			const u = nodes.pop(),
				d = depths.pop();

			this.count(u, d - this.skip, pixel);
			if (this.left-- <= 0) continue;
			/* in any order: only their sums matter */
			if (tree.grows) tree.children(u);
			const end = tree.grows ? tree.hi : tree.kidStart[u + 1];

			for (let i = tree.grows ? tree.lo : tree.kidStart[u]; i < end; i++) {
				if (!tree.lay[tree.kids[i]]) continue;
				nodes.push(tree.kids[i]);
				depths.push(d + 1);
			}
		}
	}
	count(v, depth, pixel) {
		if (depth < 0) return;
		const row = this.row(depth),
			w = this.o.tree.lay[v] * this.scale;

		row.covered[pixel] += w;
		if (w > row.widest[pixel]) {
			row.widest[pixel] = w;
			row.node[pixel] = v;
		}
	}
	paint() {
		const { o, painter } = this;

		this.rows.forEach((row, depth) => {
			const y = rowTop(o, depth),
				height = o.row > 4 ? o.row - 1 : o.row;

			if (y + o.row <= o.area.y || y >= o.area.y + o.area.h) return;
			for (let x = 0; x < this.width; x++)
				if (row.covered[x] > 0)
					painter.rect(
						o.area.x + x,
						y,
						1,
						height,
						shade(boxFill(o, row.node[x]), o.background, row.covered[x])
					);
		});
	}
}

function rowTop(o, depth) {
	return o.up
		? o.area.y + o.area.h - (depth + 1) * o.row + o.scroll
		: o.area.y + depth * o.row - o.scroll;
}

function boxFill(o, v) {
	const f = o.tree.frame[v];

	if (o.matches) return o.matches[f] ? o.colors.match : o.colors.faint;
	return o.colors.ofNode(o.tree, v, o.shown);
}

function paintBox(p, o, v, depth, x, w) {
	const y = rowTop(o, depth);

	if (y + o.row <= o.area.y || y >= o.area.y + o.area.h) return;
	const left = Math.round(Math.max(x, 0)),
		right = Math.round(Math.min(x + w, o.area.w));
	const gap = right - left > 3 && o.row > 4 ? 1 : 0,
		outside = w > o.area.w * 1.0001;
	const match = o.matches && o.matches[o.tree.frame[v]];
	const fill = outside && !match ? o.colors.faint : boxFill(o, v);

	if (o.describe) p.title(o.describe(v));
	p.rect(
		o.area.x + left,
		y,
		Math.max(1, right - left - gap),
		o.row > 4 ? o.row - 1 : o.row,
		fill
	);
	if (!o.text) return;
	const label = boxLabel(o, v),
		room = Math.floor((right - left - 8) / p.charWidth);

	if (room < Math.min(label.length, LABEL_LEAST)) return;
	const words = label.length <= room ? label : label.slice(0, room - 1) + "…";

	p.text(
		words,
		o.area.x + left + 4,
		y + o.row / 2,
		inkOn(fill, outside || (o.matches && !match) ? o.colors.faintText : o.colors.text)
	);
}

function boxLabel(o, v) {
	const t = o.tree,
		name = o.colors.model.frames.names[t.frame[v]];

	if (!t.totalB || !isDiff(o.shown.state)) return name;
	return !t.totalB[v] && t.total[v] ? "+ " + name : !t.total[v] ? "− " + name : name;
}

/* A tree with a window on it: what part is seen, what box is under a point, which is the focus. */
export class FlamePicture {
	constructor() {
		this.tree = null;
		this.a = this.b = 0;
		this.scroll = 0;
		this.rows = 1;
		this.up = true;
		this.skip = 0;
		this.hover = -1;
		this.cursor = -1;
		this.zoomed = 0;
		this.area = { x: 0, y: 0, w: 1, h: 1 };
	}
	setTree(tree) {
		this.tree = tree;
		this.hover = this.cursor = -1;
		this.zoomed = 0;
		this.a = 0;
		this.b = tree.lay[0] || 1;
	}
	paint(p, context) {
		const o = Object.assign(
			{
				tree: this.tree,
				area: this.area,
				a: this.a,
				b: this.b,
				row: ROW,
				scroll: this.scroll,
				up: this.up,
				skip: this.skip,
				text: true,
			},
			context
		);

		p.clip(this.area.x, this.area.y, this.area.w, this.area.h);
		this.rows = paintTree(p, o);
		if (context.marks) this.paintMarks(p, o);
		p.unclip();
	}
	paintMarks(p, o) {
		if (this.hover >= 0) this.outline(p, o, this.hover, o.colors.text, 1);
		if (this.cursor >= 0) this.outline(p, o, this.cursor, o.accent, 2);
	}
	outline(p, o, v, stroke, width) {
		const box = this.boxOf(v);

		if (box)
			p.frame(
				box.x + width / 2,
				box.y + width / 2,
				Math.max(1, box.w - 1 - width),
				ROW - 1 - width,
				stroke,
				width
			);
	}
	boxOf(v) {
		const t = this.tree,
			k = this.area.w / (this.b - this.a),
			depth = t.depthOf(v) - this.skip;

		if (depth < 0) return null;
		const x = (t.start[v] - this.a) * k,
			w = t.lay[v] * k;
		const left = clamp(x, 0, this.area.w),
			right = clamp(x + w, 0, this.area.w);

		return {
			x: this.area.x + Math.round(left),
			w: Math.max(2, Math.round(right) - Math.round(left)),
			h: ROW,
			y: rowTop(
				{ up: this.up, area: this.area, row: ROW, scroll: this.scroll },
				depth
			),
		};
	}
	hit(x, y) {
		const { area } = this,
			inside =
				x >= area.x &&
				x < area.x + area.w &&
				y >= area.y &&
				y < area.y + area.h;
		const down = this.up ? area.y + area.h - y + this.scroll : y - area.y + this.scroll;
		const depth = Math.floor(down / ROW) + this.skip,
			weight = this.a + ((x - area.x) * (this.b - this.a)) / area.w;

		if (!inside || depth < this.skip || !this.tree) return -1;
		return this.nodeAt(weight, depth);
	}
	nodeAt(weight, depth) {
		const t = this.tree;
		let v = 0;

		if (weight < 0 || weight >= t.lay[0]) return -1;
		while (depth-- > 0) {
			t.children(v);
			const i = firstIndex(
				t.lo,
				t.hi,
				(j) => t.start[t.kids[j]] + t.lay[t.kids[j]] > weight
			);

			if (i >= t.hi || t.start[t.kids[i]] > weight) return -1;
			v = t.kids[i];
		}
		return v;
	}
	windowOf(v) {
		this.tree.locate(v);
		return [this.tree.start[v], this.tree.start[v] + this.tree.lay[v]];
	}
	/* Zooms by @factor so that what is at @x stays there. */
	zoomAt(x, factor) {
		const whole = this.tree.lay[0],
			span = clamp((this.b - this.a) * factor, whole * 1e-7, whole);
		const at = this.a + ((x - this.area.x) * (this.b - this.a)) / this.area.w;

		this.a = clamp(at - ((x - this.area.x) / this.area.w) * span, 0, whole - span);
		this.b = this.a + span;
	}
	pan(dx) {
		const whole = this.tree.lay[0],
			span = this.b - this.a,
			by = (dx * span) / this.area.w;

		this.a = clamp(this.a + by, 0, whole - span);
		this.b = this.a + span;
	}
	scrollBy(dy) {
		this.scroll = clamp(
			this.scroll + dy,
			0,
			Math.max(0, this.rows * ROW - this.area.h)
		);
	}
	/* Scrolls and pans until a box can be seen. */
	reveal(v) {
		const t = this.tree,
			depth = t.depthOf(v) - this.skip;
		const top = depth * ROW,
			[start, end] = this.windowOf(v),
			span = this.b - this.a;

		if (top < this.scroll) this.scroll = Math.max(0, top - ROW);
		else if (top + ROW > this.scroll + this.area.h)
			this.scroll = top + 2 * ROW - this.area.h;
		if (end - start < span && (start < this.a || end > this.b)) {
			this.a = clamp((start + end - span) / 2, 0, Math.max(0, t.lay[0] - span));
			this.b = this.a + span;
		} else if (start > this.b || end < this.a) {
			[this.a, this.b] = [start, end];
		}
	}
	/* The neighbour of the cursor: parent, child (the widest), previous, next. */
	step(way) {
		const t = this.tree,
			v = this.cursor;

		if (v < 0) return this.zoomed || this.firstShown();
		if (way === "parent") return t.depthOf(v) > this.skip ? t.parent[v] : v;
		t.children(way === "child" ? v : t.parent[v]);
		const list = t.kids.subarray(t.lo, t.hi);

		if (way === "child") {
			let best = -1;

			for (const k of list) if (best < 0 || t.lay[k] > t.lay[best]) best = k;
			return best < 0 ? v : best;
		}
		if (!v) return v;
		return list[clamp(list.indexOf(v) + (way === "next" ? 1 : -1), 0, list.length - 1)];
	}
	firstShown() {
		let v = 0;

		for (let i = 0; i < this.skip; i++) {
			if (!this.tree.children(v)) return 0;
			v = this.tree.kids[this.tree.lo];
		}
		return v;
	}
}

/* The view: picture, minimap, keys. */
export class FlameView {
	constructor(app) {
		this.app = app;
		this.picture = new FlamePicture();
		this.glide = new Glide();
		this.canvas = el("canvas", {
			tabindex: 0,
			role: "application",
			"aria-label": "Flame graph",
			"aria-describedby": "keys-hint",
		});
		this.mini = el("canvas", { "aria-hidden": "true" });
		this.window = el("div", { class: "mini-window" });
		this.miniBox = el(
			"div",
			{ class: "mini", title: "Overview: drag to move" },
			this.mini,
			this.window
		);
		this.stage = el("div", { class: "stage" }, this.canvas);
		this.node = el("div", { class: "flame-view" }, this.miniBox, this.stage);
		this.painter = new CanvasPainter(this.canvas);
		this.miniPainter = new CanvasPainter(this.mini);
		this.listen();
	}
	listen() {
		const p = this.picture,
			app = this.app;

		new Pointer(this.canvas, {
			hover: (x, y, e) => this.hoverAt(x, y, e),
			click: (x, y) => this.clickAt(x, y),
			menu: (x, y, e) => app.menu(p.tree, p.hit(x, y), e.clientX, e.clientY),
			pan: (dx, dy) => {
				p.pan(-dx);
				p.scrollBy(p.up ? dy : -dy);
				this.moved();
			},
			wheel: (x, y, e) => this.wheelAt(x, e),
		});
		const move = (x) => {
			const span = p.b - p.a,
				at = (x / this.miniPainter.width) * p.tree.lay[0];

			p.a = clamp(at - span / 2, 0, p.tree.lay[0] - span);
			p.b = p.a + span;
			this.moved();
		};

		new Pointer(this.mini, {
			hover() {},
			click: move,
			pan: (dx, dy, x) => move(x),
			wheel: (x, y, e) => this.wheelAt(x, e),
		});
	}
	hoverAt(x, y, e) {
		const v = x < 0 ? -1 : this.picture.hit(x, y);

		if (v !== this.picture.hover) {
			this.picture.hover = v;
			this.draw();
		}
		this.app.tip(this.picture.tree, v, e.clientX, e.clientY, this.viewTotal());
	}
	clickAt(x, y) {
		const v = this.picture.hit(x, y);

		if (v < 0) return;
		this.picture.cursor = v;
		this.app.select(this.picture.tree, v);
		if (isPlumbing(this.picture.tree.model, this.picture.tree.frame[v])) {
			this.openPlumbing();
			return;
		}
		/* the mark itself holds nothing to zoom to: it leads to the wakers */
		if (this.isBlockedMark(v)) showWakers(this.app, this.picture.tree, v);
		else this.zoomTo(v);
	}
	openPlumbing() {
		const { store, state } = this.app;

		store.set({ transforms: state.transforms.filter((t) => t.kind !== "plumbing") });
	}
	isBlockedMark(v) {
		const { tree } = this.picture;

		return (
			isBlocked(markOf(tree.model, tree.frame[v])) &&
			hasWakers(this.app, tree, v)
		);
	}
	wheelAt(x, e) {
		const p = this.picture,
			scale = e.deltaMode ? 24 : 1;

		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			p.pan((e.shiftKey ? e.deltaY + e.deltaX : e.deltaX) * scale);
		else if (e.ctrlKey || e.metaKey || p.rows * ROW <= p.area.h)
			p.zoomAt(x, Math.exp(e.deltaY * scale * (e.ctrlKey ? 0.01 : 0.0022)));
		else p.scrollBy(p.up ? -e.deltaY * scale : e.deltaY * scale);
		this.moved();
	}
	/* The window was moved by hand: it is no longer that of one box. */
	moved() {
		this.draw();
		this.saveWindow =
			this.saveWindow ||
			debounce(250, () => {
				const p = this.picture,
					whole = p.tree.lay[0];
				const all = p.a <= whole * 1e-9 && p.b >= whole * (1 - 1e-9);

				this.keep = true;
				this.app.store.set(
					all
						? { window: null, zoom: [] }
						: {
								window: [
									p.a / whole,
									Math.min(1, p.b / whole),
								],
								zoom: [],
							},
					true
				);
				this.keep = false;
			});
		this.saveWindow();
	}
	zoomTo(v) {
		const p = this.picture;

		this.app.store.set({ zoom: p.tree.path(v), window: null });
	}
	viewTotal() {
		const p = this.picture,
			v = p.zoomed;

		return this.app.state.window ? p.b - p.a : p.tree.total[v];
	}
	update() {
		const { app, picture: p } = this,
			tree = app.shownTree();

		p.up = !app.state.icicle;
		tree.setOrder(app.state.order);
		if (p.tree !== tree || this.version !== app.version) {
			/* a recording that grows: the reader stays where he is */
			this.stays = p.tree && this.model !== app.model ? this.placed : "";
			this.model = app.model;
			const cursor = p.cursor >= 0 && p.tree ? p.tree.path(p.cursor) : null;

			p.setTree(tree);
			p.skip = this.trunk(tree);
			if (cursor) p.cursor = tree.follow(cursor);
			this.version = app.version;
			this.placed = "";
		}
		this.place();
		this.miniDirty = true;
		this.draw();
	}
	/* Of waits: rows below the place where stacks part, which say nothing. */
	trunk(tree) {
		const { model, state } = this.app;
		let depth = 0;

		if (!/-time$/.test(model.events[state.event].name) || state.reversed) return 0;
		for (let v = 0; tree.children(v) === 1 && !tree.self[v]; depth++) v = tree.kids[tree.lo];
		return depth > 2 ? depth - 1 : 0;
	}
	/* Puts the window where the state says. */
	place() {
		const { state } = this.app,
			p = this.picture,
			key = JSON.stringify([state.zoom, state.window, state.order, state.diffWidth]);

		if (key === this.placed || this.keep) {
			this.placed = key;
			return;
		}
		const first = !this.placed,
			whole = p.tree.lay[0] || 1;

		this.placed = key;
		p.zoomed = state.zoom.length ? p.tree.follow(state.zoom) : 0;
		const to = state.window
			? state.window.map((x) => x * whole)
			: p.tree.lay[0]
				? p.windowOf(p.zoomed)
				: [0, 1];

		if (first) {
			[p.a, p.b] = to;
			if (key !== this.stays) p.scroll = 0;
		} else {
			this.glide.run(p, to, () => this.draw());
		}
	}
	context(marks) {
		const { app } = this;

		return {
			colors: app.colors,
			matches: app.matches,
			shown: app.shown,
			accent: app.accent,
			background: app.background,
			marks,
		};
	}
	draw() {
		const p = this.picture;

		this.painter.fit();
		p.area = { x: 0, y: 0, w: this.painter.width, h: this.painter.height };
		this.painter.begin(this.app.background);
		if (!p.tree || !p.tree.lay[0]) {
			this.painter.text(
				"No samples pass the filters.",
				24,
				40,
				this.app.colors.faintText,
				SMALL
			);
			return;
		}
		const begin = performance.now();

		p.paint(this.painter, this.context(true));
		this.app.timing.draw = performance.now() - begin;
		this.drawMini();
	}
	drawMini() {
		const p = this.picture,
			whole = p.tree.lay[0],
			resized = this.miniPainter.fit();

		if (this.miniDirty || resized) {
			const h = this.miniPainter.height,
				m = this.miniPainter;

			this.miniDirty = false;
			m.begin(this.app.background);
			const o = Object.assign(this.context(false), {
				tree: p.tree,
				a: 0,
				b: whole,
				area: { x: 0, y: 0, w: m.width, h },
				row: clamp(Math.floor(h / p.rows), 1, 4),
				scroll: 0,
				up: p.up,
				skip: 0,
			});

			paintTree(m, o);
		}
		const all = p.b - p.a > whole * 0.9999;

		this.miniBox.classList.toggle("whole", all);
		this.window.style.left = (p.a / whole) * 100 + "%";
		this.window.style.width = Math.max(0.2, ((p.b - p.a) / whole) * 100) + "%";
	}
	exportPaint(p) {
		const { app } = this,
			old = this.picture.area,
			context = this.context(false);

		this.picture.area = { x: 0, y: p.top || 0, w: p.width, h: p.height - (p.top || 0) };
		context.describe = (v) => app.describe(this.picture.tree, v);
		this.picture.paint(p, context);
		this.picture.area = old;
	}
	key(e) {
		const p = this.picture,
			up = p.up,
			ways = {
				ArrowUp: up ? "child" : "parent",
				ArrowDown: up ? "parent" : "child",
				ArrowLeft: "previous",
				ArrowRight: "next",
			};

		if (ways[e.key]) {
			this.focusOn(p.step(ways[e.key]));
			return true;
		}
		switch (e.key) {
			case "Enter":
				if (p.cursor >= 0) this.zoomTo(p.cursor);
				return true;
			case "+":
			case "=":
			case "w":
				p.zoomAt(p.area.w / 2, 0.7);
				this.moved();
				return true;
			case "-":
			case "s":
				p.zoomAt(p.area.w / 2, 1 / 0.7);
				this.moved();
				return true;
			case "a":
				p.pan(-p.area.w / 5);
				this.moved();
				return true;
			case "d":
				p.pan(p.area.w / 5);
				this.moved();
				return true;
			case "PageUp":
				p.scrollBy((up ? 1 : -1) * p.area.h * 0.8);
				this.draw();
				return true;
			case "PageDown":
				p.scrollBy((up ? -1 : 1) * p.area.h * 0.8);
				this.draw();
				return true;
			case "Home":
				this.focusOn(p.firstShown());
				return true;
		}
		return false;
	}
	focusOn(v) {
		const p = this.picture;

		p.cursor = v;
		p.tree.locate(v);
		p.reveal(v);
		this.draw();
		this.app.select(p.tree, v);
	}
	/* Next (1) or previous (-1) match. */
	stepMatch(way) {
		const p = this.picture,
			{ matches } = this.app;

		if (!matches || !p.tree.lay[0]) return;
		const list = matchList(p.tree, matches, ((p.b - p.a) / p.area.w) * 0.1, 20000);

		if (!list.length) return;
		const at = list.indexOf(p.cursor),
			next =
				at < 0
					? way > 0
						? 0
						: list.length - 1
					: (at + way + list.length) % list.length;

		this.app.say("match " + (next + 1) + " of " + list.length);
		this.focusOn(list[next]);
	}
	cursorNode() {
		return this.picture.cursor >= 0 ? this.picture.cursor : this.picture.zoomed;
	}
}
