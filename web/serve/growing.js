/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page of a recording that continues: it is opened when there is something to see, and gets the
 * data of later moments, so that zoom and search stay. The frame has no origin of its own, so it
 * cannot ask for them.
 */
import { el } from "../viewer/util.js";
import { get } from "./api.js";

const EVERY = 1000;   /* ms between one picture and the next question */
const READY = 20000; /* ms for a page to open */

export class Growing {
	constructor(job, title, note, box) {
		this.job = job.job;
		this.key = job.key;
		this.title = title;
		this.note = note;
		this.box = box;
		this.frame = null;
		this.over = false;
	}

	say(text) {
		this.note.textContent = text;
	}

	stop() {
		this.over = true;
	}

	async data() {
		const text = await (await get(`/api/v1/jobs/${this.job}/result?as=html`)).text(),
			found = /<script type="text\/plain" id="data">([^<]*)</.exec(text);

		return found ? found[1].trim() : "";
	}

	/* The frame opens with what there is by then; a picture without samples is omitted. */
	async open() {
		const frame = el("iframe", { src: "/result/" + this.key, title: this.title });
		const ready = await new Promise((done) => {
			const hear = (e) => e.source === frame.contentWindow && e.data === "fathom-ready" && done(true);

			addEventListener("message", hear);
			setTimeout(() => {
				removeEventListener("message", hear);
				done(false);
			}, READY);
			this.box.append(frame);
		});

		if (ready && frame.isConnected) this.frame = frame;
		else frame.remove();
	}

	async step() {
		const data = await this.data();

		if (this.over || !data) return;
		if (!this.frame) await this.open();
		if (this.frame) this.frame.contentWindow.postMessage({ fathomData: data }, "*");
	}

	async follow() {
		while (!this.over) {
			await new Promise((done) => setTimeout(done, EVERY));
			if (this.over || !this.box.isConnected) return;
			try {
				await this.step();
			} catch {
				/* nothing was recorded yet, or it is over: its news come by the stream */
			}
		}
	}

	/* It is done: the last of it. */
	async end() {
		this.over = true;
		const data = await this.data();

		if (data) this.frame.contentWindow.postMessage({ fathomData: data }, "*");
	}
}
