/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jobs and their results: flame graphs in a frame, tables and histograms in the page. */
import { $, el, fill } from "../viewer/util.js";
import { get, post } from "./api.js";
import { Growing } from "./growing.js";
import { showOutcome } from "./outcome.js";
import { programListing } from "./program.js";
import { fmtTime } from "./units.js";

const KINDS = {
	oncpu: "on-CPU", offcpu: "off-CPU", hotcold: "hot/cold", chain: "chain of wakers",
	sched: "scheduler time line", diff: "difference", tool: "tool", program: "program",
};
const FORMS = [["html", "page"], ["data", "perf.data"], ["svg", "SVG"], ["json", "JSON"], ["csv", "CSV"]];

function jobTitle(job) {
	const of = { process: "process " + job.id, thread: "thread " + job.id, cgroup: job.cgroup }[job.target];

	if (job.kind === "tool") return job.tool;
	if (job.kind === "diff") return job.of ? `job ${job.of} against ${job.other}`
		: `${fmtTime(job.from)} to ${fmtTime(job.to)} against ${fmtTime(job.before_from)} to ${fmtTime(job.before_to)}`;
	return KINDS[job.kind] + (of ? " of " + of : "");
}

function jobWhen(job) {
	if (job.from && job.kind !== "diff") return `${fmtTime(job.from)} to ${fmtTime(job.to)}, past`;
	return fmtTime(job.begun) + (job.kind === "diff" ? "" : `, ${job.seconds} s`);
}

export class Results {
	constructor(app) {
		this.app = app;
		this.jobs = new Map();
		this.shown = null;
	}

	async load() {
		for (const job of (await (await get("/api/v1/jobs")).json()).jobs) {
			const known = this.jobs.get(job.job);

			if (known && known.state !== job.state) this.take(job);
			else this.jobs.set(job.job, job);
		}
		this.drawList();
	}

	/* News of a job. What this page asked for is opened when it is done. */
	take(job) {
		this.jobs.set(job.job, job);
		this.drawList();
		if (this.awaited === job.job && (job.state === "done" || job.state === "failed")) {
			this.awaited = null;
			this.open(job.job);
		} else if (this.shown === job.job) {
			this.open(job.job);
		}
	}

	async begin(path, body) {
		this.app.say("asks");
		try {
			const job = await post(path, { ...body, stream: this.app.stream || 0 });

			this.awaited = this.shown = job.job;
			this.app.showTab("results");
			/* its news may have been faster than the answer */
			this.take(this.jobs.get(job.job) || job);
			if (this.awaited) this.open(job.job);
		} catch (error) {
			this.app.say(error.message, true);
		}
	}

	drawList() {
		const jobs = [...this.jobs.values()].sort((a, b) => b.job - a.job);

		fill($("jobs"), ...jobs.map((job) => {
			const button = el("button", { class: "job", "data-job": job.job, "aria-current": this.shown === job.job ? "true" : null },
				document.createTextNode(`${job.job}. ${jobTitle(job)}`),
				el("small", { text: jobWhen(job) + ", " + job.state, class: job.state === "failed" ? "bad" : null }));

			button.addEventListener("click", () => this.open(job.job));
			return button;
		}));
	}

	open(number) {
		const job = this.jobs.get(number);

		if (!job) return;
		this.shown = number;
		this.app.remember();
		this.drawList();
		if (this.growing && this.growing.job !== number) this.stopGrowing();
		if (job.state === "done") this.openDone(job);
		else if (job.state === "failed")
			fill($("result"), el("h2", { text: jobTitle(job) }), el("p", { class: "bad", text: job.error }),
				job.hint ? el("p", { text: "hint: " + job.hint }) : null,
				job.said ? programListing(job.text || "", job.said) : null,
				job.kind === "program" ? this.editButton(job) : null);
		else this.openRunning(job);
	}

	stopGrowing() {
		if (this.growing) this.growing.stop();
		this.growing = null;
	}

	/* A recording that can be drawn is shown while it continues. */
	openRunning(job) {
		if (this.growing && this.growing.job === job.job && this.growing.frame) return void this.growing.say(job.state + " …");
		const note = el("p", { class: "quiet", text: job.state + " …" });

		fill($("result"), el("h2", { text: jobTitle(job) }), note, this.stopButton(job));
		if (job.state !== "recording" || !job.key || this.growing) return;
		this.growing = new Growing(job, jobTitle(job), note, $("result"));
		this.growing.follow();
	}

	editButton(job) {
		const button = el("button", { class: "main", text: "Edit" });

		button.addEventListener("click", () => {
			this.app.showTab("tools");
			this.app.tools.openProgram(job.text);
		});
		return button;
	}

	stopButton(job) {
		const button = el("button", { text: "Stop" });

		button.addEventListener("click", () => post(`/api/v1/jobs/${job.job}/stop`).catch((e) => this.app.say(e.message, true)));
		return button;
	}

	async openDone(job) {
		const isText = job.kind === "tool" || job.kind === "program",
			head = el("div", { class: "actions" }, el("h2", { text: jobTitle(job) + ", " + jobWhen(job) }), ...this.saveButtons(job, isText)),
			note = job.note ? el("p", { class: "warn", text: job.note }) : null;

		if (!isText) {
			/* a page that has grown gets the rest, and keeps what was chosen in it */
			const grown = this.growing && this.growing.job === job.job ? this.growing.frame : null;

			if (grown && grown.isConnected) {
				this.growing.end();
				for (const old of [...$("result").children]) if (old !== grown) old.remove();
				$("result").prepend(head, ...(note ? [note] : []));
				return;
			}
			this.stopGrowing();
			fill($("result"), head, note, el("iframe", { src: "/result/" + job.key, title: jobTitle(job) }));
			return;
		}
		try {
			const text = await (await get(`/api/v1/jobs/${job.job}/result?as=json`)).text(),
				columns = job.kind === "tool" ? await this.app.tools.columns(job.tool) : [];

			if (this.shown !== job.job) return;
			/* rows that have stacks are a flame graph, too */
			fill($("result"), head, note, job.picture ? el("iframe", { src: "/result/" + job.key, title: jobTitle(job) }) : null, showOutcome(text, columns));
		} catch (error) {
			fill($("result"), head, el("p", { class: "bad", text: error.message }));
		}
	}

	saveButtons(job, isText) {
		const forms = isText ? [...(job.picture ? [["html", "page"]] : []), ["json", "JSON"]]
			: job.kind === "sched" ? [["html", "page"]]
			: FORMS.filter(([form]) => form !== "data" || !(job.from || job.kind === "diff"));
		const buttons = forms.map(([form, text]) => {
			const button = el("button", { text: "Save " + text });

			button.addEventListener("click", () => this.save(job, form));
			return button;
		});
		const others = [...this.jobs.values()].filter((j) => this.hasRecording(j) && j.job !== job.job && j.kind === job.kind &&
			(!(j.from || job.from) || (j.target === job.target && j.id === job.id)));

		if (this.hasRecording(job) && others.length) {
			const select = el("select", { "aria-label": "compare with" }, el("option", { value: "", text: "Compare with …" }),
				...others.map((j) => el("option", { value: j.job, text: `${j.job}. ${jobTitle(j)}` })));

			select.addEventListener("change", () => select.value &&
				this.begin("/api/v1/diff", { job: job.job, other: Number(select.value) }));
			buttons.push(select);
		}
		return buttons;
	}

	hasRecording(job) {
		return job.state === "done" && job.kind in KINDS && !["tool", "program", "diff", "sched"].includes(job.kind);
	}

	async save(job, form) {
		try {
			const blob = await (await get(`/api/v1/jobs/${job.job}/result?as=${form}`)).blob(),
				link = el("a", { href: URL.createObjectURL(blob), download: `fathom-${job.job}.${form}` });

			link.click();
			setTimeout(() => URL.revokeObjectURL(link.href), 10000);
		} catch (error) {
			this.app.say(error.message, true);
		}
	}
}
