/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a program with what the compiler says under each line. */
import { el } from "../viewer/util.js";

/* "stdin:2:16-17: ERROR: text"; the lines after it repeat the source. */
const SAID = /^[^\s:]+:(\d+)(?::(\d+)(?:-(\d+))?)?: (ERROR|WARNING): (.*)$/;

/* Messages by line; what names no line comes last, under 0. */
export function readDiagnostics(said) {
	const all = [];

	for (const line of (said || "").split("\n")) {
		const found = SAID.exec(line);

		if (found)
			all.push({ line: Number(found[1]), from: Number(found[2] || 0), to: Number(found[3] || found[2] || 0),
				error: found[4] === "ERROR", text: found[5] });
	}
	return all;
}

function mark(d) {
	const under = d.from ? " ".repeat(d.from - 1) + "~".repeat(Math.max(1, d.to - d.from)) + " " : "";

	return el("code", { class: d.error ? "said bad" : "said warn", text: under + d.text });
}

/* The program as it was run; each message stands under its line. */
export function programListing(text, said) {
	const all = readDiagnostics(said),
		lines = text.split("\n"),
		rows = lines.flatMap((line, i) => [
			el("code", { class: "code", text: line.replace(/\t/g, " ") || " " }),
			...all.filter((d) => d.line === i + 1).map(mark)]),
		rest = all.filter((d) => d.line < 1 || d.line > lines.length).map(mark);

	return el("div", { class: "listing", role: "region", "aria-label": "program with errors" }, ...rows, ...rest,
		all.length ? null : el("pre", { text: said }));
}
