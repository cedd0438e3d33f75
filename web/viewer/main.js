/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the data that is in the page, and opens the viewer. */
import { growApp } from "./grow.js";
import { decodeBase64, gunzip } from "./inflate.js";
import { focusView, handleKey } from "./keys.js";
import { readModel } from "./model.js";
import { App } from "./ui.js";
import { $, el, fill } from "./util.js";

function loadBytes() {
	const inside = $("data").textContent.trim();

	if (!inside) throw new Error("there is no data in this page");
	return gunzip(decodeBase64(inside));
}

function showFailure(error) {
	fill(
		$("main"),
		el(
			"div",
			{ class: "failure" },
			el("h2", { text: "This profile cannot be shown" }),
			el("p", { text: error.message || String(error) })
		)
	);
	document.body.classList.add("ready");
}

function openApp(model, options) {
	const app = new App(model, options);

	addEventListener("keydown", (e) => handleKey(app, e));
	new ResizeObserver(() => {
		app.heat.update();
		if (app.view) app.view.draw();
	}).observe($("main"));
	app.refresh();
	document.body.classList.add("ready");
	focusView(app);
	return app;
}

/* The page around ours sends the data of a recording that continues, one after the other. */
function listenForMore(app) {
	let last = Promise.resolve();

	addEventListener("message", (e) => {
		if (parent === window || e.source !== parent || !e.data || typeof e.data.fathomData !== "string") return;
		last = last
			.then(() => growApp(app, e.data.fathomData))
			.then(() => {
				window.fathom.model = app.model;
				window.fathom.grown = (window.fathom.grown || 0) + 1;
			})
			.catch((error) => console.error(error));
	});
	if (parent !== window) parent.postMessage("fathom-ready", "*");
}

async function main() {
	const begin = performance.now(),
		options = JSON.parse($("options").textContent);

	try {
		const bytes = await loadBytes(),
			read = performance.now(),
			model = readModel(bytes);

		$("data").textContent = "";
		if (!model.samples.n) throw new Error("There is not a single sample in it.");
		const app = openApp(model, options);

		app.timing.load = read - begin;
		app.timing.open = performance.now() - begin;
		/* For tests, scripts and the console. */
		window.fathom = {
			app,
			model,
			version: options.version,
			openedAt: performance.now(),
		};
		listenForMore(app);
	} catch (error) {
		showFailure(error);
		console.error(error);
	}
}

main();
