/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The graph opens as large as the window allows; wheel and keys zoom, dragging moves it. */
import { fitHeading, makeMark, makeSearch, makeSheet } from "../svg/sheet.js";
import { clamp } from "../viewer/util.js";

const svg = document.currentScript.ownerSVGElement;
const graph = svg.querySelector("#graph");
const top_ = Number(svg.dataset.top);
const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
let scale = 1,
	x = 0,
	y = 0;

function place() {
	graph.setAttribute("transform", `translate(${x},${y}) scale(${scale})`);
}

function fit() {
	const room = Math.max(100, innerHeight - top_ - 10);

	scale = clamp(Math.min(innerWidth / width, room / (height - top_)), 0.05, 1.4);
	x = (innerWidth - width * scale) / 2;
	y = top_ - top_ * scale;
	place();
}

function zoom(px, py, factor) {
	const next = clamp(scale * factor, 0.05, 4);

	x = px - ((px - x) * next) / scale;
	y = py - ((py - y) * next) / scale;
	scale = next;
	place();
}

function listen() {
	let drag = null;

	svg.addEventListener(
		"wheel",
		(e) => {
			e.preventDefault();
			zoom(e.clientX, e.clientY, Math.exp(-e.deltaY * 0.0015));
		},
		{ passive: false }
	);
	svg.addEventListener("pointerdown", (e) => (drag = [e.clientX - x, e.clientY - y]));
	addEventListener("pointerup", () => (drag = null));
	addEventListener("pointermove", (e) => {
		if (!drag) return;
		x = e.clientX - drag[0];
		y = e.clientY - drag[1];
		place();
	});
	svg.addEventListener("dblclick", fit);
	addEventListener("resize", fit);
	addEventListener("keydown", (e) => {
		const middle = [innerWidth / 2, innerHeight / 2],
			keys = {
				"+": () => zoom(...middle, 1.25),
				"=": () => zoom(...middle, 1.25),
				"-": () => zoom(...middle, 0.8),
				0: fit,
				Home: fit,
				ArrowLeft: () => (x += 60),
				ArrowRight: () => (x -= 60),
				ArrowUp: () => (y += 60),
				ArrowDown: () => (y -= 60),
			};

		if (!keys[e.key]) return;
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
		["?", "this help"],
	]
);

/* Boxes that match are marked, the rest fades. */
function find(pattern) {
	const nodes = [...svg.querySelectorAll(".node")];
	const hits = nodes.filter((g) => {
		const name = g.querySelector("title").textContent.replace(/ total [0-9.]+%, self .*$/, "");
		const hit = !!pattern && pattern.test(name);

		g.classList.toggle("match", hit);
		return hit;
	});

	svg.classList.toggle("searched", !!pattern);
	return pattern ? `${hits.length} of ${nodes.length}` : "";
}

addEventListener("keydown", (e) => {
	if (e.key === "?") sheet();
	else if (e.key === "Escape" && svg.querySelector(".sheet")) sheet();
});

/* Part of another page: that page scrolls. */
if (svg === document.documentElement && window === window.top) {
	svg.removeAttribute("viewBox");
	svg.setAttribute("width", "100%");
	svg.setAttribute("height", "100%");
	svg.setAttribute("zoomAndPan", "disable");
	listen();
	fit();
	makeMark(svg, sheet);
	makeSearch(svg, find);
	fitHeading(svg.querySelectorAll("#head > .soft"));
}
