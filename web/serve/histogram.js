/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of a result: bars for one, and for one each second a heat map over time. */
import { el, fmtCount, fmtNs } from "../viewer/util.js";
import { heat } from "./chart.js";
import { fmtTime } from "./units.js";

function boundText(unit, v) {
	if (unit === "ns") return fmtNs(v);
	if (unit === "usecs") return fmtNs(v * 1000);
	return fmtCount(v) + (unit ? " " + unit : "");
}

export function isHistogram(value) {
	return Array.isArray(value) && value.length > 0 && value.every((h) => h && Array.isArray(h.buckets));
}

export function histogramBars(h) {
	const most = Math.max(1, ...h.buckets.map((b) => b.count)),
		said = ["p50", "p90", "p99", "p999"].filter((k) => h[k] !== undefined).map((k) => k + " " + boundText(h.unit, h[k]));

	return el("div", { class: "scroll" },
		el("h3", { text: h.label || "" }),
		el("p", { class: "quiet", text: [fmtCount(h.count) + " in all", ...said].join(" · ") }),
		el("table", { "aria-label": "histogram" }, el("tbody", {}, ...h.buckets.map((b) => {
			const bar = el("div");

			bar.style.cssText = `height: 10px; background: var(--accent); width: ${((100 * b.count) / most).toFixed(1)}%`;
			const cell = el("td", {}, bar);

			cell.style.width = "60%";
			return el("tr", {}, el("td", { class: "number", text: boundText(h.unit, b.min) }), cell,
				el("td", { class: "number", text: fmtCount(b.count) }));
		}))));
}

/* @slices: [time in ms, histogram], one after the other. */
export function heatMap(title, slices) {
	const bounds = [...new Set(slices.flatMap(([, h]) => h.buckets.map((b) => b.min)))].sort((a, b) => a - b),
		most = Math.max(1, ...slices.flatMap(([, h]) => h.buckets.map((b) => b.count))),
		unit = slices[0][1].unit, wide = Math.max(6, Math.min(40, Math.floor(720 / slices.length))), high = 12, left = 80,
		canvas = el("canvas", { role: "img", class: "heatmap", "aria-label": `${title}: heat map over ${slices.length} intervals, largest count ${most}` });

	canvas.width = left + slices.length * wide;
	canvas.height = bounds.length * high + 16;
	canvas.style.cssText = `width: ${canvas.width}px; height: ${canvas.height}px; cursor: default`;
	/* again when the colours of the page change */
	canvas.paint = () => {
		const g = canvas.getContext("2d");

		g.clearRect(0, 0, canvas.width, canvas.height);
		slices.forEach(([, h], column) => {
			for (const b of h.buckets) {
				if (!b.count) continue;
				g.fillStyle = heat(Math.log1p(b.count) / Math.log1p(most));
				g.fillRect(left + column * wide, (bounds.length - 1 - bounds.indexOf(b.min)) * high, wide - 1, high - 1);
			}
		});
		g.font = "10px system-ui, sans-serif";
		g.fillStyle = getComputedStyle(document.body).color;
		g.textAlign = "right";
		bounds.forEach((v, i) => {
			if (i % Math.ceil(bounds.length / 16) === 0) g.fillText(boundText(unit, v), left - 6, (bounds.length - i) * high - 3);
		});
		g.textAlign = "left";
		g.fillText(fmtTime(slices[0][0]), left, canvas.height - 3);
	};
	canvas.paint();
	canvas.addEventListener("pointermove", (e) => {
		const [time, h] = slices[Math.floor((e.offsetX - left) / wide)] || [],
			min = bounds[bounds.length - 1 - Math.floor(e.offsetY / high)],
			bucket = h && h.buckets.find((b) => b.min === min);

		canvas.title = bucket ? `${fmtTime(time)}, from ${boundText(unit, min)}: ${fmtCount(bucket.count)}` : "";
	});
	return el("figure", { class: "scroll" }, el("figcaption", { text: title }), canvas);
}
