/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "?" opens in a picture: how to read it, and its keys. */
import { htmlElement } from "./head.js";

/* @keys: [[key, what it does], ...]. Gives a function that opens and closes it. */
export function makeSheet(svg, about, keys) {
	const place = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject"),
		box = htmlElement("div", { role: "dialog", "aria-label": "Help" }),
		list = htmlElement("dl", {});

	place.setAttribute("class", "sheet");
	box.append(htmlElement("div", {}, about));
	for (const [key, does] of keys) list.append(htmlElement("dt", {}, key), htmlElement("dd", {}, does));
	box.append(list);
	place.append(box);
	return () => {
		if (place.isConnected) {
			place.remove();
			return;
		}
		const wide = Math.min(520, innerWidth - 16),
			at = new DOMPoint(innerWidth - wide - 8, 44).matrixTransform(svg.getScreenCTM().inverse());

		place.setAttribute("x", at.x);
		place.setAttribute("y", Math.max(at.y, 0));
		place.setAttribute("width", wide);
		place.setAttribute("height", 500);
		svg.append(place);
		place.setAttribute("height", box.offsetHeight + 20);
	};
}
