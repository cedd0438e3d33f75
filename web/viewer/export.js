/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is seen, as a file: SVG, PNG, folded stacks, CSV of the functions. */
import { KIND } from "./model.js";
import { CanvasPainter, FONT, SMALL, SvgPainter } from "./paint.js";
import { baseName, el } from "./util.js";

function download(name, type, content) {
	const url = URL.createObjectURL(
		content instanceof Blob ? content : new Blob([content], { type })
	);
	const link = el("a", { href: url, download: name });

	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const EXPORT_HEAD = 46;

/* Title and facts go into the picture: it will be seen without the page. */
function paintHead(p, app) {
	const { colors } = app;

	p.begin(app.background);
	p.text(app.heading(), 8, 14, colors.dark ? "#f4f5f7" : "#16181d", FONT);
	p.text(app.factLine(), 8, 33, colors.faintText, SMALL);
	p.top = EXPORT_HEAD;
}

function exportSvg(app) {
	const view = app.view,
		like = view.painter,
		p = new SvgPainter(like.width, like.height + EXPORT_HEAD, like);

	paintHead(p, app);
	view.exportPaint(p);
	return p.finish();
}

function exportPng(app) {
	const view = app.view,
		canvas = document.createElement("canvas"),
		p = new CanvasPainter(canvas);

	p.resize(view.painter.width, view.painter.height + EXPORT_HEAD);
	paintHead(p, app);
	view.exportPaint(p);
	view.draw();
	return new Promise((resolve) => {
		canvas.toBlob(resolve, "image/png");
	});
}

/* Names as flamegraph.pl reads them: ';' and line breaks cannot be part of one. */
function foldedName(frames, f) {
	const marks = { [KIND.KERNEL]: "_[k]", [KIND.INLINED]: "_[i]", [KIND.JIT]: "_[j]" };

	return frames.names[f].replace(/[;\r\n]/g, "_") + (marks[frames.kinds[f]] || "");
}

function exportFolded(app) {
	const { tree, model, shown } = app,
		lines = [];

	for (let v = 0; v < tree.n; v++)
		if (tree.self[v]) {
			const path = tree.path(v).map((f) => foldedName(model.frames, f));

			lines.push(
				(path.join(";") || "[no stack]") +
					" " +
					Number((tree.self[v] * shown.unit.scale).toFixed(6))
			);
		}
	return lines.sort().join("\n") + "\n";
}

function csvText(text) {
	/* A leading sign would be a formula to a spreadsheet. */
	const safe = /^[=+\-@\t\r]/.test(text) ? "'" + text : text;

	return /[",\n]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
}

function exportCsv(app) {
	const t = app.table(),
		{ frames } = app.model,
		{ sum } = app.shown;
	const rows = t.rows.slice().sort((a, b) => t.self[b] - t.self[a]);

	return (
		"self,self_percent,total,total_percent,function,module\n" +
		rows
			.map((f) =>
				[
					t.self[f],
					((t.self[f] / sum) * 100).toFixed(4),
					t.total[f],
					((t.total[f] / sum) * 100).toFixed(4),
					csvText(frames.names[f]),
					csvText(frames.modules[f]),
				].join(",")
			)
			.join("\n") +
		"\n"
	);
}

export function exportsOf(app) {
	const name = (
			app.model.facts.source ? baseName(app.model.facts.source) : "profile"
		).replace(/[^\w.-]/g, "_"),
		picture = !!app.view.exportPaint;

	return [
		picture && [
			"This picture as SVG",
			() => download(name + ".svg", "image/svg+xml", exportSvg(app)),
		],
		picture && [
			"This picture as PNG",
			async () => download(name + ".png", "image/png", await exportPng(app)),
		],
		[
			"Stacks shown, folded",
			() => download(name + ".folded", "text/plain", exportFolded(app)),
		],
		["Functions as CSV", () => download(name + ".csv", "text/csv", exportCsv(app))],
		["Copy a link to this view", () => app.copy(location.href, "link")],
	].filter(Boolean);
}
