/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bars of components are whole without this, which fits them to the window and explains them. */
import { HEAD_LINE, Heading, helpButton, textWidth, wrapText } from "../svg/head.js";
import { makeSheet } from "../svg/sheet.js";

const LEFT = 20;
const BAR = 44;
const ROW = 22;
const NAME = 190; /* columns of the table */
const SHARE = 110;

const svg = document.currentScript.ownerSVGElement;
const alone = svg === document.documentElement && window === window.top;
const sheet = makeSheet(
	svg,
	"Each bar is a recording, and all of it is CPU time: a piece is the share of one component. A sample belongs to the component of its innermost function that a rule of the taxonomy names.",
	[
		["pointer on a piece", "its share and its samples"],
		["?", "this help"],
	]
);
/* Part of another page: that page explains. */
const heading = new Heading(svg, alone ? [helpButton(svg, sheet)] : [], 60);

function layPieces(bar, room) {
	for (const g of bar.querySelectorAll(".pieces > g")) {
		const x = LEFT + (Number(g.dataset.from) * room) / 100,
			w = (Number(g.dataset.share) * room) / 100,
			rect = g.querySelector("rect"),
			text = g.querySelector("text"),
			[, name, share] = /^(.*): ([\d.]+)%,/.exec(g.querySelector("title").textContent);

		rect.setAttribute("x", x);
		rect.setAttribute("width", w);
		if (!text) continue;
		const short = Number(share).toFixed(1) + "%",
			fits = [name + " " + short, short, ""].find((words) => textWidth(text, words) <= w - 6);

		text.textContent = fits || "";
		text.setAttribute("x", x + w / 2);
	}
}

/* Descriptions stand at the end of their rows if all of them have room there, else below. */
function layTable(room, top) {
	const rows = [...svg.querySelectorAll(".row")],
		columns = 1 + Math.max(-1, ...[...svg.querySelectorAll(".number")].map((e) => Number(e.dataset.column))),
		name = Math.min(NAME, room * 0.4),
		share = Math.min(SHARE, columns ? (room - name) / columns : SHARE),
		at = LEFT + name + columns * share + 10,
		wide = Math.max(0, ...[...svg.querySelectorAll(".text")].map((e) => textWidth(e, e.textContent))),
		beside = at + wide <= LEFT + room;
	let y = top;

	for (const row of rows) {
		const text = row.querySelector(".text");

		row.setAttribute("transform", `translate(0,${y})`);
		for (const e of row.querySelectorAll(".number"))
			e.setAttribute("x", LEFT + name + (Number(e.dataset.column) + 1) * share - (20 * share) / SHARE);
		y += ROW;
		if (!text) continue;
		text.setAttribute("x", beside ? at : LEFT + 20);
		text.setAttribute("y", beside ? 0 : HEAD_LINE - 2);
		if (!beside) y += HEAD_LINE - 2;
	}
	const unseen = svg.querySelector(".unseen");

	if (!unseen) return y;
	unseen.setAttribute("y", y + 4);
	return y + 4 + HEAD_LINE * wrapText(unseen, unseen.textContent, room);
}

function fit() {
	const width = svg.clientWidth || innerWidth,
		room = width - 2 * LEFT;
	let y = heading.lay(width) + 10;

	for (const bar of svg.querySelectorAll(".bar")) {
		const about = bar.querySelector(".about"),
			lines = wrapText(about, about.textContent, room) + 1;

		bar.querySelector(".name").setAttribute("y", -6 - (lines - 1) * HEAD_LINE);
		about.setAttribute("y", -6 - (lines - 2) * HEAD_LINE);
		y += 6 + lines * HEAD_LINE;
		bar.setAttribute("transform", `translate(0,${y})`);
		layPieces(bar, room);
		y += BAR + 6;
	}
	svg.setAttribute("height", layTable(room, y + ROW + 8) + 10);
}

svg.removeAttribute("viewBox");
addEventListener("resize", fit);
fit();
