// SPDX-License-Identifier: GPL-2.0-or-later
// Two clicks (or drag, or arrows and Enter) choose a range of time; the line below tells the
// command that draws it as a flame graph, and a click on it copies the command.
import { Heading, helpButton, wrapText } from "../svg/head.js";
import { makeSheet } from "../svg/sheet.js";
import { fitPlot } from "../svg/plot.js";

const svg = document.currentScript.ownerSVGElement || document.documentElement;
const d = svg.dataset;
const columns = +d.columns, rows = +d.rows, step = +d.step, start = BigInt(d.start);
const subsecond = d.kind === "subsecond";
const status = svg.querySelector("#range");
const hint = status.textContent;
let first = null, cursor = null, shown = [];
// As the file has them; the script changes those of d with the size of the window.
const drawn = { top: +d.top, cw: +d.cw, ch: +d.ch };
const plot = svg.querySelector("#plot");
const LEFT = +d.left, ROW_LEAST = 3, ROW_MOST = 40;

// A cell as its number in order of time.
const order = cell => subsecond ? cell.c * rows + cell.r : cell.c;
const length = subsecond ? step / rows : step;

function cellAt(event) {
	const point = new DOMPoint(event.clientX, event.clientY)
		.matrixTransform(svg.getScreenCTM().inverse());
	const c = Math.floor((point.x - d.left) / d.cw);
	const r = rows - 1 - Math.floor((point.y - d.top) / d.ch);
	return c >= 0 && c < columns && r >= 0 && r < rows ? { c, r } : null;
}

function seconds(index) {
	const ns = start + BigInt(Math.round(index * length));
	return `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, "0").slice(0, 6)}`;
}

function quote(text) {
	return /^[\w./:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function command(from, to) {
	const event = d.event ? ` --event ${quote(d.event)}` : "";
	return `fathom flame -i ${quote(d.file || "FILE")}${event} --time ` +
		`${seconds(from)},${seconds(to + 1)} -o range.svg`;
}

function mark(from, to) {
	for (const rect of shown)
		rect.remove();
	shown = [];
	if (from === null)
		return;
	// whole columns between the first and the last one, parts at both ends
	const add = (c, low, high) => {
		const rect = document.createElementNS(svg.namespaceURI, "rect");
		rect.setAttribute("class", "mark");
		rect.setAttribute("x", LEFT + c * drawn.cw);
		rect.setAttribute("y", drawn.top + (rows - high) * drawn.ch);
		rect.setAttribute("width", drawn.cw);
		rect.setAttribute("height", (high - low) * drawn.ch);
		plot.append(rect);
		shown.push(rect);
	};
	if (!subsecond) {
		for (let c = from; c <= to; c++)
			add(c, 0, rows);
		return;
	}
	const a = Math.floor(from / rows), b = Math.floor(to / rows);
	for (let c = a; c <= b; c++)
		add(c, c === a ? from % rows : 0, c === b ? to % rows + 1 : rows);
}

function say(text) {
	wrapText(status, text, (svg.clientWidth || innerWidth) - 2 * status.getAttribute("x"));
}

function clear() {
	first = null;
	mark(null);
	say(hint);
	history.replaceState(null, "", location.pathname + location.search);
}

function choose(from, to) {
	if (from > to)
		[from, to] = [to, from];
	mark(from, to);
	say(command(from, to));
	try {
		history.replaceState(null, "", `#range=${from},${to}`);
	} catch { /* pages from some places may not */ }
}

function pick(cell) {
	if (!cell)
		return;
	if (first === null) {
		first = order(cell);
		mark(first, first);
		say(`from ${seconds(first)}s: choose the end, Escape to give up`);
	} else {
		choose(first, order(cell));
		first = null;
	}
}

svg.addEventListener("click", event => {
	if (status.contains(event.target))
		navigator.clipboard?.writeText(status.textContent);
	else
		pick(cellAt(event));
});
svg.addEventListener("mousemove", event => {
	const cell = first === null ? null : cellAt(event);
	if (cell)
		mark(Math.min(first, order(cell)), Math.max(first, order(cell)));
});
const sheet = makeSheet(
	svg,
	"A column is a span of time, a row a part of it or a range of values; the darker a cell, the more is in it; a sample is spread over the time that it stands for. A chosen range is a command below the picture that draws it as a flame graph.",
	[
		["two clicks", "choose a range"],
		["arrows, Enter", "the same by keys"],
		["Esc", "forget it"],
		["?", "this help"],
	]
);

const heading = new Heading(svg, [helpButton(svg, sheet)], 60);

// As wide as the window, and as tall as it allows.
function fit() {
	const width = svg.clientWidth || innerWidth, top = heading.lay(width) + 18;
	say(status.textContent);
	const below = 52 + status.getBBox().height;
	const tall = Math.min(Math.max((innerHeight - top - below) / rows, ROW_LEAST), ROW_MOST);

	d.top = top;
	d.ch = tall;
	d.cw = (width - LEFT - 20) / columns;
	fitPlot(svg, { left: LEFT, top: drawn.top, x: d.cw / drawn.cw, y: tall / drawn.ch, to: top,
		bottom: drawn.top + rows * drawn.ch });
	status.setAttribute("y", top + rows * tall + 40);
	svg.setAttribute("height", top + rows * tall + below);
}

svg.removeAttribute("viewBox");
addEventListener("resize", fit);
fit();
document.addEventListener("keydown", event => {
	const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
	if (event.key === "Escape") {
		if (!svg.querySelector(".sheet"))
			clear();
	} else if (event.key === "Enter" && cursor) {
		pick(cursor);
	} else if (moves[event.key]) {
		const [x, y] = moves[event.key];
		cursor = cursor || { c: 0, r: 0 };
		cursor = { c: Math.min(Math.max(cursor.c + x, 0), columns - 1),
			r: Math.min(Math.max(cursor.r + y, 0), rows - 1) };
		mark(Math.min(first ?? order(cursor), order(cursor)),
			Math.max(first ?? order(cursor), order(cursor)));
		event.preventDefault();
	}
});
const kept = /^#range=(\d+),(\d+)$/.exec(location.hash);
if (kept)
	choose(+kept[1], +kept[2]);
