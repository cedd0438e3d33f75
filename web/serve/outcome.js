/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a tool or a program printed, by type: rows, histograms, a heat map over time, maps. */
import { el } from "../viewer/util.js";
import { heatMap, histogramBars, isHistogram } from "./histogram.js";
import { ResultTable } from "./table.js";

/* One document, or one on each line; a line that is not JSON is kept as text. */
export function readDocuments(text) {
	try {
		return [JSON.parse(text)];
	} catch {
		return text.split("\n").filter((l) => l.trim()).map((line) => {
			try {
				return JSON.parse(line);
			} catch {
				return { text: line };
			}
		});
	}
}

/* A map of the language: keys and values, or histograms. */
function mapRows(data) {
	return Object.entries(data || {}).map(([name, value]) => {
		const rows = value && typeof value === "object" && !Array.isArray(value)
			? Object.entries(value).map(([key, v]) => ({ key, value: v }))
			: [{ key: "", value }];

		return el("section", {}, el("h3", { text: name }), new ResultTable(rows).root);
	});
}

function addHistograms(parts, docs) {
	const names = new Set(docs.flatMap((d) => Object.keys(d).filter((k) => isHistogram(d[k]))));

	for (const name of names) {
		const having = docs.filter((d) => isHistogram(d[name])),
			labels = new Set(having.flatMap((d) => d[name].map((h) => h.label)));

		for (const label of labels) {
			const slices = having.flatMap((d) => d[name].filter((h) => h.label === label)
				.map((h) => [Number((d.facts && d.facts.time) || 0) / 1e6, h]));

			if (slices.length > 1) parts.push(heatMap(label ? `${name} of ${label}` : name, slices));
			parts.push(histogramBars(slices[slices.length - 1][1]));
		}
	}
}

/* @columns: what the tool says of its columns. */
export function showOutcome(text, columns) {
	const docs = readDocuments(text),
		parts = [],
		rows = [],
		tables = docs.flatMap((d) => Object.values(d).filter((v) => Array.isArray(v) && v.length && typeof v[0] === "object" && !isHistogram(v)));

	for (const d of docs) {
		if (d.type === "map") parts.push(...mapRows(d.data));
		else if (d.type === "printf" || d.text) parts.push(el("pre", { text: d.data || d.text }));
		else if (!("schema" in d) && !("type" in d)) rows.push(d);
		else
			for (const [key, value] of Object.entries(d))
				if (Array.isArray(value) && value.length && key !== "columns" && key !== "notes" && !isHistogram(value)) {
					/* one alone needs no name */
					parts.push(tables.length > 1 || key !== "rows" ? el("h3", { text: key }) : null, new ResultTable(value, columns).root);
				}
	}
	addHistograms(parts, docs);
	if (rows.length) parts.push(new ResultTable(rows, columns).root);
	for (const d of docs)
		for (const note of d.notes || []) parts.push(el("p", { class: "quiet", text: typeof note === "string" ? note : JSON.stringify(note) }));
	if (!parts.length) parts.push(el("p", { class: "quiet", text: "Nothing happened in this time." }));
	return el("div", { class: "outcome" }, ...parts.filter(Boolean));
}
