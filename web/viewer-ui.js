/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page: what the state says is derived once, then shown by the view that is open. */

/* Facts of more letters give way when the line is full. */
const LONG_FACT = 22;

const VIEWS = [
	["flame", "Flame graph", FlameView],
	["time", "Time order", ChartView],
	["sandwich", "Sandwich", SandwichView],
	["tree", "Call tree", TreeView],
	["functions", "Functions", FunctionsView],
	["graph", "Call graph", GraphView],
];

class App {
	constructor(model, options) {
		this.model = model;
		this.options = options;
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
				s.ev,
				s.cnt,
				s.range,
				s.base,
				s.bev,
				s.rat,
				s.flt,
				s.group,
				s.tf,
				s.qf && s.q,
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
		/* Views that are not open must not keep trees alive that nobody will see again. */
		for (const name of Object.keys(this.views))
			if (name !== this.state.view) delete this.views[name];
	}
	widths() {
		return isDiff(this.state) ? this.state.dw : "a";
	}
	makeShown() {
		const { derived: d, state, model } = this,
			each = state.cnt ? 1 : d.samples ? d.sum / d.samples : 1;

		this.shown = {
			state,
			sum: d.sum,
			samples: d.samples,
			each: each || 1,
			eachB: state.cnt ? 1 : d.samplesB ? this.tree.sumB / d.samplesB || 1 : 1,
			unit: unitOf(model, state.ev, state.cnt),
			tree: this.tree,
		};
		if (state.col === "self" || (state.col === "diff" && state.abs))
			Object.assign(this.shown, (this.peaks = this.peaks || peaksOf(this.tree)));
	}
	table() {
		return (this.tableMade = this.tableMade || functionTable(this.tree));
	}
	/* The tree as it is to be drawn: from the root, or from the leaves. */
	shownTree() {
		if (!this.state.rev) return this.tree;
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
			key = [this.dark, state.col, state.pal, model.frames.count].join();

		if (key !== this.lookKey) {
			this.lookKey = key;
			this.colors = new Colors(model, this.dark, state.col, state.pal);
			this.kindColors = new Colors(model, this.dark, "kind", state.pal);
			document.documentElement.dataset.theme = this.dark ? "dark" : "light";
			const style = getComputedStyle(document.documentElement);

			this.background = style.getPropertyValue("--stage").trim();
			this.accent = style.getPropertyValue("--accent").trim();
			this.accentB = style.getPropertyValue("--accent-b").trim();
		}
		const { regex, error } = makeRegex(state.q);

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
		document.body.classList.toggle("diff", isDiff(this.state));
		document.body.classList.toggle("no-time", !this.model.hasTime);
		document.body.classList.toggle("no-heat", !this.state.heat || !this.model.hasTime);
		document.body.classList.toggle("mirror", this.state.mir);
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

		if (document.activeElement !== input) input.value = this.state.q;
		input.classList.toggle("bad", !!this.searchError);
		$("only").setAttribute("aria-pressed", String(this.state.qf));
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
		const legend = legendOf(this.colors, this.shown, [...kinds].sort()) || [];

		if (this.matches) legend.unshift([this.colors.match, "matches"]);
		fill(
			$("legend"),
			...legend.map(([color, words]) => {
				const dot = el("span", { class: "dot" });

				dot.style.background = color;
				return el("span", { class: "key" }, dot, words);
			})
		);
		if (this.state.col === "module" || this.state.col === "name")
			fill(
				$("legend"),
				el("span", {
					class: "key",
					text:
						this.state.col === "module"
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
			set({ ev: Number(e.target.value), zoom: [], x: null })
		);
		on("compare", "change", (e) => set(compareState(e.target.value, this.state)));
		for (const [id, key] of [
			["order", "order"],
			["group", "group"],
			["width", "dw"],
			["lanes", "group"],
		])
			on(id, "change", (e) =>
				set(
					key === "group"
						? { group: e.target.value, zoom: [], x: null }
						: { [key]: e.target.value }
				)
			);
		on("color", "change", (e) =>
			set({
				col: e.target.value.split(" ")[0],
				pal: e.target.value.split(" ")[1] || "fathom",
			})
		);
		on("icicle", "click", () => set({ icicle: !this.state.icicle }));
		on("reverse", "click", () => set({ rev: !this.state.rev, zoom: [], x: null }));
		on("absolute", "click", () => set({ abs: !this.state.abs }));
		on("swap", "click", () => this.swap());
		on("units", "click", () => set({ cnt: !this.state.cnt }));
		on("theme", "click", () => this.nextTheme());
		on("show-heat", "click", () => set({ heat: !this.state.heat }));
		on("cell", "change", (e) => this.store.set({ cell: Number(e.target.value) }, true));
		on("filters", "click", () => this.openFilters());
		on("export", "click", () => this.openExport());
		on("how", "click", () => this.openHow());
		on("keys", "click", () => this.openKeys());
		on("about", "click", () => this.openAbout());
		on("mirror-off", "click", () => set({ mir: false }));
		on(
			"search",
			"input",
			debounce(80, () => this.store.set({ q: $("search").value }, true))
		);
		on("next", "click", () => this.view.stepMatch(1));
		on("previous", "click", () => this.view.stepMatch(-1));
		on("only", "click", () => set({ qf: !this.state.qf }));
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

		$("event").value = s.ev;
		$("event").parentElement.hidden = $("compare").parentElement.hidden =
			eventChoices(this.model).length < 2;
		$("compare").value =
			s.bev !== null ? "d" + s.bev : s.rat !== null ? "r" + s.rat : "";
		for (const [id, value] of [
			["order", s.order],
			["group", s.group],
			[
				"color",
				s.col +
					(s.pal === "classic" && ["kind", "name"].includes(s.col)
						? " classic"
						: ""),
			],
			["width", s.dw],
			["cell", s.cell],
		])
			$(id).value = value;
		$("lanes").value = s.group === "cpu" ? "cpu" : "";
		for (const option of $("color").options)
			option.hidden =
				(option.value === "diff" && !isDiff(s)) ||
				(option.value === "ratio" && s.rat === null) ||
				(option.value === "state" && !hasStates(this.model));
		press("icicle", s.icicle);
		press("reverse", s.rev);
		press("absolute", s.abs);
		press("show-heat", s.heat);
		$("icicle").textContent = s.icicle ? "Icicle" : "Flame";
		$("units").textContent = "weight: " + (s.cnt ? "samples" : this.shown.unit.name);
		$("units").hidden = !s.cnt && this.shown.unit.name === "samples";
		$("theme").textContent = { auto: "◐", light: "☀", dark: "☾" }[s.theme];
		$("theme").title = "theme: " + s.theme + "  [T]";
		const filters = Object.values(s.flt).reduce((n, l) => n + l.length, 0);

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

		if (s.bev !== null) this.store.set({ ev: s.bev, bev: s.ev });
		else if (s.base)
			this.store.set({ range: s.base, base: s.range || [0, this.model.span] });
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
		if (this.state.rat !== null) parts.push(RATIO_HELP);
		if (/-time$/.test(this.model.events[this.state.ev].name)) parts.push(WAITS_HELP);
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
function eventChoices(model) {
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

	if (value[0] === "d" && event !== state.ev)
		return { bev: event, rat: null, base: null, col: "diff" };
	if (value[0] === "r" && event !== state.ev)
		return { rat: event, bev: null, base: null, col: "ratio" };
	return { bev: null, rat: null };
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
		ev: o.event || 0,
		icicle: !!o.inverted,
		rev: !!o.reverse,
		cnt: !!o.by_count,
		group: startGroup(model, o),
	};
	const first = model.events.findIndex((e) => e.samples);

	if (o.event === undefined) out.ev = Math.max(0, first);
	if (o.left_heavy) out.order = "weight";
	if (o.view) out.view = o.view;
	if (o.search) out.q = o.search;
	if (o.color) out.col = o.color;
	if (o.baseline !== undefined) Object.assign(out, { bev: o.baseline, col: "diff" });
	if (o.ratio !== undefined) Object.assign(out, { rat: o.ratio, col: "ratio" });
	/* Folded stacks with two counts are a comparison. */
	const names = model.events.map((e) => e.name);

	if (
		o.event === undefined &&
		names.length === 2 &&
		names.includes("before") &&
		names.includes("after")
	)
		Object.assign(out, {
			ev: names.indexOf("after"),
			bev: names.indexOf("before"),
			col: "diff",
		});
	return out;
}
