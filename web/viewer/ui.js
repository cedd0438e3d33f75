/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page: what the state says is derived once, then shown by the view that is open. */
import { functionTable, matchedWeight } from "./analyse.js";
import { ChartView } from "./chart.js";
import { Colors, legendOf } from "./color.js";
import { deriveTree, isDiff, setPlumbing } from "./derive.js";
import { exportsOf } from "./export.js";
import { FlameView } from "./flame.js";
import { GraphView } from "./graph.js";
import { HeatMap } from "./heat.js";
import {
	DIFF_HELP,
	HEAT_HELP,
	HELP,
	helpSection,
	keysSheet,
	RATIO_HELP,
	WAITS_HELP,
} from "./help.js";
import { matchingFrames, unitOf } from "./model.js";
import {
	actionsOf,
	chipsOf,
	factsOf,
	fillDetail,
	fillMirror,
	filterPanel,
	frameFacts,
	moreFacts,
	nodeFacts,
	openMenu,
	originOf,
	showTip,
	withShare,
} from "./panel.js";
import { SandwichView } from "./sandwich.js";
import { CHOICES, Store } from "./state.js";
import { FunctionsView, TreeView } from "./table.js";
import { ReversedTree } from "./tree.js";
import { $, baseName, debounce, el, fill, fmtCount, fmtPercent, makeRegex } from "./util.js";
import { hasStates, stateFacts } from "./waits.js";

/* Facts of more letters give way when the line is full. */
const LONG_FACT = 22;

export const VIEWS = [
	["flame", "Flame graph", FlameView],
	["time", "Time order", ChartView],
	["sandwich", "Sandwich", SandwichView],
	["tree", "Call tree", TreeView],
	["functions", "Functions", FunctionsView],
	["graph", "Call graph", GraphView],
];

export class App {
	constructor(model, options) {
		this.model = model;
		this.options = options;
		setPlumbing(options.plumbing);
		this.version = 0;
		this.timing = {};
		this.views = {};
		this.darkQuery = matchMedia("(prefers-color-scheme: dark)");
		this.store = new Store(model, startState(model, options), () => this.refresh());
		this.heat = new HeatMap(this);
		$("heat-box").append(this.heat.node);
		this.darkQuery.addEventListener("change", () => this.refresh());
		this.buildControls();
	}
	get state() {
		return this.store.state;
	}
	/* More of the same recording; what the reader has chosen stays. */
	setModel(model, zoom) {
		this.model = this.store.model = model;
		this.deriveKey = this.lookKey = null;
		this.store.replace({ zoom });
		this.refresh();
	}
	get view() {
		return this.views[this.state.view];
	}
	get dark() {
		return this.state.theme === "auto"
			? this.darkQuery.matches
			: this.state.theme === "dark";
	}
	/* --- deriving ---------------------------------------------------------------------- */
	derive() {
		const s = this.state,
			key = JSON.stringify([
				s.event,
				s.counts,
				s.range,
				s.baseline,
				s.baselineEvent,
				s.ratioEvent,
				s.filters,
				s.group,
				s.transforms,
				s.onlyMatches && s.search,
			]);

		if (key !== this.deriveKey) {
			const begin = performance.now();

			this.deriveKey = key;
			this.derived = deriveTree(this.model, s);
			this.tree = this.derived.tree;
			this.timing.derive = performance.now() - begin;
			this.forget();
			this.widthKey = "a";
		}
		if (this.widthKey !== this.widths()) {
			this.widthKey = this.widths();
			this.tree.setWidths(this.widthKey);
			this.forget();
		}
		this.makeShown();
	}
	forget() {
		this.version++;
		this.reversed = this.tableMade = this.chart = this.peaks = null;
		/* Views that are not open must not keep trees alive that are never shown again. */
		for (const name of Object.keys(this.views))
			if (name !== this.state.view) delete this.views[name];
	}
	widths() {
		return isDiff(this.state) ? this.state.diffWidth : "a";
	}
	makeShown() {
		const { derived: d, state, model } = this,
			each = state.counts ? 1 : d.samples ? d.sum / d.samples : 1;

		this.shown = {
			state,
			sum: d.sum,
			samples: d.samples,
			each: each || 1,
			eachB: state.counts ? 1 : d.samplesB ? this.tree.sumB / d.samplesB || 1 : 1,
			unit: unitOf(model, state.event, state.counts),
			tree: this.tree,
		};
		if (state.color === "self" || (state.color === "diff" && state.absolute))
			Object.assign(this.shown, (this.peaks = this.peaks || peaksOf(this.tree)));
	}
	table() {
		return (this.tableMade = this.tableMade || functionTable(this.tree));
	}
	/* The tree as it is to be drawn: from the root, or from the leaves. */
	shownTree() {
		if (!this.state.reversed) return this.tree;
		if (!this.reversed) {
			this.reversed = ReversedTree.of(this.tree);
			this.reversed.setWidths(this.widths());
		}
		return this.reversed;
	}
	/* Lanes take the place of groups. */
	chartTree() {
		if (!this.state.group) return this.derived;
		return (this.chart =
			this.chart ||
			deriveTree(this.model, Object.assign({}, this.state, { group: "" })));
	}
	deriveLook() {
		const { state, model } = this,
			key = [this.dark, state.color, state.palette, model.frames.count].join();

		if (key !== this.lookKey) {
			this.lookKey = key;
			this.colors = new Colors(model, this.dark, state.color, state.palette);
			this.kindColors = new Colors(model, this.dark, "kind", state.palette);
			document.documentElement.dataset.theme = this.dark ? "dark" : "light";
			const style = getComputedStyle(document.documentElement);

			this.background = style.getPropertyValue("--stage").trim();
			this.accent = style.getPropertyValue("--accent").trim();
			this.accentB = style.getPropertyValue("--accent-b").trim();
		}
		const { regex, error } = makeRegex(state.search);

		this.searchError = error;
		this.matches = matchingFrames(model, regex);
	}
	/* --- showing ----------------------------------------------------------------------- */
	refresh() {
		const begin = performance.now();

		this.derive();
		this.deriveLook();
		this.hideTip();
		this.openView();
		this.showHeader();
		this.showControls();
		this.showSearch();
		this.heat.update();
		this.view.update();
		this.showLegend();
		this.refreshDetail();
		this.timing.refresh = performance.now() - begin;
	}
	openView() {
		const name = this.state.view,
			View = VIEWS.find(([id]) => id === name)[2];

		this.views[name] = this.views[name] || new View(this);
		if ($("main").firstChild !== this.views[name].node) {
			fill($("main"), this.views[name].node);
			this.chosen = null;
		}
		document.body.dataset.view = name;
		document.body.dataset.color = this.state.color;
		document.body.classList.toggle("diff", isDiff(this.state));
		document.body.classList.toggle("no-time", !this.model.hasTime);
		document.body.classList.toggle("no-heat", !this.state.heat || !this.model.hasTime);
		document.body.classList.toggle("mirror", this.state.mirror);
		for (const tab of $("tabs").children)
			tab.setAttribute("aria-selected", String(tab.dataset.view === name));
	}
	heading() {
		return this.options.title || baseName(this.model.facts.source || "profile");
	}
	factLine() {
		return factsOf(this.model, this.state)
			.map(([t]) => t)
			.join(" · ");
	}
	showHeader() {
		$("title").textContent = this.heading();
		fill(
			$("facts"),
			...factsOf(this.model, this.state).map(([text, hint, warn]) =>
				el("span", {
					class:
						"fact" +
						(warn ? " warn" : text.length > LONG_FACT ? " long" : ""),
					text,
					title: text.length > LONG_FACT ? text + ": " + hint : hint,
				})
			)
		);
		fill($("chips"), ...chipsOf(this));
		const { sum, samples, unit } = this.shown;

		$("sum").textContent =
			(unit.name === "samples" ? "" : unit.show(sum) + " · ") +
			fmtCount(samples) +
			" samples shown";
		$("sum").dataset.weight = String(sum);
		$("back").disabled = this.store.depth <= 0;
	}
	showSearch() {
		const input = $("search"),
			out = $("matched");

		if (document.activeElement !== input) input.value = this.state.search;
		input.classList.toggle("bad", !!this.searchError);
		$("only").setAttribute("aria-pressed", String(this.state.onlyMatches));
		if (this.searchError) out.textContent = "not a regular expression";
		else if (this.matches) {
			const m = matchedWeight(this.tree, this.matches);

			out.textContent =
				fmtPercent(this.shown.sum ? m.sum / this.shown.sum : 0) +
				" matched";
			out.title =
				fmtCount(m.boxes) +
				" boxes; where one stands on another it counts once";
		} else out.textContent = "";
	}
	showLegend() {
		const kinds = new Set();

		for (let f = 1; f < this.model.frames.real; f++)
			kinds.add(this.model.frames.kinds[f]);
		const legend = legendOf(this.colors, this.shown, [...kinds].sort((a, b) => a - b)) || [];

		if (this.matches) legend.unshift([this.colors.match, "matches"]);
		fill(
			$("legend"),
			...legend.map(([color, words]) => {
				const dot = el("span", { class: "dot" });

				dot.style.background = color;
				return el("span", { class: "key" }, dot, words);
			})
		);
		if (this.state.color === "module" || this.state.color === "name")
			fill(
				$("legend"),
				el("span", {
					class: "key",
					text:
						this.state.color === "module"
							? "one colour for each module"
							: "one colour for each name",
				})
			);
	}
	/* --- what is in focus -------------------------------------------------------------- */
	select(tree, v) {
		this.chosen = { tree, v, f: tree.frame[v] };
		fillDetail(
			this,
			tree.frame[v],
			tree,
			v,
			nodeFacts(this, tree, v, this.view.viewTotal ? this.view.viewTotal() : 0)
		);
		const { frames } = this.model;

		this.say(
			frames.names[tree.frame[v]] +
				", " +
				fmtPercent(this.shown.sum ? tree.total[v] / this.shown.sum : 0) +
				" of all, self " +
				fmtPercent(this.shown.sum ? tree.self[v] / this.shown.sum : 0)
		);
		fillMirror(this, tree, v);
	}
	selectFrame(f) {
		this.chosen = { tree: null, v: -1, f };
		fillDetail(this, f, null, -1, frameFacts(this, f));
	}
	refreshDetail() {
		const c = this.chosen,
			{ view } = this;

		if (
			view.cursorNode &&
			view.picture.tree &&
			(!c || c.tree !== view.picture.tree || c.version !== this.version)
		)
			this.select(view.picture.tree, view.cursorNode());
		else if (c && c.tree) this.select(c.tree, c.v);
		else if (c) this.selectFrame(c.f);
		else
			fillDetail(this, 0, null, -1, [
				["total", withShare(this, this.shown.sum)],
				["samples", fmtCount(this.shown.samples)],
			]);
		if (this.chosen) this.chosen.version = this.version;
	}
	goTo(tree, v) {
		if (this.view.picture && this.view.picture.tree === tree) {
			this.view.picture.cursor = v;
			this.select(tree, v);
			this.view.zoomTo(v);
		}
	}
	describe(tree, v) {
		return (
			this.model.frames.names[tree.frame[v]] +
			" (" +
			withShare(this, tree.total[v]) +
			")"
		);
	}
	menu(tree, v, x, y) {
		if (v >= 0) openMenu(actionsOf(this, tree.frame[v], tree, v), x, y);
	}
	menuOfFrame(f, x, y) {
		openMenu(actionsOf(this, f, null, -1), x, y);
	}
	/* --- small things ------------------------------------------------------------------ */
	tip(tree, v, x, y, viewTotal, extra) {
		if (v < 0 || !tree) this.hideTip();
		else
			showTip(
				this.model.frames.names[tree.frame[v]],
				originOf(this, tree.frame[v]),
				nodeFacts(this, tree, v, viewTotal).concat(
					stateFacts(this, tree, v),
					extra || []
				),
				x,
				y
			);
	}
	tipOfFrame(f, x, y) {
		showTip(this.model.frames.names[f], originOf(this, f), frameFacts(this, f), x, y);
	}
	tipText(title, lines, x, y) {
		showTip(title, "", lines, x, y);
	}
	hideTip() {
		$("tip").hidden = true;
	}
	say(text) {
		$("live").textContent = text;
	}
	async copy(text, what) {
		try {
			await navigator.clipboard.writeText(text);
		} catch {
			const area = el("textarea", { class: "away" });

			area.value = text;
			document.body.append(area);
			area.select();
			document.execCommand("copy");
			area.remove();
		}
		this.toast(what + " copied");
	}
	toast(text) {
		const t = $("toast");

		t.textContent = text;
		t.classList.add("on");
		clearTimeout(this.toastTimer);
		this.toastTimer = setTimeout(() => t.classList.remove("on"), 1800);
		this.say(text);
	}
	/* --- controls ---------------------------------------------------------------------- */
	buildControls() {
		const set = (changes) => this.store.set(changes);

		fill(
			$("tabs"),
			...VIEWS.map(([id, words], i) =>
				el("button", {
					role: "tab",
					text: words,
					"data-view": id,
					title: words + "  [" + (i + 1) + "]",
					onclick: () => set({ view: id }),
				})
			)
		);
		this.fillSelect("event", eventChoices(this.model));
		this.fillSelect("compare", compareChoices(this.model));
		const on = (id, event, run) => $(id).addEventListener(event, run);

		on("back", "click", () => this.store.back());
		on("reset", "click", () => this.store.reset());
		on("event", "change", (e) =>
			set({ event: Number(e.target.value), zoom: [], window: null })
		);
		on("compare", "change", (e) => set(compareState(e.target.value, this.state)));
		for (const [id, key] of [
			["order", "order"],
			["group", "group"],
			["width", "diffWidth"],
			["lanes", "group"],
		])
			on(id, "change", (e) =>
				set(
					key === "group"
						? { group: e.target.value, zoom: [], window: null }
						: { [key]: e.target.value }
				)
			);
		on("color", "change", (e) =>
			set({
				color: e.target.value.split(" ")[0],
				palette: e.target.value.split(" ")[1] || "fathom",
			})
		);
		on("icicle", "click", () => set({ icicle: !this.state.icicle }));
		on("reverse", "click", () => set({ reversed: !this.state.reversed, zoom: [], window: null }));
		on("absolute", "click", () => set({ absolute: !this.state.absolute }));
		on("swap", "click", () => this.swap());
		on("units", "click", () => set({ counts: !this.state.counts }));
		on("theme", "click", () => this.nextTheme());
		on("show-heat", "click", () => set({ heat: !this.state.heat }));
		on("cell", "change", (e) => this.store.set({ cell: Number(e.target.value) }, true));
		on("filters", "click", () => this.openFilters());
		on("export", "click", () => this.openExport());
		on("how", "click", () => this.openHow());
		on("keys", "click", () => this.openKeys());
		on("about", "click", () => this.openAbout());
		on("mirror-off", "click", () => set({ mirror: false }));
		on(
			"search",
			"input",
			debounce(80, () => this.store.set({ search: $("search").value }, true))
		);
		on("next", "click", () => this.view.stepMatch(1));
		on("previous", "click", () => this.view.stepMatch(-1));
		on("only", "click", () => set({ onlyMatches: !this.state.onlyMatches }));
	}
	fillSelect(id, choices) {
		fill(
			$(id),
			...choices.map(([value, words]) => el("option", { value, text: words }))
		);
	}
	showControls() {
		const s = this.state,
			press = (id, on) => $(id).setAttribute("aria-pressed", String(on));

		$("event").value = s.event;
		$("event").parentElement.hidden = $("compare").parentElement.hidden =
			eventChoices(this.model).length < 2;
		$("compare").value =
			s.baselineEvent !== null ? "d" + s.baselineEvent : s.ratioEvent !== null ? "r" + s.ratioEvent : "";
		for (const [id, value] of [
			["order", s.order],
			["group", s.group],
			[
				"color",
				s.color +
					(s.palette === "classic" && ["kind", "name"].includes(s.color)
						? " classic"
						: ""),
			],
			["width", s.diffWidth],
			["cell", s.cell],
		])
			$(id).value = value;
		$("lanes").value = s.group === "cpu" ? "cpu" : "";
		for (const option of $("color").options)
			option.hidden =
				(option.value === "diff" && !isDiff(s)) ||
				(option.value === "ratio" && s.ratioEvent === null) ||
				(option.value === "state" && !hasStates(this.model));
		press("icicle", s.icicle);
		press("reverse", s.reversed);
		press("absolute", s.absolute);
		press("show-heat", s.heat);
		$("icicle").textContent = s.icicle ? "Icicle" : "Flame";
		$("units").textContent = "weight: " + (s.counts ? "samples" : this.shown.unit.name);
		$("units").hidden = !s.counts && this.shown.unit.name === "samples";
		$("theme").textContent = { auto: "◐", light: "☀", dark: "☾" }[s.theme];
		$("theme").title = "theme: " + s.theme + "  [T]";
		const filters = Object.values(s.filters).reduce((n, l) => n + l.length, 0);

		$("filters").textContent = filters ? "Filter (" + filters + ")" : "Filter";
	}
	nextTheme() {
		const all = CHOICES.theme;

		this.store.set(
			{ theme: all[(all.indexOf(this.state.theme) + 1) % all.length] },
			true
		);
	}
	swap() {
		const s = this.state;

		if (s.baselineEvent !== null) this.store.set({ event: s.baselineEvent, baselineEvent: s.event });
		else if (s.baseline)
			this.store.set({ range: s.baseline, baseline: s.range || [0, this.model.span] });
	}
	openDialog(title, content, wide) {
		const d = $("dialog");

		fill(
			d,
			el(
				"header",
				{},
				el("h2", { text: title }),
				el("button", {
					class: "plain",
					text: "×",
					"aria-label": "close",
					onclick: () => d.close(),
				})
			),
			content
		);
		d.classList.toggle("wide", !!wide);
		if (!d.open) d.showModal();
	}
	openKeys() {
		this.openDialog("Keys", keysSheet(), true);
	}
	openAbout() {
		this.openDialog(
			"The recording",
			el(
				"dl",
				{ class: "about" },
				...moreFacts(this.model).flatMap(([k, v]) => [
					el("dt", { text: k }),
					el("dd", { text: v }),
				])
			)
		);
	}
	openHow() {
		const parts = [HELP[this.state.view]];

		if (isDiff(this.state)) parts.push(DIFF_HELP);
		if (this.state.ratioEvent !== null) parts.push(RATIO_HELP);
		if (/-time$/.test(this.model.events[this.state.event].name)) parts.push(WAITS_HELP);
		if (this.model.hasTime) parts.push(HEAT_HELP);
		this.openDialog(
			"How to read this",
			el("div", { class: "how" }, ...parts.map(helpSection))
		);
	}
	openFilters() {
		this.openDialog("Filter", filterPanel(this), true);
	}
	openExport() {
		const box = $("export").getBoundingClientRect();

		openMenu(
			exportsOf(this).map(([words, run]) => ["", words, "", run]),
			box.left,
			box.bottom + 4
		);
	}
}

function peaksOf(tree) {
	let maxSelf = 0,
		maxDelta = 0;

	for (let v = 1; v < tree.n; v++) {
		if (tree.self[v] > maxSelf) maxSelf = tree.self[v];
		if (tree.totalB)
			maxDelta = Math.max(
				maxDelta,
				Math.abs(tree.total[v] - tree.totalB[v] * tree.scaleB)
			);
	}
	return { maxSelf, maxDelta };
}

/* Some recordings name events that never happened. */
export function eventChoices(model) {
	return model.events.map((e, i) => [i, e.name]).filter(([i]) => model.events[i].samples);
}

function compareChoices(model) {
	const all = eventChoices(model);

	return [
		["", "with nothing"],
		...all.map(([i, name]) => ["d" + i, "with " + name]),
		...all.map(([i, name]) => ["r" + i, "ratio to " + name]),
	];
}

function compareState(value, state) {
	const event = Number(value.slice(1));

	if (value[0] === "d" && event !== state.event)
		return { baselineEvent: event, ratioEvent: null, baseline: null, color: "diff" };
	if (value[0] === "r" && event !== state.event)
		return { ratioEvent: event, baselineEvent: null, baseline: null, color: "ratio" };
	return { baselineEvent: null, ratioEvent: null };
}

const GROUP_AT_ONCE = 300000; /* stacks; grouping more takes longer than opening may */

/* Commands apart, as flame graphs of a whole machine have always had it. */
function startGroup(model, o) {
	if (o.group) return o.group === "none" ? "" : o.group === "cgroup" ? "cg" : o.group;
	const names = new Set(model.threads.slice(1).map((t) => t.comm));

	return names.size > 1 && model.stacks < GROUP_AT_ONCE ? "comm" : "";
}

/* What the page opens with, before the fragment has its say. */
function startState(model, o) {
	const out = {
		event: o.event || 0,
		icicle: !!o.inverted,
		reversed: !!o.reverse,
		counts: !!o.by_count,
		group: startGroup(model, o),
	};
	const first = model.events.findIndex((e) => e.samples);

	if (o.event === undefined) out.event = Math.max(0, first);
	if (o.left_heavy) out.order = "weight";
	if (o.view) out.view = o.view;
	if (o.search) out.search = o.search;
	if (o.color) out.color = o.color;
	/* where threads wait is what they do, not how their language does it */
	if (o.color === "state") out.transforms = [{ kind: "plumbing", frame: 0 }];
	if (o.baseline !== undefined) Object.assign(out, { baselineEvent: o.baseline, color: "diff" });
	if (o.ratio !== undefined) Object.assign(out, { ratioEvent: o.ratio, color: "ratio" });
	/* Folded stacks with two counts are a comparison. */
	const names = model.events.map((e) => e.name);

	if (
		o.event === undefined &&
		names.length === 2 &&
		names.includes("before") &&
		names.includes("after")
	)
		Object.assign(out, {
			event: names.indexOf("after"),
			baselineEvent: names.indexOf("before"),
			color: "diff",
		});
	return out;
}
