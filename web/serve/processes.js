/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The processes that ran in the second at the cursor, busiest first. */
import { el, fill } from "../viewer/util.js";
import { fmtFigure } from "./units.js";

const COLUMNS = [
	["PID", null],
	["process", null],
	["CPU", "percent"],
	["wants a CPU", "percent"],
	["memory", "bytes"],
	["read", "bytes/s"],
	["written", "bytes/s"],
];

export class Processes {
	constructor(app) {
		this.app = app;
		this.body = el("tbody");
		this.title = el("span");
		this.root = el("section", { class: "card", id: "chart-processes" + (app.number ? "-" + app.number : "") },
			el("h3", {}, this.title),
			el("div", { class: "scroll" },
				el("table", {},
					el("thead", {}, el("tr", {},
						...COLUMNS.map(([title, unit]) => el("th", { text: title, scope: "col", class: unit ? "number" : null })))),
					this.body)));
	}

	nameHost(name) {
		this.title.textContent = "Processes on a CPU" + (name ? ` (${name})` : "");
		this.root.setAttribute("aria-label", "processes" + (name ? " of " + name : ""));
	}

	draw() {
		const { axis, frames } = this.app,
			frame = frames.at(axis.cursor === null ? axis.to : axis.cursor);

		fill(this.body, ...(frame ? frame.p : []).slice(0, 12).map((row) => this.row(row)));
	}

	row(values) {
		const [pid, name] = values,
			button = this.app.aims ? el("button", { text: String(pid), title: "record this process" }) : el("span", { text: String(pid) });

		if (this.app.aims) button.addEventListener("click", () => this.app.aim("process", pid));
		return el("tr", {},
			el("td", {}, button),
			el("td", { text: name }),
			...values.slice(2).map((v, i) => el("td", { class: "number", text: fmtFigure(COLUMNS[i + 2][1], v) })));
	}
}
