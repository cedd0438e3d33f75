/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's time line: who ran on each CPU and who wanted to, what each task did, who woke
 * whom. It is in a page, or in a picture, in whose place it is then drawn.
 */
import { Pointer } from "../viewer/pointer.js";
import {
	clamp, debounce, el, fill, firstIndex, fmtCount, fmtNs, fmtPercent, makeRegex,
} from "../viewer/util.js";
import { Data, DOES, WAKE_STRIDE } from "./data.js";
import { Picture } from "./picture.js";

const SVG = "http://www.w3.org/2000/svg";
const KEYS = [
	["wheel, + −, w s", "zoom"],
	["drag, ← →, a d", "move"],
	["shift-drag", "select a span of time"],
	["click", "choose a stretch and its task: its waker, its wake-ups, all others pale"],
	["shift-wheel, ↑ ↓", "scroll"],
	["/", "search tasks (a regular expression)"],
	["Enter", "in the search: next match"],
	["z", "zoom to the selection, or to the stretch that was clicked"],
	["0, double click", "show everything"],
	["Esc", "close, forget search, selection, choice"],
	["t", "light or dark"],
];

class TimeLine {
	constructor(data, root) {
		this.data = data;
		this.root = root;
		this.stretch = -1; /* that was clicked */
		this.build();
		this.picture = new Picture(data, this.canvas);
		this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
		this.listen();
		this.readAddress();
		this.setTheme();
		new ResizeObserver(() => this.draw()).observe(this.stage);
	}
	build() {
		const button = (text, title, run, cls) =>
			el("button", { text, title, class: cls || "", onclick: run });

		this.search = el("input", {
			type: "search",
			placeholder: "search tasks (regex)  /",
			"aria-label": "search tasks, a regular expression",
			spellcheck: "false",
		});
		this.matched = el("output", { id: "matched" });
		this.canvas = el("canvas", {
			tabindex: 0,
			role: "application",
			"aria-label": "Time line of the scheduler; keys: question mark",
		});
		this.stage = el("div", { class: "stage" }, this.canvas);
		this.info = el("div", { class: "info", id: "info", role: "status" });
		this.legend = el("div", { class: "legend", id: "legend" });
		this.actions = el("div", { class: "picked" });
		this.tip = el("div", { class: "tip", role: "tooltip", hidden: true });
		this.help = el("div", { class: "sheet", hidden: true });
		fill(
			this.help,
			el("h2", { text: "How to read this" }),
			el("p", {
				text: "Above, a lane for each CPU: who ran, one colour for each command, and in yellow how many wanted to. Below, a row for each task: red runs, yellow wants a CPU, a band is a wait, in the colour of what is waited for, a thin line waits for work or sleeps. What is waited for is known where switches were recorded with stacks (record -g or --off-cpu). Arrows lead from wakers to wakees, as far as they do not lie on one another. Where more happens than a pixel can hold, its colour is the mean of it: half as strong is half of the time.",
			}),
			el(
				"dl",
				{},
				...KEYS.flatMap(([key, what]) => [el("dt", {}, el("kbd", { text: key })), el("dd", { text: what })])
			)
		);
		fill(
			this.root,
			el(
				"header",
				{ class: "top" },
				el("div", { class: "heading" }, el("h1", { text: "Scheduler time line" })),
				el("div", { class: "search", role: "search" }, this.matched, this.search),
				el(
					"div",
					{ class: "tools" },
					button("Reset", "show everything  [0]", () => this.reset()),
					button("◐", "light or dark  [t]", () => this.nextTheme(), "icon"),
					button("?", "how to read this, keys  [?]", () => this.toggleHelp(), "icon")
				)
			),
			el("div", { class: "facts" }, el("span", { id: "facts", text: this.data.facts }), this.info),
			this.stage,
			el("footer", { class: "bottom" }, this.actions, this.legend),
			this.tip,
			this.help
		);
	}
	/* --- events ------------------------------------------------------------------------ */
	listen() {
		const p = this.picture;

		new Pointer(this.canvas, {
			down: (x, y, e) => {
				this.selecting = e.shiftKey ? p.timeAt(x) : null;
			},
			hover: (x, y, e) => this.hoverAt(x, y, e),
			pan: (dx, dy, x) => {
				if (this.selecting !== null) {
					this.select(this.selecting, p.timeAt(x));
					return;
				}
				p.show(p.a - (dx * (p.b - p.a)) / p.width, p.b - p.a);
				p.scrollBy(-dy);
				this.moved();
			},
			click: (x, y) => this.choose(p.hit(x, y)),
			double: () => this.reset(),
			wheel: (x, y, e) => {
				if (e.shiftKey) p.scrollBy(e.deltaY + e.deltaX);
				else if (Math.abs(e.deltaX) > Math.abs(e.deltaY))
					p.show(p.a + (e.deltaX * (p.b - p.a)) / p.width, p.b - p.a);
				else p.zoomAt(x, Math.exp(clamp(e.deltaY, -200, 200) * 0.0035));
				this.moved();
			},
		});
		this.search.addEventListener("input", () => this.find(this.search.value));
		this.search.addEventListener("keydown", (e) => {
			e.stopPropagation();
			if (e.key === "Enter") this.nextMatch();
			if (e.key !== "Escape") return;
			this.search.value = "";
			this.find("");
			this.canvas.focus();
		});
		addEventListener("keydown", (e) => this.key(e));
	}
	key(e) {
		const p = this.picture,
			step = (p.b - p.a) / 5,
			middle = p.x((p.a + p.b) / 2),
			keys = {
				"+": () => p.zoomAt(middle, 0.6),
				"=": () => p.zoomAt(middle, 0.6),
				w: () => p.zoomAt(middle, 0.6),
				"-": () => p.zoomAt(middle, 1 / 0.6),
				s: () => p.zoomAt(middle, 1 / 0.6),
				ArrowLeft: () => p.show(p.a - step, p.b - p.a),
				a: () => p.show(p.a - step, p.b - p.a),
				ArrowRight: () => p.show(p.a + step, p.b - p.a),
				d: () => p.show(p.a + step, p.b - p.a),
				ArrowUp: () => p.scrollBy(-60),
				ArrowDown: () => p.scrollBy(60),
				PageUp: () => p.scrollBy(-400),
				PageDown: () => p.scrollBy(400),
				0: () => this.reset(),
				z: () => this.zoomToSelection(),
				t: () => this.nextTheme(),
				"?": () => this.toggleHelp(),
				"/": () => this.search.focus(),
				Escape: () => this.forget(),
			};

		if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
		e.preventDefault();
		keys[e.key]();
		this.moved();
	}
	reset() {
		this.picture.show(0, this.data.length);
		this.moved();
	}
	forget() {
		if (!this.help.hidden) {
			this.help.hidden = true;
			return;
		}
		this.picture.chosen = this.stretch = -1;
		this.picture.selection = null;
		this.search.value = "";
		this.find("");
		this.picture.show(0, this.data.length);
	}
	toggleHelp() {
		this.help.hidden = !this.help.hidden;
	}
	setTheme() {
		document.documentElement.dataset.theme = this.dark ? "dark" : "light";
		this.picture.setTheme(this.dark);
		this.showLegend();
		this.draw();
	}
	nextTheme() {
		this.dark = !this.dark;
		this.setTheme();
	}
	/* --- search, choice, selection ------------------------------------------------------ */
	find(text) {
		const { regex, error } = makeRegex(text),
			{ data, picture } = this;

		this.search.classList.toggle("bad", !!error);
		picture.matches = regex ? data.tasks.map((t) => regex.test(t.name)) : null;
		if (error) this.matched.textContent = "not a regular expression";
		else if (!picture.matches) this.matched.textContent = "";
		else {
			const ran = (list) => list.reduce((sum, t) => sum + t.time[DOES.RUNS], 0),
				all = ran(data.tasks),
				found = data.tasks.filter((t, i) => picture.matches[i]);

			this.matched.textContent =
				fmtCount(found.length) + " tasks, " + fmtPercent(all ? ran(found) / all : 0) + " of CPU time";
		}
		this.moved();
	}
	nextMatch() {
		const { picture, data } = this,
			list = data.rows.map((task, r) => [task, r]).filter(([task]) => picture.matches && picture.matches[task]);

		if (!list.length) return;
		const after = list.find(([, r]) => r > (this.matchRow ?? -1)) || list[0];

		this.matchRow = after[1];
		picture.scroll = Math.max(0, picture.rowsTop + after[1] * 20 - picture.painter.height / 2);
		this.draw();
	}
	choose(found) {
		if (found && found.mark) {
			if (found.mark.end > found.mark.begin) this.select(found.mark.begin, found.mark.end);
			return;
		}
		const task = found && found.task >= 0 ? found.task : -1,
			same = task === this.picture.chosen && this.stretch === (found?.stretch ?? -1);

		this.picture.chosen = same ? -1 : task;
		this.stretch = same ? -1 : (found?.stretch ?? -1);
		this.showPicked();
		this.draw();
	}
	select(from, to) {
		this.picture.selection = [Math.min(from, to), Math.max(from, to)];
		this.showPicked();
		this.draw();
	}
	/* To the selected span, or to the stretch that was clicked. */
	zoomToSelection() {
		const { selection } = this.picture,
			{ data, stretch } = this;

		if (selection) this.picture.show(selection[0], selection[1] - selection[0]);
		else if (stretch >= 0) this.picture.show(data.begin(stretch) - data.span(stretch), 3 * data.span(stretch));
	}
	/* The task that ended a wait is chosen where it did that. */
	goToWaker(task, at) {
		const row = this.data.rows.indexOf(task),
			list = this.data.ofTask[task];

		this.picture.chosen = task;
		this.stretch = list.find((i) => this.data.begin(i) <= at && at <= this.data.end(i)) ?? -1;
		if (row >= 0) this.picture.reveal(row);
		this.showPicked();
		this.draw();
	}
	/* The stretch that was clicked: what, for how long, its waker. */
	stretchParts() {
		const { data, stretch } = this,
			parts = [
				el("b", { text: data.words[data.does(stretch)] + " " + fmtNs(data.span(stretch)) }),
				el("span", { class: "quiet", text: "from +" + fmtNs(data.begin(stretch)) + ", CPU " + data.cpu(stretch) }),
			],
			waker = this.wakeOf(stretch);

		if (waker)
			parts.push(
				el("button", {
					id: "waker",
					text: "woken by " + data.tasks[waker.waker].name,
					title: "go to it",
					onclick: () => this.goToWaker(waker.waker, waker.time),
				})
			);
		return parts;
	}
	/* The command that draws a span, and a thread, as a flame graph. */
	command() {
		const { selection, chosen, a, b } = this.picture,
			[from, to] = selection || [a, b],
			second = (ns) => (this.data.start + ns / 1e9).toFixed(6);

		return (
			"fathom flame -i " +
			quote(this.data.file) +
			" --time " +
			second(from) +
			"," +
			second(to) +
			(chosen >= 0 ? " --tid " + this.data.tasks[chosen].tid : "") +
			" -o span.html"
		);
	}
	showPicked() {
		const { selection, chosen } = this.picture,
			parts = [];

		if (chosen >= 0) {
			const t = this.data.tasks[chosen];

			parts.push(el("b", { text: t.name }));
			if (this.stretch >= 0) parts.push(...this.stretchParts(), el("span", { class: "quiet", text: "in all:" }));
			const did = selection ? this.data.didIn(chosen, ...selection) : t.time;

			did.forEach(
				(ns, d) =>
					ns && parts.push(el("span", { class: "quiet", text: this.data.words[d] + " " + fmtNs(ns) }))
			);
		}
		if (selection) {
			const [from, to] = selection,
				ran = this.data.ranIn(from, to);

			parts.push(el("b", { text: fmtNs(to - from) + " selected" }));
			for (const [task, ns] of ran.slice(0, 4))
				parts.push(
					el("span", {
						class: "quiet",
						text:
							this.data.tasks[task].name +
							" " +
							fmtPercent(ns / (to - from) / this.data.cpus),
					})
				);
			parts.push(el("button", { text: "Zoom", title: "to the selection  [z]", onclick: () => (this.zoomToSelection(), this.moved()) }));
		}
		if (selection || chosen >= 0)
			parts.push(
				el("button", {
					id: "flame",
					text: "Flame graph…",
					title: "copy the command that draws it: " + this.command(),
					onclick: () => this.showCommand(),
				})
			);
		fill(this.actions, ...parts);
	}
	showCommand() {
		const text = this.command();

		if (navigator.clipboard) navigator.clipboard.writeText(text).catch(() => {});
		fill(this.actions, el("code", { id: "command", text }), el("span", { class: "quiet", text: "copied" }));
	}
	/* --- tooltip ----------------------------------------------------------------------- */
	hoverAt(x, y, e) {
		const found = x < 0 ? null : this.picture.hit(x, y),
			lines = found ? this.linesOf(found) : null;

		this.tip.hidden = !lines;
		if (!lines) return;
		fill(
			this.tip,
			el("div", { class: "tip-name", text: lines[0] }),
			el("dl", {}, ...lines.slice(1).flatMap(([k, v]) => [el("dt", { text: k }), el("dd", { text: v })]))
		);
		const box = this.tip.getBoundingClientRect(),
			right = e.clientX + 16 + box.width > innerWidth,
			low = e.clientY + 18 + box.height > innerHeight;

		this.tip.style.left = Math.max(4, right ? e.clientX - box.width - 12 : e.clientX + 16) + "px";
		this.tip.style.top = Math.max(4, low ? e.clientY - box.height - 12 : e.clientY + 18) + "px";
	}
	linesOf(found) {
		const { data } = this,
			{ stretch, task, cpu, queue, mark } = found;

		if (mark) return data.marks.linesOf(mark, data);
		if (queue !== undefined)
			return ["CPU " + cpu, ["wanted by", Number(queue.toFixed(2)) + " tasks on average over this pixel"]];
		if (stretch >= 0)
			return [
				data.tasks[task].name,
				["does", data.words[data.does(stretch)]],
				["for", fmtNs(data.span(stretch))],
				["from", "+" + fmtNs(data.begin(stretch))],
				["CPU", String(data.cpu(stretch))],
				...this.wakerOf(stretch),
			];
		if (task >= 0)
			return [
				data.tasks[task].name,
				...data.tasks[task].time.map((ns, d) => [data.words[d], fmtNs(ns)]).filter(([, t]) => t !== "0 ns"),
			];
		return cpu !== undefined ? ["CPU " + cpu, ["does", "nothing: idle"]] : null;
	}
	/* The wake-up at the end of the sleep, or where the wish for a CPU begins. */
	wakeOf(stretch) {
		const { data, picture } = this,
			at = data.does(stretch) === DOES.WAITS ? data.begin(stretch) : data.end(stretch),
			n = data.wakes.length / WAKE_STRIDE,
			task = data.task(stretch);

		if (data.does(stretch) === DOES.RUNS) return null;
		for (
			let k = firstIndex(0, n, (j) => data.wakes[j * WAKE_STRIDE] >= at);
			k < n && data.wakes[k * WAKE_STRIDE] === at;
			k++
		) {
			const w = picture.wake(k);

			if (w.wakee === task) return w;
		}
		return null;
	}
	wakerOf(stretch) {
		const w = this.wakeOf(stretch);

		return w ? [["woken by", this.data.tasks[w.waker].name]] : [];
	}
	/* --- the rest ---------------------------------------------------------------------- */
	showLegend() {
		const { data } = this,
			used = data.words.map((_, d) => d <= DOES.WAITS || data.tasks.some((t) => t.time[d]));

		fill(
			this.legend,
			...data.words.map((words, d) => {
				const dot = el("span", { class: "dot" });

				dot.style.background = this.picture.states[d];
				return used[d] ? el("span", { class: "key" }, dot, words) : "";
			}),
			el("span", { class: "key", text: "↓ wakes" })
		);
	}
	moved() {
		this.draw();
		this.save = this.save || debounce(200, () => this.writeAddress());
		this.save();
	}
	draw() {
		const p = this.picture;

		p.draw();
		this.info.textContent =
			fmtNs(p.b - p.a) +
			" of " +
			fmtNs(this.data.length) +
			", " +
			fmtCount(p.wakesAll) +
			" wake-ups" +
			(p.wakesWhole
				? ""
				: ", " + fmtCount(p.wakesShown) + " drawn; zoom in or choose a task to see more");
	}
	readAddress() {
		const [, from, to] = /from=([\d.]+)&to=([\d.]+)/.exec(location.hash) || [];

		if (from !== undefined && Number(to) > Number(from))
			this.picture.show(Number(from), Number(to) - Number(from));
	}
	writeAddress() {
		const { a, b } = this.picture,
			all = a <= 0 && b >= this.data.length;

		try {
			history.replaceState(null, "", all ? "#" : "#from=" + Math.round(a) + "&to=" + Math.round(b));
		} catch {
			/* some browsers refuse it for file: */
		}
	}
}

function quote(text) {
	return /^[\w./:+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

/* In a picture: a page in its place. */
function rootOf(svg) {
	if (!svg) return document.body;
	const frame = document.createElementNS(SVG, "foreignObject"),
		root = el("div");

	for (const e of svg.querySelectorAll("#still")) e.remove();
	for (const key of ["width", "height"]) {
		svg.setAttribute(key, "100%");
		frame.setAttribute(key, "100%");
	}
	svg.removeAttribute("viewBox");
	/* browsers move a picture by shift and drag, which is ours */
	svg.setAttribute("zoomAndPan", "disable");
	frame.append(root);
	svg.append(frame);
	return root;
}

const here = document.currentScript.ownerSVGElement,
	root = rootOf(here);

root.classList.add("page");
window.timeline = new TimeLine(new Data(window.timelineData), root);
