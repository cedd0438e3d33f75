/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A field with axes grows with the window; the texts of its axes keep their size. */
const TICK_GAP = 8;

/* Texts at places along one axis: those that would be on another one are left out. */
function layTicks(texts, name, place, size) {
	let taken = -Infinity;

	for (const [text, at] of texts) {
		const to = place(at),
			half = text.getBBox()[size] / 2;

		text.setAttribute(name, to);
		text.style.display = to - half < taken ? "none" : "";
		if (!text.style.display) taken = to + half + TICK_GAP;
	}
}

const ticksOf = new Map(); /* where the file has them */

function ticks(svg, kind, name) {
	if (!ticksOf.has(kind))
		ticksOf.set(kind, [...svg.querySelectorAll(".tick." + kind)].map((e) => [e, Number(e.getAttribute(name))]));
	const list = ticksOf.get(kind);

	for (const [e] of list) e.style.display = "";
	return list;
}

/*
 * The group "plot" is scaled by @x from @left on and by @y from @top on, which comes to lie at @to;
 * @bottom: where it ends in the file.
 */
export function fitPlot(svg, { left, top, x, y, to, bottom }) {
	const down = (v) => to + (v - top) * y;

	svg.querySelector("#plot").setAttribute(
		"transform",
		`translate(${left},${to}) scale(${x},${y}) translate(${-left},${-top})`
	);
	const times = ticks(svg, "time", "x");

	for (const [e] of times) e.setAttribute("y", down(bottom) + 18);
	layTicks(times, "x", (v) => left + (v - left) * x, "width");
	/* from the top down; the text is a little below its place */
	layTicks(
		[...ticks(svg, "value", "y")].sort((a, b) => a[1] - b[1]),
		"y",
		(v) => down(v - 4) + 4,
		"height"
	);
}
