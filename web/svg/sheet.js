/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What "?" opens in a picture: how to read it, and its keys. */
const SHEET_SPACE = "http://www.w3.org/1999/xhtml";

function sheetElement(name, text, style) {
	const e = document.createElementNS(SHEET_SPACE, name);

	e.textContent = text || "";
	if (style) e.setAttribute("style", style);
	return e;
}

/* @keys: [[key, what it does], ...]. Gives a function that opens and closes it. */
export function makeSheet(svg, about, keys) {
	const place = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject"),
		dark = matchMedia("(prefers-color-scheme: dark)").matches,
		box = sheetElement(
			"div",
			"",
			"box-sizing:border-box;border:1px solid #8886;border-radius:10px;padding:10px 18px;" +
				"font:13px system-ui,sans-serif;line-height:1.5;box-shadow:0 4px 18px #0004;" +
				(dark ? "background:#1a1e25;color:#e8eaee" : "background:#fff;color:#16181d")
		),
		list = sheetElement("dl", "", "display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:8px 0");

	place.setAttribute("class", "sheet");
	box.setAttribute("role", "dialog");
	box.setAttribute("aria-label", "Help");
	box.append(sheetElement("div", about));
	for (const [key, does] of keys)
		list.append(
			sheetElement("dt", key, "font-family:ui-monospace,monospace;margin:0"),
			sheetElement("dd", does, "margin:0")
		);
	box.append(list);
	place.append(box);
	return () => {
		if (place.isConnected) {
			place.remove();
			return;
		}
		const scale = svg.getScreenCTM(),
			wide = Math.min(520, innerWidth - 16),
			at = new DOMPoint(innerWidth - wide - 8, 44).matrixTransform(scale.inverse());

		place.setAttribute("x", at.x);
		place.setAttribute("y", Math.max(at.y, 0));
		place.setAttribute("width", wide / scale.a);
		place.setAttribute("height", 500);
		svg.append(place);
	};
}

/* A "?" at the top right, for who does not know the key. */
export function makeMark(svg, toggle) {
	const text = document.createElementNS("http://www.w3.org/2000/svg", "text");

	text.textContent = "?";
	text.setAttribute("class", "help-mark");
	text.setAttribute("role", "button");
	text.setAttribute("tabindex", "0");
	text.setAttribute("aria-label", "Help (?)");
	text.setAttribute("style", "cursor:pointer;font-size:16px;font-weight:600;text-anchor:end");
	text.addEventListener("click", (e) => {
		e.stopPropagation();
		toggle();
	});
	const put = () => {
		const box = svg.getAttribute("viewBox");

		text.setAttribute("x", (box ? Number(box.split(" ")[2]) : innerWidth) - 14);
		text.setAttribute("y", 24);
	};

	put();
	addEventListener("resize", put);
	svg.append(text);
	return text;
}

/*
 * A field for a regular expression beside the mark. @find(pattern) marks what matches, or nothing for
 * null, and gives the text that is shown, such as "3 of 20".
 */
export function makeSearch(svg, find) {
	const place = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject"),
		dark = matchMedia("(prefers-color-scheme: dark)").matches,
		row = sheetElement("div", "", "display:flex;gap:6px;justify-content:flex-end;align-items:center;font:12px system-ui,sans-serif;color:" + (dark ? "#949ca9" : "#676e7a")),
		found = sheetElement("span", "", "white-space:nowrap;font-variant-numeric:tabular-nums"),
		input = sheetElement(
			"input",
			"",
			"font:inherit;width:150px;height:22px;box-sizing:border-box;padding:0 6px;border-radius:4px;border:1px solid " +
				(dark ? "#2b313b;background:#1a1e25;color:#e8eaee" : "#dde0e6;background:#fff;color:#16181d")
		);
	const look = () => {
		let pattern = null;

		try {
			pattern = input.value ? new RegExp(input.value, "i") : null;
			input.style.borderColor = dark ? "#2b313b" : "#dde0e6";
		} catch {
			input.style.borderColor = "#d00";
		}
		found.textContent = find(pattern);
	};
	const put = () => place.setAttribute("x", innerWidth - 300);

	input.type = "search";
	input.placeholder = "search (regex)  /";
	input.setAttribute("aria-label", "search by regular expression");
	found.setAttribute("role", "status");
	input.addEventListener("input", look);
	input.addEventListener("keydown", (e) => {
		e.stopPropagation();
		if (e.key !== "Escape") return;
		input.value = "";
		look();
		input.blur();
	});
	for (const name of ["pointerdown", "dblclick", "wheel"])
		place.addEventListener(name, (e) => e.stopPropagation());
	addEventListener("keydown", (e) => {
		if (e.key !== "/" || e.ctrlKey || e.metaKey) return;
		e.preventDefault();
		input.focus();
	});
	row.append(found, input);
	place.append(row);
	place.setAttribute("class", "search");
	place.setAttribute("y", 6);
	place.setAttribute("width", 262);
	place.setAttribute("height", 26);
	put();
	addEventListener("resize", put);
	svg.append(place);
}

/* Lines of the heading that are wider than the window are written smaller; what is still too wide is cut. */
export function fitHeading(lines) {
	const whole = [...lines].map((e) => [e, e.textContent]);
	const fit = () => {
		for (const [e, text] of whole) {
			const room = innerWidth - Number(e.getAttribute("x")) - 8;

			e.textContent = text;
			e.style.fontSize = "";
			const wide = e.getComputedTextLength();

			if (wide <= room) continue;
			e.style.fontSize = "10px";
			const left = e.getComputedTextLength();

			if (left <= room) continue;
			e.textContent = text.slice(0, Math.floor((text.length * room) / left) - 1) + "…";
			e.setAttribute("aria-label", text);
		}
	};

	fit();
	addEventListener("resize", fit);
}
