/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other machines: their charts are beside ours, on the same axis. */
import { $, el, fill } from "../viewer/util.js";
import { get } from "./api.js";
import { Chart } from "./chart.js";
import { Frames } from "./frames.js";
import { Processes } from "./processes.js";
import { fmtTime } from "./units.js";

/* One of them; to its charts it is what the page is to ours. */
class Host {
	constructor(page, peer) {
		this.page = page;
		this.number = peer.peer;
		this.frames = new Frames();
		this.parts = [];
		this.processes = new Processes(this);
		this.shown = true;
		this.update(peer);
	}

	get axis() {
		return this.page.axis;
	}

	get colors() {
		return this.page.colors;
	}

	get name() {
		return this.peer.about ? this.peer.about.host : this.peer.name;
	}

	/* The kinds of charts may be others after an update of the peer. */
	update(peer) {
		const charts = peer.about ? peer.about.charts : [],
			key = JSON.stringify(charts);

		this.peer = peer;
		if (this.key === key) return;
		this.key = key;
		this.parts = charts.map((info, i) => new Chart(info, i, this));
	}

	redraw() {
		this.page.redraw();
	}

	/* The words of our own counters, where we have the same chart. */
	explain(item, info, line) {
		const ours = info && this.page.parts.find((p) => p.info.id === info.id);

		if (!item || (ours && ours.info.lines[line] && ours.info.lines[line].label === info.lines[line].label))
			this.page.explain(item, ours && ours.info, line);
	}

	group(chart) {
		return this.page.group(chart);
	}

	/* Recordings are asked on the machine itself. */
	get aims() {
		return false;
	}

	say() {
		const { peer } = this,
			since = peer.since ? " since " + fmtTime(peer.since) : "";

		if (peer.state === "live") {
			const clock = peer.clock || { ahead_ms: 0, error_ms: 0 },
				off = Math.abs(clock.ahead_ms);

			return `live${since}, clock ${off.toFixed(off < 10 ? 1 : 0)} ms ${clock.ahead_ms < 0 ? "late" : "ahead"} ± ${clock.error_ms.toFixed(1)}`;
		}
		if (peer.state === "gone") return `gone${since}: ${peer.why}; it is tried again`;
		return peer.state;
	}

	async fillGap() {
		const since = this.frames.last ? this.frames.last.t + 1 : 0,
			text = await (await get(`/api/v1/peers/${this.number}/history?from=${since}`)).text(),
			frames = text.split("\n").filter(Boolean).map((line) => JSON.parse(line)),
			later = this.frames.all.splice(0);

		for (const frame of [...frames, ...later]) this.frames.add(frame);
		this.redraw();
	}
}

export class Hosts {
	constructor(page) {
		this.page = page;
		this.all = new Map();
	}

	get shown() {
		return [...this.all.values()].filter((h) => h.shown);
	}

	/* When the stream begins: all peers, and their frames since the last one that is here. */
	async load() {
		const { peers } = await (await get("/api/v1/peers")).json();

		for (const peer of peers) this.take(peer);
		await Promise.all([...this.all.values()].map((h) => h.fillGap()));
	}

	take(peer) {
		const host = this.all.get(peer.peer);
		const had = host && host.key;

		if (host) host.update(peer);
		else this.all.set(peer.peer, new Host(this.page, peer));
		if (!host || host.key !== had) this.page.arrange();
		if (host && peer.state === "live") host.fillGap().catch((e) => this.page.say(e.message, true));
		this.draw();
		this.page.redraw();
	}

	takeFrame(data) {
		const host = this.all.get(data.peer);

		if (!host) return;
		host.frames.add(data.frame);
		this.page.redraw();
	}

	/* A row for each machine: whether it is shown, and how it is. */
	draw() {
		$("hosts").hidden = !this.all.size;
		fill($("hosts"), ...[...this.all.values()].map((host) => {
			const box = el("input", { type: "checkbox" });

			box.checked = host.shown;
			box.addEventListener("change", () => {
				host.shown = box.checked;
				this.page.arrange();
			});
			return el("span", { class: "host", "data-state": host.peer.state },
				el("label", {}, box, el("b", { text: host.name })), el("span", { text: " " + host.peer.name + ", " + host.say() }));
		}));
	}
}
