/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bars of components are whole without this: it only explains them. */
import { makeMark, makeSheet } from "../svg/sheet.js";

const svg = document.currentScript.ownerSVGElement;
const sheet = makeSheet(
	svg,
	"Each bar is a recording, and all of it is CPU time: a piece is the share of one component. A sample belongs to the component of its innermost function that a rule of the taxonomy names.",
	[
		["pointer on a piece", "its share and its samples"],
		["?", "this help"],
	]
);

addEventListener("keydown", (e) => {
	if (e.key === "?") sheet();
	else if (e.key === "Escape" && svg.querySelector(".sheet")) sheet();
});
/* Part of another page: that page explains. */
if (svg === document.documentElement && window === window.top) makeMark(svg, sheet);
