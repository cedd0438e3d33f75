/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands around the picture: facts, chips, filters, details, menu, tooltip, table mirror. */
import { difference } from "./analyse.js";
import { fillCode } from "./code.js";
import { eachSample, isDiff, threadKey, TRANSFORM_WORDS } from "./derive.js";
import { shorten } from "./graph.js";
import { KIND, KIND_NAMES } from "./model.js";
import { ReversedTree } from "./tree.js";
import {
	$,
	baseName,
	clamp,
	el,
	fill,
	fmtCount,
	fmtNs,
	fmtPercent,
	fmtSeconds,
	fmtSigned,
} from "./util.js";
import { hasWakers, showWakers } from "./waits.js";

/* --- facts --------------------------------------------------------------------------------- */

/* [text, hint, is it a warning] */
export function factsOf(model, state) {
	const f = model.facts,
		ev = model.events[state.event] || { name: "nothing", samples: 0 },
		out = [];
	const users = f.stacks_root + f.stacks_cut,
		reach = users ? f.stacks_root / users : 1;

	out.push([
		ev.name +
			(ev.frequency
				? " at " + fmtCount(ev.frequency) + " Hz"
				: ev.period > 1
					? " every " + fmtCount(ev.period)
					: ""),
		"what was sampled, and how often",
	]);
	out.push([fmtCount(ev.samples) + " samples", "of this event, in the whole recording"]);
	if (f.duration_ns)
		out.push(["over " + fmtNs(f.duration_ns), "from the first sample to the last"]);
	if (f.hostname)
		out.push([
			"on " + f.hostname,
			[f.cpu_model, f.cpus ? f.cpus + " CPUs" : "", f.arch]
				.filter(Boolean)
				.join(", "),
		]);
	if (f.kernel) out.push([(f.kernel.match(/^\d/) ? "Linux " : "") + f.kernel, "kernel"]);
	if (f.unwinder) out.push(["stacks " + f.unwinder, "how stacks were unwound"]);
	if (users)
		out.push([
			fmtPercent(reach).replace(/\.?0+%/, "%") + " of user stacks whole",
			"user stacks that reach a thread's start; the others were cut, and their callers are missing",
			reach < 0.95,
		]);
	const lost = f.lost_samples;

	if (lost || !f.lost_stacks)
		out.push([
			lost ? fmtCount(lost) + " lost" : "none lost",
			"samples lost because a buffer was full",
			lost > 0,
		]);
	if (f.lost_stacks)
		out.push([
			fmtCount(f.lost_stacks) + " stacks lost or cut",
			"stacks of waits and wakers that were not kept, or that end early",
			true,
		]);
	if (f.throttled)
		out.push([
			fmtCount(f.throttled) + "× throttled",
			"the kernel held sampling back",
			true,
		]);
	if (f.bad_records)
		out.push([
			fmtCount(f.bad_records) + " unreadable",
			"records that could not be read",
			true,
		]);
	if (f.fault) {
		const known = ["recording continues", "recording was cut"].find((words) => f.fault.startsWith("the " + words));

		out.push([known || "file is damaged", f.fault, known !== "recording continues"]);
	}
	return out;
}

export function moreFacts(model) {
	const f = model.facts,
		unnamed = f.total_frames ? f.unnamed_frames / f.total_frames : 0;

	return [
		["file", f.source],
		["command", f.command],
		["started", f.wall_start_ms ? new Date(f.wall_start_ms).toLocaleString() : ""],
		["host", f.hostname],
		["kernel", f.kernel],
		["CPU", f.cpu_model],
		["CPUs", f.cpus || ""],
		["architecture", f.arch],
		["stacks are", f.unwinder],
		[
			"user stacks",
			fmtCount(f.stacks_root) +
				" whole, " +
				fmtCount(f.stacks_cut) +
				" cut; " +
				fmtCount(f.stacks_no_user) +
				" samples without a user part",
		],
		["frames without a name", fmtPercent(unnamed)],
		["lost samples", fmtCount(f.lost_samples)],
		["lost records", fmtCount(f.lost_records)],
		["throttled", fmtCount(f.throttled)],
		["unreadable records", fmtCount(f.bad_records)],
		["damage", f.fault],
		["notes", f.notes],
		[
			"events",
			model.events
				.map((e) => e.name + " (" + fmtCount(e.samples) + " samples)")
				.join(", "),
		],
		[
			"stacks",
			fmtCount(model.stacks - 1) +
				" nodes of " +
				fmtCount(model.frames.real - 1) +
				" functions, at most " +
				model.deepest +
				" deep",
		],
	].filter(([, v]) => v !== "" && v !== undefined);
}

/* --- numbers of a box ---------------------------------------------------------------------- */

export function withShare(app, w) {
	return (
		app.shown.unit.show(w) +
		"  (" +
		fmtPercent(app.shown.sum ? w / app.shown.sum : 0) +
		")"
	);
}

/* Lines [what, value] for a node. */
export function nodeFacts(app, tree, v, viewTotal) {
	const { shown } = app,
		total = tree.total[v],
		out = [["total", withShare(app, total)]];

	out.push(["self", withShare(app, tree.self[v])]);
	out.push(["samples", fmtCount(Math.round(tree.samplesOf(v, shown.each)))]);
	if (viewTotal && viewTotal !== shown.sum)
		out.push(["of this view", fmtPercent(total / viewTotal)]);
	if (tree.totalB && isDiff(shown.state)) {
		const d = difference(tree, total, tree.totalB[v], shown);

		out.push(["before", withShare(app, d.before)]);
		out.push([
			"change",
			fmtSigned(shown.sum ? d.delta / shown.sum : 0) +
				" of all" +
				(isFinite(d.change)
					? ", " + fmtSigned(d.change) + " of itself"
					: ", new") +
				(d.noise ? " (within noise)" : ""),
		]);
	} else if (tree.totalB) {
		const { events } = app.model,
			a = events[shown.state.event],
			b = events[shown.state.ratioEvent];

		/* for each nanosecond there is too little to be read */
		const perTime = a.unit === "ns" && b.unit !== "ns",
			unit = perTime ? 1e6 : 1;

		out.push([
			b.name + (perTime ? " per ms" : " / " + a.name),
			((tree.totalB[v] / total) * unit).toPrecision(4) +
				"  (mean " +
				(unit / tree.scaleB).toPrecision(4) +
				")",
		]);
	}
	return out;
}

export function frameFacts(app, f) {
	const t = app.table(),
		out = [
			["total", withShare(app, t.total[f])],
			["self", withShare(app, t.self[f])],
		];

	if (t.totalB && isDiff(app.state)) {
		const d = difference(app.tree, t.total[f], t.totalB[f], app.shown);

		out.push(
			["before", withShare(app, d.before)],
			[
				"change",
				fmtSigned(app.shown.sum ? d.delta / app.shown.sum : 0) +
					(d.noise ? " (within noise)" : ""),
			]
		);
	}
	return out;
}

export function originOf(app, f) {
	const { frames } = app.model,
		kind = KIND_NAMES[frames.kinds[f]];

	return [f && frames.kinds[f] !== KIND.LABEL ? kind : "", frames.modules[f], frames.place(f)]
		.filter(Boolean)
		.join(" · ");
}

/* --- tooltip ------------------------------------------------------------------------------- */

export function showTip(title, origin, lines, x, y) {
	const tip = $("tip");

	fill(
		tip,
		el("div", { class: "tip-name", text: title }),
		origin ? el("div", { class: "tip-origin", text: origin }) : null,
		el(
			"dl",
			{},
			...lines.flatMap(([k, v]) => [el("dt", { text: k }), el("dd", { text: v })])
		)
	);
	tip.hidden = false;
	const box = tip.getBoundingClientRect(),
		right = x + 16 + box.width > innerWidth,
		low = y + 18 + box.height > innerHeight;

	tip.style.left = Math.max(4, right ? x - box.width - 12 : x + 16) + "px";
	tip.style.top = Math.max(4, low ? y - box.height - 12 : y + 18) + "px";
}

/* --- chips: all that narrows the view, each with a cross ----------------------------------- */

export function chipsOf(app) {
	const { state, store, model } = app,
		chips = [],
		name = (f) => shorten(model.frames.names[f], 40);
	const chip = (words, off, kind, hint) =>
		chips.push(
			el(
				"span",
				{ class: "chip " + (kind || ""), title: hint || "" },
				words,
				el("button", {
					text: "×",
					"aria-label": "remove: " + words,
					onclick: () => store.set(off),
				})
			)
		);

	if (state.range)
		chip(
			"A, shown: " + fmtSeconds(state.range[0]) + " – " + fmtSeconds(state.range[1]),
			{ range: null },
			"a",
			"the time that is shown"
		);
	if (state.baseline)
		chip(
			"B, baseline: " + fmtSeconds(state.baseline[0]) + " – " + fmtSeconds(state.baseline[1]),
			{ baseline: null },
			"b",
			"the baseline"
		);
	const words = { proc: "process", thr: "thread", cpu: "CPU", cg: "cgroup", comm: "command" };

	for (const [key, list] of Object.entries(state.filters))
		if (list.length)
			chip(
				words[key] +
					" " +
					shorten(
						list
							.map((v) => filterLabel(model, key, v))
							.join(", "),
						60
					),
				{ filters: Object.assign({}, state.filters, { [key]: [] }) }
			);
	state.transforms.forEach((t, i) =>
		chip(
			TRANSFORM_WORDS[t.kind] + (t.frame ? " " + name(t.frame) : ""),
			{ transforms: state.transforms.filter((_, j) => j !== i) },
			"t"
		)
	);
	if (state.onlyMatches && app.matches)
		chip("only stacks with /" + shorten(state.search, 30) + "/", { onlyMatches: false });
	return chips;
}

/* --- filters ------------------------------------------------------------------------------- */

function filterLabel(model, key, value) {
	if (key === "proc") {
		const t = model.threads.findLast((x) => String(x.pid) === value);

		return (t && t.comm ? t.comm + " " : "") + value;
	}
	if (key === "thr") {
		const t = model.threads.findLast((x) => x.pid + "/" + x.tid === value);

		return (t && t.comm ? t.comm + " " : "") + value;
	}
	return key === "cpu" ? "CPU " + value : value || "(none)";
}

/* key -> Map of value -> weight, of the event and time that are shown, whatever the filters. */
function filterChoices(app) {
	const { model, state } = app,
		s = model.samples,
		maps = {
			proc: new Map(),
			thr: new Map(),
			cpu: new Map(),
			cg: new Map(),
			comm: new Map(),
		};
	const column = state.counts ? s.count : s.weight,
		add = (map, key, w) => map.set(key, (map.get(key) || 0) + w),
		byThread = new Float64Array(model.threads.length);
	let sum = 0;

	eachSample(model, state.event, state.range, {}, (i) => {
		byThread[s.thread[i]] += column[i];
		sum += column[i];
		if (s.cpu[i]) add(maps.cpu, String(s.cpu[i] - 1), column[i]);
	});
	model.threads.forEach((t, i) => {
		if (byThread[i])
			for (const key of ["proc", "thr", "cg", "comm"])
				add(maps[key], threadKey(t, key), byThread[i]);
	});
	return { maps, sum };
}

function filterList(app, key, title, map, sum) {
	const chosen = new Set(app.state.filters[key] || []),
		most = 300;
	const rows = [...map].sort((x, y) =>
		key === "cpu" ? Number(x[0]) - Number(y[0]) : y[1] - x[1]
	);
	const toggle = (value, on) => {
		const next = new Set(app.state.filters[key] || []);

		next[on ? "add" : "delete"](value);
		app.store.set({
			filters: Object.assign({}, app.state.filters, { [key]: [...next] }),
			zoom: [],
			window: null,
		});
	};

	return el(
		"fieldset",
		{ "data-filter": key },
		el("legend", {
			text:
				title +
				(rows.length > most
					? " (" + most + " of " + rows.length + ")"
					: ""),
		}),
		...rows.slice(0, most).map(([value, weight]) => {
			const label = filterLabel(app.model, key, value),
				box = el("input", {
					type: "checkbox",
					onchange: (e) => toggle(value, e.target.checked),
				});

			box.checked = chosen.has(value);
			return el(
				"label",
				{ class: "choice", "data-text": label.toLowerCase() },
				box,
				el("span", { class: "words", text: label, title: label }),
				el("span", {
					class: "num",
					text: fmtPercent(sum ? weight / sum : 0),
				})
			);
		})
	);
}

export function filterPanel(app) {
	const { maps, sum } = filterChoices(app),
		lists = [
			["comm", "Command"],
			["proc", "Process"],
			["thr", "Thread"],
			["cpu", "CPU"],
			["cg", "Cgroup"],
		];
	const sections = lists
		.filter(([key]) => maps[key].size > 1 || (app.state.filters[key] || []).length)
		.map(([key, title]) => filterList(app, key, title, maps[key], sum));
	const narrow = el("input", {
		type: "search",
		placeholder: "find in these lists",
		"aria-label": "find in these lists",
	});
	const box = el("div", { class: "filter-lists" }, ...sections);

	narrow.addEventListener("input", () => {
		for (const row of box.querySelectorAll(".choice"))
			row.hidden = !row.dataset.text.includes(narrow.value.toLowerCase());
	});
	return el(
		"div",
		{},
		narrow,
		sections.length
			? box
			: el("p", {
					class: "quiet",
					text: "All samples are of one process, thread, CPU and cgroup.",
				})
	);
}

/* --- what can be done with a function ------------------------------------------------------ */

export function actionsOf(app, f, tree, v) {
	const { store, state, model } = app,
		{ frames } = model,
		code = f && f < frames.real,
		out = [];
	const transform = (kind) => () =>
		store.set({
			transforms: state.transforms.concat({ kind, frame: f }),
			zoom: [],
			window: null,
		});

	if (tree && v >= 0)
		out.push([
			"zoom",
			"Zoom to this box",
			"Enter",
			() =>
				store.set({
					view: "flame",
					reversed:
						tree instanceof ReversedTree &&
						!!tree.source &&
						state.view !== "sandwich"
							? state.reversed
							: false,
					zoom: tree.path(v),
					window: null,
				}),
		]);
	if (!code)
		return out.concat(
			hasWakers(app, tree, v) ? [wakersAction(app, tree, v)] : [],
			moduleless(app, f)
		);
	out.push(
		[
			"sandwich",
			"Callers and callees",
			"S",
			() => store.set({ view: "sandwich", function: f }),
		],
		["focus", "Focus: only what runs below it", "F", transform("focus")],
		["drop", "Drop stacks with it", "x", transform("drop")],
		["merge", "Merge into its callers", "M", transform("merge")],
		["collapse", "Collapse its recursion", "C", transform("collapse")]
	);
	if (frames.modules[f])
		out.push([
			"module",
			"One box for all of " + shorten(baseName(frames.modules[f]), 28),
			"",
			transform("module"),
		]);
	out.push(
		[
			"search",
			"Highlight everywhere",
			"",
			() =>
				store.set({
					q:
						"^" +
						frames.names[f].replace(
							/[.*+?^${}()|[\]\\]/g,
							"\\$&"
						) +
						"$",
				}),
		],
		["copy", "Copy name", "", () => app.copy(frames.names[f], "name")]
	);
	if (tree && v >= 0)
		out.push([
			"stack",
			"Copy stack",
			"",
			() =>
				app.copy(
					tree
						.path(v)
						.map((x) => frames.names[x])
						.join("\n"),
					"stack"
				),
		]);
	if (hasWakers(app, tree, v)) out.push(wakersAction(app, tree, v));
	return out;
}

function wakersAction(app, tree, v) {
	return ["wakers", "Who woke it", "W", () => showWakers(app, tree, v)];
}

/* A label stands for a process, a thread, a CPU: nothing to rewrite. */
function moduleless(app, f) {
	return f
		? [["copy", "Copy name", "", () => app.copy(app.model.frames.names[f], "name")]]
		: [];
}

export function openMenu(items, x, y) {
	$("tip").hidden = true;
	const menu = $("menu"),
		back = document.activeElement;
	const close = () => {
		menu.hidden = true;
		removeEventListener("pointerdown", outside, true);
		if (back && back.focus) back.focus({ preventScroll: true });
	};
	const outside = (e) => !menu.contains(e.target) && close();
	const button = ([, words, key, run]) =>
		el(
			"button",
			{
				role: "menuitem",
				onclick: () => {
					close();
					run();
				},
			},
			el("span", { text: words }),
			key ? el("kbd", { text: key }) : null
		);

	fill(menu, ...items.map(button));
	menu.hidden = false;
	menu.style.left = clamp(x, 4, innerWidth - menu.offsetWidth - 4) + "px";
	menu.style.top = clamp(y, 4, innerHeight - menu.offsetHeight - 4) + "px";
	menu.onkeydown = (e) => menuKey(menu, e, close);
	addEventListener("pointerdown", outside, true);
	if (menu.firstChild) menu.firstChild.focus();
}

function menuKey(menu, e, close) {
	const all = [...menu.children],
		at = all.indexOf(document.activeElement),
		way = { ArrowDown: 1, ArrowUp: -1 }[e.key];

	if (way) all[(at + way + all.length) % all.length].focus();
	else if (e.key === "Escape" || e.key === "Tab") close();
	else return;
	e.preventDefault();
	e.stopPropagation();
}

/* --- details of what is in focus ----------------------------------------------------------- */

export function fillDetail(app, f, tree, v, lines) {
	fillCode(app, f);
	const actions = actionsOf(app, f, tree, v).filter(
		([id]) => !["search", "copy", "stack"].includes(id)
	);

	fill(
		$("detail"),
		el(
			"div",
			{ class: "detail-name" },
			el("b", {
				text: app.model.frames.names[f],
				title: app.model.frames.names[f],
			}),
			el("span", {
				class: "quiet",
				text: originOf(app, f),
				title: originOf(app, f),
			})
		),
		el(
			"dl",
			{ class: "numbers" },
			...lines.map(([k, val]) =>
				el(
					"div",
					{},
					el("dt", { text: k }),
					el("dd", { text: val, "data-key": k })
				)
			)
		),
		el(
			"div",
			{ class: "actions" },
			...actions.map(([id, words, key, run]) =>
				el("button", {
					text: {
						zoom: "Zoom",
						sandwich: "Sandwich",
						focus: "Focus",
						drop: "Drop",
						merge: "Merge",
						collapse: "Collapse recursion",
						module: "Collapse module",
						wakers: "Wakers",
					}[id],
					title: words + (key ? "  [" + key + "]" : ""),
					"data-action": id,
					onclick: run,
				})
			)
		),
		actions.length
			? el("button", {
					class: "more-actions plain",
					text: "More…",
					title: "all that can be done with it",
					onclick: (e) =>
						openMenu(actionsOf(app, f, tree, v), e.clientX, e.clientY),
				})
			: null
	);
}

/* --- the picture as a table, for screen readers --------------------------------------------- */

const MIRROR_ROWS = 60;

export function fillMirror(app, tree, v) {
	const { frames } = app.model,
		path = [],
		rows = [];
	const go = (u) => app.goTo(tree, u);

	for (let u = v; ; u = tree.parent[u]) {
		path.push(u);
		if (!u) break;
	}
	const count = tree.children(v),
		kids = Array.from(tree.kids.subarray(tree.lo, tree.hi)).sort(
			(a, b) => tree.lay[b] - tree.lay[a]
		);

	for (const k of kids.slice(0, MIRROR_ROWS))
		rows.push(
			el(
				"tr",
				{},
				el(
					"th",
					{ scope: "row" },
					el("button", {
						text: frames.names[tree.frame[k]],
						onclick: () => go(k),
					})
				),
				el("td", {
					text: fmtPercent(
						app.shown.sum ? tree.total[k] / app.shown.sum : 0
					),
				}),
				el("td", { text: app.shown.unit.show(tree.total[k]) }),
				el("td", { text: app.shown.unit.show(tree.self[k]) }),
				el("td", {
					text:
						tree.totalB && isDiff(app.state)
							? fmtSigned(
									(tree.total[k] -
										tree.totalB[k] *
											tree.scaleB) /
										(app.shown.sum || 1)
								)
							: "",
				})
			)
		);
	fill(
		$("mirror-body"),
		el(
			"nav",
			{ "aria-label": "path" },
			el(
				"ol",
				{},
				...path.reverse().map((u) =>
					el(
						"li",
						{},
						el("button", {
							text: frames.names[tree.frame[u]],
							onclick: () => go(u),
						})
					)
				)
			)
		),
		el(
			"table",
			{},
			el("caption", {
				text:
					(tree instanceof ReversedTree
						? "Callers of "
						: "Called by ") +
					frames.names[tree.frame[v]] +
					": " +
					count +
					(count > MIRROR_ROWS
						? ", the heaviest " + MIRROR_ROWS + " of them"
						: ""),
			}),
			el(
				"thead",
				{},
				el(
					"tr",
					{},
					...[
						"function",
						"share of all",
						"total",
						"self",
						isDiff(app.state) ? "change" : "",
					].map((t) => el("th", { scope: "col", text: t }))
				)
			),
			el("tbody", {}, ...rows)
		)
	);
}
