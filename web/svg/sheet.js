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
