/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of `fathom serve`: charts, results, tools. */
import { $, debounce, el, fill } from "../viewer/util.js";
import { get, readStream, takeToken } from "./api.js";
import { Chart } from "./chart.js";
import { Frames } from "./frames.js";
import { Hosts } from "./hosts.js";
import { Processes } from "./processes.js";
import { Results } from "./results.js";
import { Axis } from "./timing.js";
import { Tools } from "./tools.js";
import { fmtTime } from "./units.js";

const TABS = ["charts", "results", "tools"];
const RANKS = ["none", "view", "profile", "trace", "program"];

class Page {
	constructor(about) {
		this.about = about;
		this.frames = new Frames();
		this.axis = new Axis(() => this.axisChanged());
		this.results = new Results(this);
		this.tools = new Tools(this);
		this.parts = about.charts.map((info, i) => new Chart(info, i, this));
		this.processes = new Processes(this);
		this.hosts = new Hosts(this);
		this.tab = "charts";
		this.rememberSoon = debounce(300, () => this.remember());
		this.build();
		this.readColors();
	}

	may(role) {
		return RANKS.indexOf(this.about.role) >= RANKS.indexOf(role);
	}

	/* --- what is there -------------------------------------------------------------------- */

	build() {
		this.arrange();
		$("host").textContent = `${this.about.host}`;
		document.title = `${this.about.host} - fathom`;
		const why = this.about.why_not || (this.may("profile") ? "" : "this address allows looking only");

		$("why").hidden = !why;
		$("why").textContent = why;
		for (const id of ["record", "past", "mark", "compare"]) $(id).disabled = !this.may("profile") || !this.about.may_record;
		$("tab-tools").disabled = !this.may("trace");
		$("tab-results").disabled = !this.may("profile");
	}

	/* All machines, ours first. */
	get machines() {
		return [this, ...this.hosts.shown];
	}

	get name() {
		return this.about.host;
	}

	get aims() {
		return true;
	}

	/* The same chart of all machines: they have one scale. */
	group(chart) {
		return this.machines.flatMap((m) => m.parts.filter((p) => p.info.id === chart.info.id && p.info.unit === chart.info.unit));
	}

	/* By question; with other machines each chart is a row, which has a column for each of them. */
	arrange() {
		const questions = new Map(),
			{ machines } = this,
			many = machines.length > 1,
			add = (part) => questions.set(part.info.question, [...(questions.get(part.info.question) || []), part]);

		for (const part of this.parts) add(part);
		for (const host of machines.slice(1))
			for (const part of host.parts) if (!this.parts.some((p) => p.info.id === part.info.id)) add(part);
		const cards = (parts) => (many
			? parts.map((part) => el("div", { class: "hosts-row", role: "group", "aria-label": part.info.title }, ...this.group(part).map((p) => p.root)))
			: [el("div", { class: "cards" }, ...parts.map((p) => p.root))]);

		for (const m of machines) for (const part of [...m.parts, m.processes]) part.nameHost(many ? m.name : "");
		document.body.style.setProperty("--hosts", machines.length);
		fill($("charts"), ...[...questions].flatMap(([question, parts]) => [el("h2", { text: question }), ...cards(parts)]),
			el("h2", { text: "Which process?" }), el("div", { class: many ? "hosts-row" : null }, ...machines.map((m) => m.processes.root)));
		this.redraw();
	}

	readColors() {
		const style = getComputedStyle(document.documentElement),
			get = (name) => style.getPropertyValue(name).trim();

		this.colors = { grid: get("--grid"), quiet: get("--quiet"), select: get("--select") };
	}

	setTheme(theme) {
		document.documentElement.dataset.theme = theme;
		this.readColors();
		for (const canvas of document.querySelectorAll("canvas.heatmap")) canvas.paint();
		this.redraw();
	}

	say(text, bad) {
		$("state").textContent = text;
		$("state").className = bad ? "state bad" : "state";
	}

	/* --- drawing -------------------------------------------------------------------------- */

	redraw() {
		if (this.planned) return;
		this.planned = true;
		requestAnimationFrame(() => {
			this.planned = false;
			if (this.tab !== "charts") return;
			for (const m of this.machines) for (const part of m.parts) part.measure();
			for (const m of this.machines) {
				for (const part of m.parts) part.draw();
				m.processes.draw();
			}
		});
	}

	axisChanged() {
		const { axis } = this;

		$("pause").setAttribute("aria-pressed", String(!axis.live));
		$("pause").textContent = axis.live ? "Pause" : "Live";
		$("chosen").hidden = !axis.chosen;
		$("compare").hidden = !this.marked;
		if (axis.chosen) {
			const [a, b] = axis.chosen;

			$("chosen-text").textContent = `${fmtTime(a)} to ${fmtTime(b)}, ${((b - a) / 1000).toFixed(1)} s`;
		}
		this.rememberSoon();
		this.redraw();
	}

	/* The meaning of the counters that a line is made of. */
	explain(item, info, line) {
		const box = $("hover");

		box.hidden = !item;
		if (!item) return;
		const { formula, counters } = info.lines[line];

		fill(box, el("p", {}, el("b", { text: info.lines[line].label }), document.createTextNode(" = " + formula)),
			...counters.filter((c, i) => counters.indexOf(c) === i).map((name) => {
				const m = this.about.meanings[name] || {};

				return el("p", {}, el("b", { text: name + ": " }),
					document.createTextNode((m.meaning || "") + (m.high ? " If high: " + m.high : "")));
			}));
		const at = item.getBoundingClientRect();

		box.style.left = Math.max(4, Math.min(at.left, innerWidth - box.offsetWidth - 8)) + "px";
		box.style.top = (at.bottom + box.offsetHeight + 8 > innerHeight ? at.top - box.offsetHeight - 6 : at.bottom + 4) + "px";
	}

	/* --- state in the fragment ------------------------------------------------------------ */

	remember() {
		const state = new URLSearchParams(),
			{ axis } = this;

		if (this.tab !== "charts") state.set("tab", this.tab);
		if (axis.span !== 60) state.set("span", axis.span.toFixed(0));
		if (!axis.live) state.set("end", axis.end.toFixed(0));
		if (axis.chosen) state.set("chosen", axis.chosen.map((t) => t.toFixed(0)).join("-"));
		if (this.results.shown) state.set("job", this.results.shown);
		history.replaceState(null, "", "#" + state);
	}

	restore() {
		const state = new URLSearchParams(location.hash.slice(1)),
			span = Number(state.get("span")), end = Number(state.get("end")),
			chosen = (state.get("chosen") || "").split("-").map(Number);

		if (span >= 5) this.axis.span = span;
		if (end > 0) this.axis.end = end;
		if (chosen.length === 2 && chosen[1] > chosen[0]) this.axis.chosen = chosen;
		if (Number(state.get("job"))) this.results.open(Number(state.get("job")));
		if (TABS.includes(state.get("tab"))) this.showTab(state.get("tab"));
		this.axisChanged();
	}

	showTab(name) {
		if ($("tab-" + name).disabled) return;
		this.tab = name;
		for (const tab of TABS) {
			$(tab).hidden = tab !== name;
			$("tab-" + tab).setAttribute("aria-selected", String(tab === name));
		}
		if (name === "tools") this.tools.load();
		this.rememberSoon();
		this.redraw();
	}

	/* One recording is served, and nothing of the machine. */
	showOnce() {
		const [job] = this.results.jobs.values();

		$("tab-charts").disabled = $("tab-tools").disabled = true;
		this.showTab("results");
		if (job) {
			if (job.state !== "done") this.results.awaited = job.job;
			this.results.open(job.job);
		}
	}

	/* --- recording ------------------------------------------------------------------------ */

	aim(target, whose) {
		$("target").value = target;
		$("whose").value = whose;
		this.targetChanged();
		$("record").focus();
	}

	targetChanged() {
		$("whose").hidden = $("target").value === "machine";
	}

	request() {
		const target = $("target").value,
			body = { kind: $("kind").value, target };

		if (target === "cgroup") body.cgroup = $("whose").value;
		else if (target !== "machine") body.id = Number($("whose").value) || 0;
		return body;
	}

	record() {
		if ($("record").disabled) return;
		this.results.begin("/api/v1/record", { ...this.request(), seconds: Number($("seconds").value) || 5 });
	}

	past(kind) {
		const { chosen } = this.axis;

		if (!chosen || $("past").disabled) return;
		this.results.begin("/api/v1/record", { ...this.request(), ...(kind ? { kind } : {}),
			from: Math.round(chosen[0]), to: Math.round(chosen[1]) });
	}

	/* A span is marked, and compared with the one that is selected next. */
	mark() {
		this.marked = this.axis.chosen;
		this.axis.choose(null);
		this.axisChanged();
		if (this.marked) this.say("now drag over the span to compare with");
	}

	compare() {
		const { chosen } = this.axis;

		if (!chosen || !this.marked || $("past").disabled) return;
		const [[from, to], [beforeFrom, beforeTo]] = [chosen, this.marked].map((span) => span.map(Math.round));

		this.results.begin("/api/v1/diff", { ...this.request(), from, to, before_from: beforeFrom, before_to: beforeTo });
	}

	/* --- the stream ----------------------------------------------------------------------- */

	take(type, data) {
		if (type === "hello") {
			this.stream = data.stream;
		} else if (type === "job") {
			this.results.take(data);
		} else if (type === "peer") {
			this.hosts.take(data);
		} else if (type === "peerframe") {
			this.hosts.takeFrame(data);
		} else {
			this.takeFrame(data);
		}
	}

	takeFrame(frame) {
		const back = this.frames.add(frame);

		if (back > 1000) {
			this.setBack = {
				until: frame.t + 60000,
				text: `live; the clock was set back by ${(back / 1000).toFixed(0)} s to ${fmtTime(frame.t)}, what was shown after that time is gone`,
			};
			if (this.marked && this.marked[1] > frame.t) this.marked = null;
			this.axis.setBack(frame.t);
		}
		this.axis.newest = frame.t;
		this.say(this.setBack && frame.t < this.setBack.until ? this.setBack.text : "live");
		this.redraw();
	}

	/* One stream for the page; none while it is hidden. */
	async follow() {
		for (let wait = 1000; ; wait = Math.min(wait * 2, 15000)) {
			if (document.hidden) {
				await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
				continue;
			}
			this.ending = new AbortController();
			try {
				await this.fillGap();
				await this.hosts.load();
				/* what became of jobs meanwhile */
				if (this.may("profile")) await this.results.load();
				await readStream("/api/v1/stream", this.ending.signal, (type, data) => {
					wait = 1000;
					this.take(type, data);
				});
				this.say("the server ended the connection", true);
			} catch (error) {
				if (error.status === 401) return void this.say(error.message, true);
				if (error.name !== "AbortError") this.say("no connection: " + error.message, true);
			}
			this.stream = 0;
			if (!document.hidden) await new Promise((done) => setTimeout(done, wait));
		}
	}

	/* Frames since the last one that is here, or all of them. */
	async fillGap() {
		const since = this.frames.last ? this.frames.last.t + 1 : 0,
			text = await (await get("/api/v1/history?from=" + since)).text(),
			frames = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));

		for (const frame of frames) this.frames.add(frame);
		if (this.frames.last) this.axis.newest = this.frames.last.t;
		this.redraw();
	}
}

const KEYS = [
	["Space", "pause, or resume", (p) => p.axis.pause(p.axis.live)],
	["<", "back in time", (p) => p.axis.move(-0.5)],
	[">", "forward in time", (p) => p.axis.move(0.5)],
	["+", "a shorter span", (p) => p.axis.scale(0.5)],
	["-", "a longer span", (p) => p.axis.scale(2)],
	["0", "one minute, live", (p) => {
		p.axis.span = 60;
		p.axis.pause(false);
	}],
	["r", "record", (p) => p.record()],
	["f", "picture of the selected span", (p) => p.past()],
	["o", "off-CPU time of the selected span", (p) => p.past("offcpu")],
	["h", "hot/cold graph of the selected span", (p) => p.past("hotcold")],
	["b", "mark the selected span as the one before", (p) => p.axis.chosen && p.mark()],
	["c", "compare the selected span with the marked one", (p) => p.compare()],
	["z", "zoom to the selected span", (p) => p.axis.chosen && p.axis.show(...p.axis.chosen)],
	["Escape", "forget the selection", (p) => p.axis.choose(null)],
	["1", "charts", (p) => p.showTab("charts")],
	["2", "results", (p) => p.showTab("results")],
	["3", "tools", (p) => p.showTab("tools")],
	["d", "light or dark", (p) => p.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark")],
	["?", "these keys", () => $("help").showModal()],
];

function listen(page) {
	const on = (id, type, fn) => $(id).addEventListener(type, fn),
		key = (name) => KEYS.find(([k]) => k === name)[2];

	for (const tab of TABS) on("tab-" + tab, "click", () => page.showTab(tab));
	on("span", "change", () => {
		page.axis.span = Number($("span").value);
		page.axisChanged();
	});
	on("pause", "click", () => key("Space")(page));
	on("older", "click", () => key("<")(page));
	on("newer", "click", () => key(">")(page));
	on("theme", "click", () => key("d")(page));
	on("keys", "click", () => key("?")(page));
	on("record", "click", () => page.record());
	on("past", "click", () => page.past());
	on("mark", "click", () => page.mark());
	on("compare", "click", () => page.compare());
	on("zoom", "click", () => key("z")(page));
	on("clear", "click", () => key("Escape")(page));
	on("target", "change", () => page.targetChanged());
	fill($("help"), el("h2", { text: "Keys" }), el("dl", {}, ...KEYS.flatMap(([k, text]) =>
		[el("dt", {}, el("kbd", { text: k })), el("dd", { text })]),
	el("dt", {}, el("kbd", { text: "← →" })), el("dd", { text: "in a chart: move the cursor; with Shift select" }),
	el("dt", {}, el("kbd", { text: "Enter" })), el("dd", { text: "in a chart: what its lines mean, one by one" })),
	el("form", { method: "dialog" }, el("button", { text: "Close" })));
	addEventListener("keydown", (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea, dialog")) return;
		const found = KEYS.find(([k]) => k === (e.key === " " ? "Space" : e.key));

		if (!found || (e.key === " " && e.target.closest("button"))) return;
		e.preventDefault();
		found[2](page);
	});
	addEventListener("resize", () => page.redraw());
	document.addEventListener("visibilitychange", () => document.hidden && page.ending && !page.results.awaited && page.ending.abort());
}

async function openPage() {
	document.documentElement.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
	/* over a Unix socket there is none, and none is needed */
	takeToken();
	try {
		const page = new Page(await (await get("/api/v1/about")).json());

		listen(page);
		if (page.may("profile")) await page.results.load();
		page.restore();
		if (page.about.once) page.showOnce();
		/* For tests, scripts and the console. */
		window.fathomServe = page;
		document.body.classList.add("ready");
		await page.follow();
	} catch (error) {
		const text = error.status === 401 ? "This address has no token that is right: open the one that 'fathom serve' printed." : error.message;

		fill($("charts"), el("p", { class: "bad", text }));
		document.body.classList.add("ready");
	}
}

openPage();
