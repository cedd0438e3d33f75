/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of any length: only the rows that can be seen are on the page. */
import { difference, matchList } from "./analyse.js";
import { isDiff } from "./derive.js";
import { KIND_NAMES } from "./model.js";
import { baseName, clamp, el, fill, fmtPercent, fmtSigned } from "./util.js";

const LINE = 25;

/* what: { columns: [{ key, title, hint, class }], count(), cells(i) -> nodes, rowProps(i) } */
class LongTable {
	constructor(label, what) {
		this.what = what;
		this.selected = -1;
		this.head = el("tr", { role: "row" });
		this.body = el("tbody");
		this.table = el(
			"table",
			{ role: "grid", "aria-label": label },
			el("thead", {}, this.head),
			this.body
		);
		this.node = el("div", { class: "table-box", tabindex: 0 }, this.table);
		this.node.addEventListener("scroll", () => this.draw());
		this.body.addEventListener("click", (e) => this.onRow(e, what.onPick));
		this.body.addEventListener("dblclick", (e) => this.onRow(e, what.onOpen));
		this.body.addEventListener("contextmenu", (e) => {
			e.preventDefault();
			this.onRow(e, what.onMenu);
		});
	}
	onRow(e, use) {
		const row = e.target.closest("tr[data-i]");

		if (row && use) use(Number(row.dataset.i), e);
	}
	setColumns(columns, sort, desc, onSort) {
		fill(
			this.head,
			...columns.map((c) =>
				el(
					"th",
					{
						scope: "col",
						class: c.class,
						title: c.hint,
						"aria-sort":
							c.key === sort
								? desc
									? "descending"
									: "ascending"
								: null,
					},
					c.sortable
						? el("button", {
								text:
									c.title +
									(c.key === sort
										? desc
											? " ▾"
											: " ▴"
										: ""),
								onclick: () => onSort(c.key),
							})
						: c.title
				)
			)
		);
		this.columns = columns;
	}
	draw() {
		const count = this.what.count(),
			height = this.node.clientHeight || 600,
			top = this.node.scrollTop;
		const from = clamp(Math.floor(top / LINE) - 4, 0, count),
			to = clamp(from + Math.ceil(height / LINE) + 8, 0, count);
		const rows = [this.spacer(from)];

		for (let i = from; i < to; i++) {
			const props = Object.assign(
				{
					"data-i": i,
					role: "row",
					"aria-rowindex": i + 2,
					"aria-selected": String(i === this.selected),
				},
				this.what.rowProps ? this.what.rowProps(i) : {}
			);

			if (i === this.selected) props.class = "selected";
			rows.push(
				el(
					"tr",
					props,
					...this.what.cells(i).map((cell, c) =>
						el(
							"td",
							{
								class: this.columns[c].class,
								role: "gridcell",
							},
							cell
						)
					)
				)
			);
		}
		rows.push(this.spacer(count - to));
		this.table.setAttribute("aria-rowcount", count + 1);
		fill(this.body, ...rows);
	}
	spacer(lines) {
		const row = el("tr", { class: "spacer", "aria-hidden": "true" });

		row.style.height = lines * LINE + "px";
		return row;
	}
	select(i) {
		this.selected = i;
		const top = i * LINE,
			box = this.node;

		if (i >= 0 && top < box.scrollTop) box.scrollTop = top;
		else if (i >= 0 && top + 2 * LINE + 6 > box.scrollTop + box.clientHeight)
			box.scrollTop = top + 2 * LINE + 6 - box.clientHeight;
		this.markSelected();
	}
	/* Rows stay the elements that they are: a second click must meet the same one. */
	markSelected() {
		let found = false;

		for (const row of this.body.querySelectorAll("tr[data-i]")) {
			const is = Number(row.dataset.i) === this.selected;

			row.classList.toggle("selected", is);
			row.setAttribute("aria-selected", String(is));
			found = found || is;
		}
		if (!found) this.draw();
	}
	key(e) {
		const page = Math.max(1, Math.floor(this.node.clientHeight / LINE) - 2),
			last = this.what.count() - 1;
		const steps = {
			ArrowDown: 1,
			ArrowUp: -1,
			PageDown: page,
			PageUp: -page,
			Home: -Infinity,
			End: Infinity,
		};

		if (steps[e.key] === undefined || last < 0) return false;
		this.what.onPick(
			clamp(
				Math.max(this.selected, steps[e.key] > 0 ? -1 : 0) + steps[e.key],
				0,
				last
			)
		);
		return true;
	}
}

/* A bar, the weight in words unless there is no room for it, and the share. */
function shareCell(share, text) {
	const bar = el("span", { class: "share-bar" });

	bar.style.width = clamp(share * 100, 0, 100) + "%";
	return el(
		"span",
		{ class: "share" },
		bar,
		text ? el("span", { class: "num", text }) : null,
		el("span", { class: "percent", text: fmtPercent(share) })
	);
}

function nameCell(app, f, prefix, withModule) {
	const dot = el("span", { class: "dot", title: KIND_NAMES[app.model.frames.kinds[f]] });

	dot.style.background = app.kindColors.ofKind(app.model.frames.kinds[f], 0.5);
	return el(
		"span",
		{ class: "name" },
		prefix || null,
		dot,
		el("span", {
			class: "words",
			text: app.model.frames.names[f],
			title: app.model.frames.names[f],
		}),
		withModule
			? el("span", { class: "from", text: baseName(app.model.frames.modules[f]) })
			: null
	);
}

export class FunctionTable {
	constructor(app, options) {
		this.app = app;
		this.options = options || {};
		this.rows = [];
		this.long = new LongTable("Functions", {
			count: () => this.rows.length,
			cells: (i) => this.cells(this.rows[i]),
			rowProps: (i) => ({ "data-frame": this.rows[i] }),
			onPick: (i) => this.pick(i),
			onOpen: (i) => app.store.set({ view: "sandwich", function: this.rows[i] }),
			onMenu: (i, e) => {
				this.pick(i);
				app.menuOfFrame(this.rows[i], e.clientX, e.clientY);
			},
		});
		this.node = this.long.node;
		if (this.options.compact) this.node.classList.add("compact");
	}
	columns() {
		const diff = isDiff(this.app.state),
			compact = this.options.compact;
		const all = [
			{
				key: "self",
				title: "Self",
				hint: "samples in which the function itself ran",
				class: "n",
				sortable: true,
			},
			{
				key: "total",
				title: "Total",
				hint: "with everything it called; recursion counts once",
				class: "n",
				sortable: true,
			},
			diff && {
				key: "dself",
				title: "Δ self",
				hint: "change of its share, percent of all",
				class: "n",
				sortable: true,
			},
			diff && {
				key: "dtotal",
				title: "Δ total",
				hint: "change of its share, percent of all",
				class: "n",
				sortable: true,
			},
			{ key: "name", title: "Function", class: "name-column", sortable: true },
			{ key: "module", title: "Module", class: "module", sortable: true },
		];

		return all.filter(
			(c) => c && !(compact && ["module", "dself", "dtotal"].includes(c.key))
		);
	}
	valueOf(key, f) {
		const t = this.table,
			tree = this.app.tree,
			{ frames } = this.app.model;

		switch (key) {
			case "total":
				return t.total[f];
			case "dself":
				return t.self[f] - t.selfB[f] * tree.scaleB;
			case "dtotal":
				return t.total[f] - t.totalB[f] * tree.scaleB;
			case "name":
				return frames.names[f];
			case "module":
				return baseName(frames.modules[f]);
			default:
				return t.self[f];
		}
	}
	cells(f) {
		const { app, table: t } = this,
			{ sum, unit } = app.shown,
			of = (w) => (sum ? w / sum : 0),
			tree = app.tree;
		const cell = {
			self: () =>
				shareCell(
					of(t.self[f]),
					this.options.compact ? "" : unit.show(t.self[f])
				),
			total: () =>
				shareCell(
					of(t.total[f]),
					this.options.compact ? "" : unit.show(t.total[f])
				),
			dself: () => this.change(t.self[f], t.selfB[f], tree),
			dtotal: () => this.change(t.total[f], t.totalB[f], tree),
			name: () => nameCell(app, f, null, this.options.compact),
			module: () =>
				el("span", {
					text: baseName(app.model.frames.modules[f]),
					title: app.model.frames.modules[f],
				}),
		};

		return this.shownColumns.map((c) => cell[c.key]());
	}
	change(a, b, tree) {
		const d = difference(tree, a, b, this.app.shown),
			sum = this.app.shown.sum || 1;

		return el("span", {
			class: d.noise ? "quiet" : d.delta > 0 ? "more" : "less",
			text: fmtSigned(d.delta / sum),
			title: d.noise ? "within noise" : "",
		});
	}
	update(chosen) {
		const { app } = this,
			{ state } = app;

		this.table = app.table();
		this.shownColumns = this.columns();
		const sort = this.shownColumns.some((c) => c.key === state.sort)
			? state.sort
			: "self";

		this.long.setColumns(this.shownColumns, sort, state.descending, (key) =>
			app.store.set(
				{
					sort: key,
					descending:
						key === state.sort
							? !state.descending
							: !["name", "module"].includes(key),
				},
				true
			)
		);
		const sign = state.descending ? -1 : 1,
			keyOf = (f) => this.valueOf(sort, f);

		this.rows = this.table.rows
			.filter((f) => !app.matches || app.matches[f])
			.map((f) => [keyOf(f), f])
			.sort((x, y) =>
				x[0] < y[0]
					? -sign
					: x[0] > y[0]
						? sign
						: this.table.total[y[1]] - this.table.total[x[1]] ||
							x[1] - y[1]
			)
			.map((x) => x[1]);
		this.long.select(this.rows.indexOf(chosen));
		this.long.draw();
	}
	pick(i) {
		const f = this.rows[i];

		if (f === undefined) return;
		this.chosen = f;
		this.long.select(i);
		this.app.selectFrame(f);
		if (this.options.onPick) this.options.onPick(f);
	}
	key(e) {
		if (this.options.compact && document.activeElement !== this.node) return false;
		if (e.key === "Enter" && this.long.selected >= 0) {
			this.app.store.set({ view: "sandwich", function: this.rows[this.long.selected] });
			return true;
		}
		return this.long.key(e);
	}
	stepMatch(way) {
		if (this.rows.length)
			this.pick((this.long.selected + way + this.rows.length) % this.rows.length);
	}
}

export class FunctionsView {
	constructor(app) {
		this.app = app;
		this.table = new FunctionTable(app);
		this.node = el("div", { class: "single" }, this.table.node);
	}
	update() {
		this.table.update(this.table.chosen);
	}
	draw() {
		this.table.long.draw();
	}
	key(e) {
		return this.table.key(e);
	}
	stepMatch(way) {
		this.table.stepMatch(way);
	}
	focusNode() {
		return this.table.node;
	}
}

/* The tree as lines that open and close. */
export class TreeView {
	constructor(app) {
		this.app = app;
		this.lines = [];
		this.long = new LongTable("Call tree", {
			count: () => this.lines.length,
			cells: (i) => this.cells(this.lines[i]),
			rowProps: (i) => ({
				"aria-level": this.lines[i].depth + 1,
				"aria-expanded": this.lines[i].kids
					? String(this.lines[i].open)
					: null,
			}),
			onPick: (i, e) => this.pick(i, e && e.target.closest(".twist")),
			onOpen: (i) => this.toggle(i),
			onMenu: (i, e) => {
				this.pick(i);
				app.menu(this.tree, this.lines[i].v, e.clientX, e.clientY);
			},
		});
		this.long.table.setAttribute("role", "treegrid");
		this.node = el("div", { class: "single" }, this.long.node);
		this.long.setColumns([
			{ title: "Total", class: "n", hint: "with everything it called" },
			{ title: "Self", class: "n", hint: "the function itself" },
			{ title: "Function", class: "name-column" },
			{ title: "Module", class: "module" },
		]);
	}
	update() {
		const { app } = this,
			tree = app.shownTree();

		if (
			this.tree !== tree ||
			this.version !== app.version ||
			this.order !== app.state.order
		) {
			this.tree = tree;
			this.version = app.version;
			this.order = app.state.order;
			tree.setOrder("weight");
			this.lines = [this.line(0, 0)];
			this.openHottest(0);
			this.long.selected = 0;
			tree.setOrder(app.state.order);
		}
		this.long.draw();
	}
	line(v, depth) {
		return { v, depth, open: false, kids: this.tree.children(v) > 0 };
	}
	/* Down from line i, as long as one child has much of it. */
	openHottest(i) {
		for (let steps = 0; steps < 200 && this.lines[i] && this.lines[i].kids; steps++) {
			const { v } = this.lines[i];

			this.open(i);
			const next = this.lines[++i];

			if (this.tree.total[next.v] < this.tree.total[v] * 0.2) return;
		}
	}
	open(i) {
		const line = this.lines[i],
			was = this.tree.order;

		if (line.open || !line.kids) return;
		this.tree.setOrder("weight");
		line.open = true;
		this.tree.children(line.v);
		const kids = Array.from(this.tree.kids.subarray(this.tree.lo, this.tree.hi));
		const added = kids.map((k) => this.line(k, line.depth + 1));

		this.lines = this.lines.slice(0, i + 1).concat(added, this.lines.slice(i + 1));
		this.tree.setOrder(was);
	}
	close(i) {
		const { depth } = this.lines[i];
		let end = i + 1;

		while (end < this.lines.length && this.lines[end].depth > depth) end++;
		this.lines.splice(i + 1, end - i - 1);
		this.lines[i].open = false;
	}
	toggle(i) {
		if (this.lines[i].open) this.close(i);
		else this.open(i);
		this.long.draw();
	}
	cells(line) {
		const { app, tree } = this,
			{ sum, unit } = app.shown,
			f = tree.frame[line.v],
			of = (w) => (sum ? w / sum : 0);
		const twist = el("span", {
			class: "twist",
			text: line.kids ? (line.open ? "▾" : "▸") : "",
		});

		twist.style.marginLeft = Math.min(line.depth, 60) * 14 + "px";
		return [
			shareCell(of(tree.total[line.v]), unit.show(tree.total[line.v])),
			tree.self[line.v]
				? shareCell(of(tree.self[line.v]), unit.show(tree.self[line.v]))
				: "",
			nameCell(app, f, twist),
			el("span", { text: baseName(app.model.frames.modules[f] || "") }),
		];
	}
	draw() {
		this.long.draw();
	}
	pick(i, twist) {
		this.long.select(i);
		this.app.select(this.tree, this.lines[i].v);
		if (twist) this.toggle(i);
	}
	key(e) {
		const i = this.long.selected,
			line = this.lines[i];

		if (line && e.key === "ArrowRight") {
			if (line.open || !line.kids) return this.long.key({ key: "ArrowDown" });
			this.toggle(i);
			return true;
		}
		if (line && e.key === "ArrowLeft") {
			if (line.open) this.toggle(i);
			else if (line.depth)
				this.pick(
					this.lines.findLastIndex(
						(l, j) => j < i && l.depth < line.depth
					)
				);
			return true;
		}
		if (line && e.key === "*") {
			this.openHottest(i);
			this.long.draw();
			return true;
		}
		if (line && e.key === "Enter") {
			this.toggle(i);
			return true;
		}
		return this.long.key(e);
	}
	/* Opens what is needed to see the next match. */
	stepMatch(way) {
		const { matches } = this.app,
			{ tree } = this;

		if (!matches) return;
		tree.setOrder("weight");
		const list = matchList(tree, matches, tree.lay[0] * 1e-4, 5000),
			now = this.lines[this.long.selected];
		const at = now ? list.indexOf(now.v) : -1;

		if (list.length)
			this.showNode(
				list[
					at < 0
						? way > 0
							? 0
							: list.length - 1
						: (at + way + list.length) % list.length
				]
			);
	}
	showNode(v) {
		const path = [];

		for (let u = v; u; u = this.tree.parent[u]) path.push(u);
		let i = 0;

		for (const u of path.reverse()) {
			this.open(i);
			i = this.lines.findIndex((l, j) => j > i && l.v === u);
			if (i < 0) return;
		}
		this.pick(i);
	}
	focusNode() {
		return this.long.node;
	}
}
