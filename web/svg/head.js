/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands above each picture: title, facts, legend and controls, as wide as the window is. */
const HEAD_XHTML = "http://www.w3.org/1999/xhtml";
const HEAD_SPACE = "http://www.w3.org/2000/svg";
const BAR_Y = 6;
const BAR_HEIGHT = 26;
const BAR_BELOW = 32; /* where there is no room beside the title */
const KEY_GAP = 14; /* between the entries of a legend */

export const HEAD_LINE = 17;

export function htmlElement(name, attributes, text) {
	const e = document.createElementNS(HEAD_XHTML, name);

	for (const key of Object.keys(attributes)) e.setAttribute(key, attributes[key]);
	e.textContent = text || "";
	return e;
}

export function barButton(text, label, click) {
	const b = htmlElement("button", { type: "button", title: label, "aria-label": label }, text);

	b.addEventListener("click", click);
	return b;
}

const headPen = htmlElement("canvas", {}).getContext("2d");

/* Of @text in the font of @e. */
export function textWidth(e, text) {
	const style = getComputedStyle(e);

	if (!headPen) return text.length * 8;
	headPen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
	return headPen.measureText(text).width;
}

/* Breaks the text of @e between words; gives the number of lines. */
export function wrapText(e, text, room) {
	const lines = [""];

	for (const word of text.split(" ")) {
		const line = lines[lines.length - 1],
			more = line ? line + " " + word : word;

		if (line && textWidth(e, more) > room) lines.push(word);
		else lines[lines.length - 1] = more;
	}
	e.replaceChildren(
		...lines.map((line, i) => {
			const part = document.createElementNS(HEAD_SPACE, "tspan");

			part.setAttribute("x", e.getAttribute("x"));
			part.setAttribute("dy", i ? HEAD_LINE : 0);
			/* the blank is for reading and copying */
			part.textContent = line + (i < lines.length - 1 ? " " : "");
			return part;
		})
	);
	return lines.length;
}

/* As much of @text as there is room for, in @e. */
function cutText(e, text, room) {
	let n = text.length;

	if (textWidth(e, text) > room)
		while (n > 1 && textWidth(e, text.slice(0, n) + "…") > room) n--;
	e.textContent = n < text.length ? text.slice(0, n) + "…" : text;
}

/* An entry is a group drawn from 0, or a rectangle and its text; gives the number of rows. */
function layLegend(legend, left, right, y) {
	let x = left,
		row = 0;

	for (const entry of legend.querySelectorAll(":scope > rect, :scope > g")) {
		const text = entry.nextElementSibling,
			group = entry.localName === "g",
			wide = group ? entry.getBBox().width : 16 + text.getComputedTextLength();

		if (x > left && x + wide > right) {
			x = left;
			row++;
		}
		const at = y + row * HEAD_LINE;

		if (group) {
			entry.setAttribute("transform", `translate(${x},${at})`);
		} else {
			entry.setAttribute("x", x);
			entry.setAttribute("y", at - 10);
			text.setAttribute("x", x + 16);
			text.setAttribute("y", at);
		}
		x += wide + KEY_GAP;
	}
	return row + 1;
}

export class Heading {
	/* @items: the controls; @most: pixels that they take together. */
	constructor(svg, items, most) {
		this.head = svg.querySelector("#head");
		this.title = this.head.querySelector(".heading");
		this.name = this.title.textContent;
		this.facts = [...this.head.querySelectorAll(".fact")];
		this.legend = this.head.querySelector("#legend");
		this.cover = this.head.querySelector(".cover");
		this.most = most;
		this.bar = htmlElement("div", { class: "controls", role: "toolbar", "aria-label": "Controls" });
		this.bar.append(...items);
		this.box = document.createElementNS(HEAD_SPACE, "foreignObject");
		this.box.append(this.bar);
		this.head.append(this.box);
	}
	/* Beside the title, or, if the heading is @fluid, below it where there is no room; gives the height that it takes there. */
	placeBar(width, fluid) {
		const pad = Number(this.title.getAttribute("x")),
			most = Math.min(this.most, width - pad),
			below = fluid && textWidth(this.title, this.name) + 2 * pad + this.most > width;

		this.bar.classList.toggle("narrow", below);
		this.box.setAttribute("x", Math.max(0, width - most - Math.min(pad, 10)));
		this.box.setAttribute("width", most);
		this.box.setAttribute("y", below ? BAR_BELOW : BAR_Y);
		const tall = below ? this.bar.offsetHeight + 6 : 0;

		this.box.setAttribute("height", below ? tall : BAR_HEIGHT);
		return tall;
	}
	/* Gives the base line of the last line of all. */
	lay(width) {
		const pad = Number(this.title.getAttribute("x")),
			tall = this.placeBar(width, true);
		let y = Number(this.title.getAttribute("y")) + tall;

		cutText(this.title, this.name, width - 2 * pad);
		for (const e of this.facts) {
			e.setAttribute("y", y + HEAD_LINE);
			y += HEAD_LINE * wrapText(e, e.textContent, width - 2 * pad);
		}
		if (this.legend)
			y += HEAD_LINE * layLegend(this.legend, pad, width - Math.min(pad, 10), y + HEAD_LINE);
		if (this.cover) {
			this.cover.setAttribute("width", width);
			this.cover.setAttribute("height", y + 8);
		}
		return y;
	}
}

/*
 * A field for a regular expression. @find(pattern) marks what matches, or nothing for null, and gives
 * the text that is shown, such as "3 of 20"; Enter goes on to the next match.
 */
export function searchItems(find, onEnter) {
	const found = htmlElement("span", { class: "matched", role: "status" }),
		input = htmlElement("input", {
			type: "search",
			placeholder: "search (regex)  /",
			"aria-label": "search by regular expression",
			spellcheck: "false",
		});
	const look = () => {
		let pattern = null,
			bad = false;

		try {
			pattern = input.value ? new RegExp(input.value, "i") : null;
		} catch {
			bad = true;
		}
		input.classList.toggle("bad", bad);
		found.textContent = find(pattern);
	};

	input.addEventListener("input", look);
	input.addEventListener("keydown", (e) => {
		e.stopPropagation();
		if (e.key === "Enter") onEnter();
		if (e.key !== "Escape") return;
		input.value = "";
		look();
		input.blur();
	});
	addEventListener("keydown", (e) => {
		if (e.key !== "/" || e.ctrlKey || e.metaKey) return;
		e.preventDefault();
		input.focus();
	});
	return [found, input];
}

/* The "?" of the bar; the key does the same, and Escape closes the sheet. */
export function helpButton(svg, sheet) {
	addEventListener("keydown", (e) => {
		if (e.key === "?" || (e.key === "Escape" && svg.querySelector(".sheet"))) sheet();
	});
	return barButton("?", "Help (?)", sheet);
}
