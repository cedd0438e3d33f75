/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keyboard: everything on the page can be done with it. */
import { isDiff } from "./derive.js";
import { CHOICES } from "./state.js";
import { eventChoices, VIEWS } from "./ui.js";
import { $ } from "./util.js";
import { hasStates, hasWakers, showWakers } from "./waits.js";

const GROUPS = ["", "comm", "pid", "tid", "cpu", "cg"];

function nextOf(list, value) {
	return list[(list.indexOf(value) + 1) % list.length];
}

function transformFocus(app, kind) {
	const f = app.chosen ? app.chosen.f : 0;

	if (f && f < app.model.frames.real)
		app.store.set({
			transforms: app.state.transforms.concat({ kind, frame: f }),
			zoom: [],
			window: null,
		});
}

export function focusView(app) {
	const v = app.view,
		target = v.focusNode ? v.focusNode() : v.canvas;

	if (target) target.focus({ preventScroll: true });
}

function menuAtFocus(app) {
	const c = app.chosen,
		box = $("detail").getBoundingClientRect();

	if (c && c.tree) app.menu(c.tree, c.v, box.left + 20, box.top - 240);
	else if (c) app.menuOfFrame(c.f, box.left + 20, box.top - 240);
}

/* Out of one thing at a time: search, zoom, selection of time. */
function escapeOne(app) {
	const s = app.state;

	if (s.search) app.store.set({ search: "", onlyMatches: false });
	else if (s.zoom.length || s.window) app.store.set({ zoom: [], window: null });
	else if (s.baseline) app.store.set({ baseline: null });
	else if (s.range) app.store.set({ range: null });
}

const COMMANDS = {
	"/": () => {
		$("search").focus();
		$("search").select();
	},
	n: (app) => app.view.stepMatch(1),
	N: (app) => app.view.stepMatch(-1),
	"&": (app) => app.store.set({ onlyMatches: !app.state.onlyMatches }),
	i: (app) => app.store.set({ icicle: !app.state.icicle }),
	v: (app) => app.store.set({ reversed: !app.state.reversed, zoom: [], window: null }),
	o: (app) => app.store.set({ order: nextOf(CHOICES.order, app.state.order) }),
	g: (app) => app.store.set({ group: nextOf(GROUPS, app.state.group), zoom: [], window: null }),
	c: (app) =>
		app.store.set({
			color: nextOf(
				CHOICES.color.filter(
					(c) =>
						(c !== "diff" || isDiff(app.state)) &&
						(c !== "ratio" || app.state.ratioEvent !== null) &&
						(c !== "state" || hasStates(app.model))
				),
				app.state.color
			),
		}),
	u: (app) => app.store.set({ counts: !app.state.counts }),
	e: (app) =>
		app.store.set({
			event: nextOf(
				eventChoices(app.model).map(([i]) => i),
				app.state.event
			),
			zoom: [],
			window: null,
		}),
	Backspace: (app) => app.store.back(),
	0: (app) => app.store.reset(),
	Escape: escapeOne,
	S: (app) =>
		app.chosen && app.chosen.f && app.store.set({ view: "sandwich", function: app.chosen.f }),
	F: (app) => transformFocus(app, "focus"),
	x: (app) => transformFocus(app, "drop"),
	M: (app) => transformFocus(app, "merge"),
	C: (app) => transformFocus(app, "collapse"),
	k: (app) =>
		app.store.set({
			transforms: app.state.transforms.some((t) => t.kind === "recursion")
				? app.state.transforms.filter((t) => t.kind !== "recursion")
				: app.state.transforms.concat({ kind: "recursion", frame: 0 }),
			zoom: [],
			window: null,
		}),
	W: (app) =>
		app.chosen &&
		hasWakers(app, app.chosen.tree, app.chosen.v) &&
		showWakers(app, app.chosen.tree, app.chosen.v),
	m: menuAtFocus,
	h: (app) => {
		app.store.set({ heat: true });
		app.heat.canvas.focus();
	},
	H: (app) => app.store.set({ heat: !app.state.heat }),
	b: (app) =>
		app.state.range &&
		app.store.set({
			baseline: app.state.range,
			range: null,
			baselineEvent: null,
			ratioEvent: null,
			color: "diff",
		}),
	X: (app) => app.swap(),
	p: (app) => app.openFilters(),
	t: (app) => app.store.set({ mirror: !app.state.mirror }, true),
	l: (app) => app.openHow(),
	E: (app) => app.openExport(),
	T: (app) => app.nextTheme(),
	"?": (app) => app.openKeys(),
};

function searchKey(app, e) {
	if (e.key === "Enter") {
		app.store.set({ search: $("search").value }, true);
		app.view.stepMatch(e.shiftKey ? -1 : 1);
	} else if (e.key === "Escape") {
		if ($("search").value) {
			$("search").value = "";
			app.store.set({ search: "", onlyMatches: false }, true);
		}
		focusView(app);
	} else {
		return;
	}
	e.preventDefault();
}

export function handleKey(app, e) {
	const target = e.target,
		typing = target.matches && target.matches("input, select, textarea");

	if (e.ctrlKey || e.metaKey || e.altKey || $("dialog").open || !$("menu").hidden) return;
	if (target === $("search")) return searchKey(app, e);
	if (typing) return;
	const onButton =
		target.matches &&
		target.matches("button, a") &&
		(e.key === "Enter" || e.key === " ");

	if (onButton) return;
	if (target === app.heat.canvas ? app.heat.key(e) : app.view.key && app.view.key(e)) {
		e.preventDefault();
		return;
	}
	const number = Number(e.key);

	if (number >= 1 && number <= VIEWS.length) {
		app.store.set({ view: VIEWS[number - 1][0] });
		focusView(app);
	} else if (Object.hasOwn(COMMANDS, e.key)) {
		COMMANDS[e.key](app);
	} else {
		return;
	}
	e.preventDefault();
}
