/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The graph opens as large as the window allows; wheel and keys zoom, dragging moves it. */
import { Heading, helpButton, searchItems } from "../svg/head.js";
import { makeSheet } from "../svg/sheet.js";
import { clamp } from "../viewer/util.js";

const CONTROLS = 300;

const svg = document.currentScript.ownerSVGElement;
const graph = svg.querySelector("#graph");
const drawnTop = Number(svg.dataset.top);
const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
let heading = null,
	below = drawnTop, /* of the heading */
	scale = 1,
	x = 0,
	y = 0;

function place() {
	graph.setAttribute("transform", `translate(${x},${y}) scale(${scale})`);
}

function fit() {
	below = heading.lay(innerWidth) + 16;
	const room = Math.max(100, innerHeight - below - 10);

	scale = clamp(Math.min(innerWidth / width, room / (height - drawnTop)), 0.05, 1.4);
	x = (innerWidth - width * scale) / 2;
	y = below - drawnTop * scale;
	place();
}

function zoom(px, py, factor) {
	const next = clamp(scale * factor, 0.05, 4);

	x = px - ((px - x) * next) / scale;
	y = py - ((py - y) * next) / scale;
	scale = next;
	place();
}

/* A function is brought to the middle, large enough to be read. */
function show(node) {
	const box = node.querySelector("rect"),
		at = (name, size) => Number(box.getAttribute(name)) + Number(box.getAttribute(size)) / 2;

	scale = Math.max(scale, 1);
	x = innerWidth / 2 - at("x", "width") * scale;
	y = (below + innerHeight) / 2 - at("y", "height") * scale;
	place();
}

function listen() {
	let drag = null;

	svg.addEventListener(
		"wheel",
		(e) => {
			if (e.target.closest("#head")) return;
			e.preventDefault();
			zoom(e.clientX, e.clientY, Math.exp(-e.deltaY * 0.0015));
		},
		{ passive: false }
	);
	svg.addEventListener("pointerdown", (e) => {
		if (!e.target.closest("#head")) drag = [e.clientX - x, e.clientY - y];
	});
	addEventListener("pointerup", () => (drag = null));
	addEventListener("pointermove", (e) => {
		if (!drag) return;
		x = e.clientX - drag[0];
		y = e.clientY - drag[1];
		place();
	});
	svg.addEventListener("dblclick", (e) => e.target.closest("#head") || fit());
	addEventListener("resize", fit);
	addEventListener("keydown", (e) => {
		const middle = [innerWidth / 2, innerHeight / 2],
			node = document.activeElement?.closest?.(".node"),
			keys = {
				"+": () => zoom(...middle, 1.25),
				"=": () => zoom(...middle, 1.25),
				"-": () => zoom(...middle, 0.8),
				0: fit,
				Home: fit,
				Enter: () => node && show(node),
				n: () => next(1),
				N: () => next(-1),
				ArrowLeft: () => (x += 60),
				ArrowRight: () => (x -= 60),
				ArrowUp: () => (y += 60),
				ArrowDown: () => (y -= 60),
			};

		if (!keys[e.key] || e.ctrlKey || e.metaKey) return;
		keys[e.key]();
		place();
	});
}

const sheet = makeSheet(
	svg,
	"A box is a function with its share in total and, in brackets, of its own; an arc is a call, wider where more time passes through it.",
	[
		["wheel, + −", "zoom"],
		["drag, arrows", "move"],
		["double click, 0", "fit the window"],
		["/", "search for functions; Esc ends it"],
		["n N", "next and previous match"],
		["Tab, Enter", "from box to box; bring it to the middle"],
		["?", "this help"],
	]
);

let matches = [],
	current = -1;

/* Boxes that match are marked, the rest fades. */
function find(pattern) {
	const nodes = [...svg.querySelectorAll(".node")];

	matches = nodes.filter((g) => {
		const hit = !!pattern && pattern.test(g.dataset.name);

		g.classList.toggle("match", hit);
		return hit;
	});
	current = -1;
	svg.classList.toggle("searched", !!pattern);
	return pattern ? `${matches.length} of ${nodes.length}` : "";
}

function next(by) {
	if (!matches.length) return;
	current = (current < 0 && by < 0 ? 0 : current) + by;
	current = (current + matches.length) % matches.length;
	show(matches[current]);
}

/* Part of another page: that page scrolls. */
if (svg === document.documentElement && window === window.top) {
	const items = searchItems(find, () => next(1));

	svg.removeAttribute("viewBox");
	svg.setAttribute("width", "100%");
	svg.setAttribute("height", "100%");
	svg.setAttribute("zoomAndPan", "disable");
	heading = new Heading(svg, [...items, helpButton(svg, sheet)], CONTROLS);
	listen();
	fit();
}
