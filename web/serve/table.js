/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a result as a table that sorts and filters. Names are text, never markup. */
import { el, fill, fmtCount, fmtNs, makeRegex } from "../viewer/util.js";

const ROWS_MOST = 1000;

function cellText(value, key) {
	if (value === null || value === undefined) return "";
	if (typeof value === "number") return /(^|_)(ns|latency|time)$/.test(key) ? fmtNs(value) : fmtCount(value);
	return typeof value === "object" ? JSON.stringify(value) : String(value);
}

export class ResultTable {
	constructor(rows) {
		this.rows = rows;
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

	heading(key) {
		const button = el("button", { text: key, title: "sort" });

		button.addEventListener("click", () => {
			this.down = this.order === key ? !this.down : this.numeric.has(key);
			this.order = key;
			this.draw();
		});
		return el("th", { scope: "col", class: this.numeric.has(key) ? "number" : null }, button);
	}

	draw() {
		let rows = this.rows.filter((r) => !this.regex || this.keys.some((k) => this.regex.test(cellText(r[k], k))));
		const key = this.order;

		if (key) {
			rows = [...rows].sort((a, b) => (a[key] > b[key] ? 1 : a[key] < b[key] ? -1 : 0));
			if (this.down) rows.reverse();
		}
		this.count.textContent = rows.length > ROWS_MOST ? `${ROWS_MOST} of ${rows.length} rows` : `${rows.length} rows`;
		fill(this.body, ...rows.slice(0, ROWS_MOST).map((r) =>
			el("tr", {}, ...this.keys.map((k) => el("td", { class: this.numeric.has(k) ? "number" : null, text: cellText(r[k], k) })))));
	}
}
