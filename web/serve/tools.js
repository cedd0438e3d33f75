/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tool library as a list and forms, from the same tables as the command line. */
import { $, el, fill } from "../viewer/util.js";
import { get } from "./api.js";

const TOOL_QUESTION = "Which tool shows one thing?";

export class Tools {
	constructor(app) {
		this.app = app;
		this.all = null;
	}

	async load() {
		if (this.all) return;
		try {
			const { commands } = await (await get("/api/v1/tools")).json();

			this.all = commands.filter((c) => c.question === TOOL_QUESTION);
			this.drawList();
		} catch (error) {
			fill($("toolform"), el("p", { class: "bad", text: error.message }));
		}
	}

	async columns(name) {
		await this.load();
		const tool = this.all && this.all.find((t) => t.name === name);

		return (tool && tool.columns) || [];
	}

	drawList() {
		const groups = new Map();

		for (const tool of this.all) groups.set(tool.group, [...(groups.get(tool.group) || []), tool]);
		const find = el("input", { id: "tool-find", type: "search", placeholder: `find one of ${this.all.length} tools`, "aria-label": "find a tool" });

		find.addEventListener("input", () => this.find(find.value.toLowerCase()));
		fill($("toollist"), find, this.app.about.programs && this.app.about.role === "program" ? this.programButton() : null,
			...[...groups].flatMap(([group, tools]) => [el("section", { "aria-label": group }, el("h3", { text: group }),
				...tools.map((t) => this.button(t)))]));
	}

	/* By name or summary; a group without any goes. */
	find(text) {
		for (const tool of this.all)
			document.querySelector(`.tool[data-tool="${tool.name}"]`).hidden = !(tool.name + " " + tool.summary.toLowerCase()).includes(text);
		for (const group of document.querySelectorAll("#toollist section")) group.hidden = !group.querySelector(".tool:not([hidden])");
	}

	button(tool) {
		const button = el("button", { class: "tool", "data-tool": tool.name }, document.createTextNode(tool.name),
			el("small", { text: tool.summary }));

		button.addEventListener("click", () => this.open(tool.name));
		return button;
	}

	open(name) {
		const tool = this.all && this.all.find((t) => t.name === name);

		if (!tool) return;
		for (const b of document.querySelectorAll(".tool")) b.setAttribute("aria-current", String(b.dataset.tool === name));
		const options = tool.options.filter((o) => !o.common && !o.hidden && o.group !== "Output" && o.type !== "file" && o.name !== "duration"),
			seconds = el("input", { id: "tool-seconds", type: "number", min: 1, max: 60, value: 5 }),
			each = el("input", { id: "tool-each", type: "checkbox" }),
			run = el("button", { class: "main", type: "submit", text: "Run" }),
			rows = options.flatMap((o) => this.optionRow(o)),
			form = el("form", { class: "options" },
				el("label", { for: "tool-seconds", text: "seconds" }), seconds, el("span"),
				...(/INTERVAL/.test(tool.operands || "") ? [el("label", { for: "tool-each", text: "each second" }), each,
					el("span", { class: "quiet", text: "a result each second: histograms become a heat map over time" })] : []),
				...rows, run);

		form.addEventListener("submit", (e) => {
			e.preventDefault();
			this.run(tool, options, Number(seconds.value), each.checked ? 1 : 0);
		});
		fill($("toolform"), el("h2", { text: `${tool.name}: ${tool.summary}` }),
			...(tool.description || "").split("\n\n").map((text) => el("p", { text })), form);
	}

	optionRow(option) {
		const id = "option-" + option.name;
		let input;

		if (option.type === "flag") input = el("input", { id, type: "checkbox" });
		else if (option.choices && option.choices.length)
			input = el("select", { id }, el("option", { value: "" }), ...option.choices.map((c) => el("option", { value: c, text: c })));
		else input = el("input", { id, placeholder: option.default || option.value || "" });
		return [el("label", { for: id, text: option.name + (option.short ? ` (-${option.short})` : "") }), input, el("span", { class: "quiet", text: option.help })];
	}

	run(tool, options, seconds, interval) {
		const given = [];

		for (const o of options) {
			const input = $("option-" + o.name);

			if (o.type === "flag") {
				if (input.checked) given.push(o.name);
			} else if (input.value) {
				given.push(o.name + "=" + input.value);
			}
		}
		this.app.results.begin("/api/v1/tools/run", { tool: tool.name, options: given, seconds, interval });
	}

	programButton() {
		const button = el("button", { class: "tool", id: "tool-program" }, document.createTextNode("program"),
			el("small", { text: "free text in the tracing language" }));

		button.addEventListener("click", () => this.openProgram());
		return button;
	}

	openProgram(given) {
		const text = el("textarea", { id: "program", "aria-label": "program", spellcheck: "false" }),
			seconds = el("input", { id: "program-seconds", type: "number", min: 1, max: 60, value: 5 }),
			run = el("button", { class: "main", id: "program-run", text: "Run", title: "run  [Ctrl+Enter]" }),
			begin = () => this.app.results.begin("/api/v1/program", { text: text.value, seconds: Number(seconds.value) || 5 });

		text.value = given || this.program || "tracepoint:sched:sched_switch { @[comm] = count(); }";
		text.addEventListener("input", () => (this.program = text.value));
		text.addEventListener("keydown", (e) => e.key === "Enter" && e.ctrlKey && begin());
		run.addEventListener("click", begin);
		fill($("toolform"), el("h2", { text: "A program" }), text,
			el("div", { class: "actions" }, el("label", { for: "program-seconds", text: "seconds" }), seconds, run));
		text.focus();
	}
}
