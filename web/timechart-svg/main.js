/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The chart is whole without this, which fits it to the window and finds tasks. */
import { Heading, helpButton, searchItems } from "../svg/head.js";
import { fitPlot } from "../svg/plot.js";
import { makeSheet } from "../svg/sheet.js";

const svg = document.currentScript.ownerSVGElement;
const { left, top: topText, room } = svg.dataset;
const drawnTop = Number(topText);
const whole = Number(svg.getAttribute("height"));
const rows = [...svg.querySelectorAll(".row")];
const names = rows.map((e) => [e, Number(e.getAttribute("y"))]);
const alone = svg === document.documentElement && window === window.top;
const sheet = makeSheet(
	svg,
	"A bar is a task, from left to right in time; each pixel is filled by what the task did in its time, from below: running, waiting for a CPU, blocked. The name of a task is followed by its number. Saved as a page (-o x.html) the same is a time line that zooms.",
	[
		["/", "search for tasks; Esc ends it"],
		["n N", "next and previous match"],
		["?", "this help"],
	]
);

let matches = [],
	current = -1;

function find(pattern) {
	matches = rows.filter((e) => !!pattern && pattern.test(e.textContent));
	current = -1;
	for (const e of rows) e.style.opacity = pattern && !matches.includes(e) ? 0.35 : "";
	return pattern ? `${matches.length} of ${rows.length}` : "";
}

function next(by) {
	if (!matches.length) return;
	current = ((current < 0 && by < 0 ? 0 : current) + by + matches.length) % matches.length;
	matches[current].scrollIntoView({ block: "center" });
}

const heading = new Heading(svg, [...searchItems(find, () => next(1)), helpButton(svg, sheet)], 300);

function fit() {
	const width = svg.clientWidth || innerWidth,
		to = heading.lay(width) + 36;

	fitPlot(svg, {
		left: Number(left),
		top: drawnTop,
		x: Math.max(0.1, (width - Number(left) - 10) / Number(room)),
		y: 1,
		to,
		bottom: drawnTop - 28,
	});
	for (const [e, y] of names) e.setAttribute("y", y + to - drawnTop);
	svg.setAttribute("height", whole + to - drawnTop);
}

/* Part of another page, or of a given width: as it is. */
if (alone && svg.dataset.fluid === "1") {
	svg.setAttribute("width", "100%");
	svg.removeAttribute("viewBox");
	addEventListener("resize", fit);
	fit();
} else {
	heading.placeBar(Number(svg.getAttribute("width")), false);
}
addEventListener("keydown", (e) => {
	if (e.target.localName !== "input" && (e.key === "n" || e.key === "N")) next(e.key === "n" ? 1 : -1);
});
