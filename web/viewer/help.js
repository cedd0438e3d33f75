/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of the page: how to read each picture, what it costs and where it misleads; the keys. */
import { el } from "./util.js";

export const HELP = {
	flame: {
		title: "Flame graph",
		read: [
			"Every box is a function. What stands on it (in an icicle: hangs below it) it called; what it stands on called it.",
			"The wider a box, the more samples had it on their stack. The top edge is what ran: look for wide plateaus.",
			"Left to right is not time. Siblings are in alphabetical order, or the heaviest first; equal ones are merged.",
			"Reversed, every box at the base is a function that ran, and above it stand its callers: it answers who makes this function hot.",
		],
		cost: "Sampling 99 times a second costs well under 1 % of a CPU; 999 times a second a few percent at most. The cost is paid while recording, none afterwards.",
		caveats: [
			"It shows where time was spent on a CPU. Waiting is not in it, unless the event is one of waiting.",
			"Functions that were inlined or tail-called have no box of their own, unless debug information names them.",
			"Stacks that were cut stand on their own at the base: the header says how many reached a thread's start.",
			"A difference of a few samples is noise: a box of n samples is uncertain by about the square root of n.",
		],
	},
	time: {
		title: "Time order",
		read: [
			"One lane for each thread (or CPU). Left to right is time; each box hangs below its caller, and lasts as long as neighbouring samples agree on it.",
			"Gaps are times without a sample: the thread did not run, or not on this event.",
			"Use it for phases, start-up, pauses and things that repeat; for totals the flame graph is better.",
		],
		cost: "Nothing beyond the recording itself.",
		caveats: [
			"Between two samples anything may have happened. A box that spans two samples need not be one call.",
			"When there are more samples than pixels, one sample stands for its pixel. Zoom in to see all.",
		],
	},
	sandwich: {
		title: "Sandwich",
		read: [
			"One function is in the middle. Above it are all paths that lead to it, below it all that it calls, wherever it was called from.",
			"Widths are shares of the time in that function. Choose the function in the list, or double-click a box.",
		],
		cost: "Nothing beyond the recording itself.",
		caveats: [
			"If the function calls itself, its outermost call counts, so that nothing is counted twice.",
		],
	},
	tree: {
		title: "Call tree",
		read: [
			"The same tree as lines. Total is a function with all it called, self the function alone.",
			"It opens along the hottest path. Reversed, it begins at what ran and opens towards the callers.",
		],
		cost: "Nothing beyond the recording itself.",
		caveats: [
			"The same function is in many lines, once for each path to it. For sums over all paths, see the functions.",
		],
	},
	functions: {
		title: "Functions",
		read: [
			"Every function once, over all stacks. Self: samples in which it ran itself. Total: samples in which it was anywhere on the stack; recursion counts once.",
			"High self: work on this function. High total and low self: work on what it calls, or call it less often.",
		],
		cost: "Nothing beyond the recording itself.",
		caveats: ["Totals overlap: they do not add up to 100 %."],
	},
	graph: {
		title: "Call graph",
		read: [
			"Boxes are functions, arcs are calls; callers are above. The thicker an arc, the more samples went through it.",
			"Dashed arcs lead through functions that are too small to be shown. Follow the thick arcs down.",
		],
		cost: "Nothing beyond the recording itself.",
		caveats: [
			"A path in the graph need not have happened as a whole: arcs of different stacks meet in one box. The flame graph keeps paths apart.",
			"Small functions and thin arcs are left out; their number and weight are shown below the graph.",
		],
	},
};

export const HEAT_HELP = {
	title: "Heat map",
	read: [
		"A column is a stretch of time (at the left edge: how long), a row an offset into it. The darker a cell, the more samples fell into it.",
		"Drag from one cell to another, or click both: every view then shows that time only. With shift: the baseline to compare it with.",
		"Stripes across are things that happen at the same offset in each column: timers. Slopes are things with almost that period. Dark columns are bursts, pale ones pauses.",
		"While you search, cells show when the matches ran.",
	],
	caveats: [
		"Sampling that is locked to the same timer as the workload paints patterns of its own: rates like 99 or 499 avoid it.",
	],
};

export const DIFF_HELP = {
	title: "Comparison",
	read: [
		"Orange is more than in the baseline, blue is less; + is new, − has vanished. Shares are compared: the baseline is scaled to the same total.",
		"A box counts with all it calls. Grey is within what chance explains (two standard deviations).",
		"Widths can be those of now, those of before, or of whichever is more, so that nothing is hidden.",
	],
	caveats: [
		"More of one thing is less of another, in shares: if something new takes half the time, all else shrinks.",
	],
};

export const RATIO_HELP = {
	title: "Ratio of two events",
	read: [
		"Widths are the first event. Colours say how much of the second event there is for each unit of the first, against the mean of all: orange is more than the mean, blue less.",
		"Cycles over instructions: blue is where instructions take many cycles (waiting for memory), orange where they run fast.",
	],
	caveats: ["The two events are sampled independently: boxes with few samples are grey."],
};

export const WAITS_HELP = {
	title: "Waiting",
	read: [
		"offcpu-time is the time that threads were blocked, on the stack that blocked; runqueue-time the time that they wanted a CPU and had none.",
		"wall-time is all of a thread's life: red is on a CPU, blue blocked, yellow waiting for a CPU. A box has the mixed colour of what stands on it; what no sample tells about is grey.",
		"'Who woke it' (W, or a click on [blocked]) switches to offwake-time: above the grey divider is, upside down, the waker's stack, and then its name. With chains, another divider leads to what the waker itself had waited for.",
	],
	caveats: [
		"A wide wait need not be a problem: idle threads wait, too. Look for waits of threads that others wait for.",
		"Interrupts that wake are named ([timer], [network], [disk]): the task that they interrupted has no part in it.",
	],
};

const KEYS = [
	[
		"Views",
		[
			[
				"1 – 6",
				"flame graph, time order, sandwich, call tree, functions, call graph",
			],
			["i", "flame or icicle"],
			["v", "reversed: callers on callees"],
			["o", "order: by name, heaviest first, first seen"],
			["g", "group by process, thread, CPU, cgroup"],
			["c", "colours"],
			["u", "samples or weight"],
			["e", "next event"],
		],
	],
	[
		"Moving",
		[
			["← → ↑ ↓", "from box to box"],
			["Enter", "zoom to the box; sandwich of a line"],
			["w s a d", "zoom in, out, left, right; also wheel and drag"],
			["Backspace", "back"],
			["0", "reset"],
			["Esc", "close, clear, zoom out"],
			["Page ↑ ↓", "scroll rows"],
		],
	],
	[
		"Search",
		[
			[
				"/",
				"search: a regular expression; capital letters count if there are any",
			],
			["n  N", "next, previous match"],
			["&", "only stacks that match, on or off"],
		],
	],
	[
		"The box in focus",
		[
			["S", "sandwich"],
			["F", "focus: only what runs below it"],
			["x", "drop stacks with it"],
			["M", "merge it into its callers"],
			["C", "collapse its recursion"],
			["W", "its waker, in graphs of waiting"],
			["m", "all that can be done with it"],
			["k", "collapse all direct recursion"],
		],
	],
	[
		"Time",
		[
			[
				"h",
				"to the heat map: arrows, Enter marks the ends, Shift Enter those of the baseline",
			],
			["H", "show or hide it"],
			["b", "make the selected time the baseline"],
			["X", "swap the two"],
		],
	],
	[
		"Page",
		[
			["p", "filters: process, thread, CPU, cgroup"],
			["t", "the picture as a table"],
			["l", "how to read this"],
			["E", "export: SVG, PNG, folded"],
			["T", "light or dark"],
			["?", "these keys"],
		],
	],
];

export function helpSection(h) {
	return el(
		"section",
		{},
		el("h3", { text: h.title }),
		...h.read.map((t) => el("p", { text: t })),
		h.cost ? el("p", {}, el("b", { text: "What it costs. " }), h.cost) : null,
		el(
			"p",
			{},
			el("b", { text: h.caveats.length > 1 ? "Where it misleads." : "Mind. " }),
			h.caveats.length > 1 ? "" : h.caveats[0]
		),
		h.caveats.length > 1
			? el("ul", {}, ...h.caveats.map((t) => el("li", { text: t })))
			: null
	);
}

export function keysSheet() {
	return el(
		"div",
		{ class: "keys" },
		...KEYS.map(([title, list]) =>
			el(
				"section",
				{},
				el("h3", { text: title }),
				el(
					"dl",
					{},
					...list.flatMap(([key, words]) => [
						el(
							"dt",
							{},
							...key
								.split("  ")
								.flatMap((k, i) => [
									i ? " " : null,
									el("kbd", { text: k }),
								])
								.filter(Boolean)
						),
						el("dd", { text: words }),
					])
				)
			)
		)
	);
}
