/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a result as a table that sorts and filters. Names are text, never markup. */
import { el, fill, fmtCount, makeRegex } from "../viewer/util.js";
import { fmtFigure, fmtTime } from "./units.js";

const ROWS_MOST = 1000, CELL_MOST = 36;
const IDENTITIES = ["pid", "port", "int"];

/* @column: { type, unit } of the tool, where they are known; a number of something is no amount. */
function cellText(value, column) {
	if (value === null || value === undefined) return "";
	if (typeof value === "object") return JSON.stringify(value);
	if (typeof value !== "number") return String(value);
	if (column.type === "timestamp") return fmtTime(value / 1e6);
	if (["ns", "bytes", "bytes/s", "percent"].includes(column.unit)) return fmtFigure(column.unit, value);
	return IDENTITIES.includes(column.type) ? String(value) : fmtCount(value);
}

export class ResultTable {
	constructor(rows, columns = []) {
		this.rows = rows;
		this.columns = new Map(columns.map((c) => [c.key, c]));
		/* a column that no row has a value for is of an option that was not given */
		this.keys = [...new Set(rows.slice(0, 100).flatMap((r) => Object.keys(r)))]
			.filter((k) => rows.some((r) => r[k] !== null && r[k] !== undefined));
		this.numeric = new Set(this.keys.filter((k) => rows.some((r) => typeof r[k] === "number")));
		this.order = null;
		this.down = true;
		this.body = el("tbody");
		this.count = el("output", { class: "quiet" });
		const filter = el("input", { type: "search", placeholder: "filter (regex)", "aria-label": "filter rows, a regular expression" });

		filter.addEventListener("input", () => {
			this.regex = makeRegex(filter.value).regex;
			this.draw();
		});
		this.root = el("div", { class: "scroll" },
			el("div", { class: "actions" }, filter, this.count),
			el("table", {}, el("thead", {}, el("tr", {}, ...this.keys.map((k) => this.heading(k)))), this.body));
		this.draw();
	}

	text(row, key) {
		return cellText(row[key], this.columns.get(key) || { unit: /(^|_)(ns|latency|time)$/.test(key) ? "ns" : null });
	}

	heading(key) {
		const button = el("button", { text: key, title: "sort" });

		button.addEventListener("click", () => {
			this.down = this.order === key ? !this.down : this.numeric.has(key);
			this.order = key;
			this.draw();
		});
		return el("th", { scope: "col", class: this.numeric.has(key) ? "number" : null }, button);
	}

	/* What is too long for its cell is shown on hover. */
	cell(key, text) {
		return el("td", { class: this.numeric.has(key) ? "number" : null, text, title: text.length > CELL_MOST ? text : null });
	}

	draw() {
		let rows = this.rows.filter((r) => !this.regex || this.keys.some((k) => this.regex.test(this.text(r, k))));
		const key = this.order;

		if (key) {
			rows = [...rows].sort((a, b) => (a[key] > b[key] ? 1 : a[key] < b[key] ? -1 : 0));
			if (this.down) rows.reverse();
		}
		this.count.textContent = rows.length > ROWS_MOST ? `${ROWS_MOST} of ${rows.length} rows` : `${rows.length} rows`;
		fill(this.body, ...rows.slice(0, ROWS_MOST).map((r) =>
			el("tr", {}, ...this.keys.map((k) => this.cell(k, this.text(r, k))))));
	}
}
