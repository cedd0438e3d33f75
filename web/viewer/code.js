/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The panel beside the picture: hot lines and instructions of the function in focus. */
import { $, el, fill } from "./util.js";

const HOT = 5,
	WARM = 1;

const heat = (percent) => (percent >= HOT ? "hot" : percent >= WARM ? "warm" : "");
const share = (percent) => (percent ? percent.toFixed(2) + "%" : "");

/* The code that was put into the page for a function; by its module where names repeat. */
export function codeOf(app, f) {
	const { names, modules } = app.model.frames,
		all = (app.options.code || []).filter((c) => c.name === names[f]);

	return all.find((c) => c.module === modules[f]) || all[0] || null;
}

function lineRow(line) {
	return el(
		"tr",
		{ class: heat(line[0]) },
		el("td", { class: "share", text: share(line[0]) }),
		el("td", { class: "place", text: line[1] }),
		el("td", { class: "source", text: line[2] || "" })
	);
}

/* A row for an instruction, after one for the source line where that is another. */
function instructionRows(rows, [percent, address, text, place], last) {
	if (place && place !== last)
		rows.push(
			el("tr", { class: "at" }, el("td"), el("td", { colspan: "2", text: place }))
		);
	rows.push(
		el(
			"tr",
			{ class: heat(percent) },
			el("td", { class: "share", text: share(percent) }),
			el("td", { class: "address", text: address }),
			el("td", { class: "instruction", text })
		)
	);
	return place || last;
}

export function fillCode(app, f) {
	if (!app.options.code) return;
	const code = codeOf(app, f),
		rows = [];
	let last = "";

	document.body.classList.add("has-code");
	$("code").hidden = false;
	if (!code) {
		fill(
			$("code"),
			el("p", {
				class: "quiet",
				text: "Choose a function with samples of its own: its code is shown here.",
			})
		);
		return;
	}
	for (const instruction of code.code) last = instructionRows(rows, instruction, last);
	fill(
		$("code"),
		el("h2", { text: code.name }),
		el("p", { class: "quiet", text: `${code.module} · ${code.samples} samples` }),
		code.lines.length
			? el("table", { class: "lines" }, el("tbody", {}, ...code.lines.map(lineRow)))
			: null,
		el("table", { class: "instructions" }, el("tbody", {}, ...rows))
	);
}
