/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of charts as people read them. */
import { fmtLarge, fmtNs, fmtScaled } from "../viewer/util.js";

const BYTES = [" B", " KiB", " MiB", " GiB", " TiB", " PiB"];

const FIGURES = {
	percent: (v) => (v >= 100 ? v.toFixed(0) : v.toFixed(1)) + "%",
	bytes: (v) => fmtScaled(v, BYTES, 1024),
	"bytes/s": (v) => fmtScaled(v, BYTES, 1024) + "/s",
	ns: (v) => fmtNs(v),
	"per second": (v) => fmtLarge(Math.round(v * 10) / 10) + "/s",
	count: (v) => fmtLarge(Math.round(v * 100) / 100),
};

export function fmtFigure(unit, v) {
	if (v === null || v === undefined) return "–";
	return (FIGURES[unit] || FIGURES.count)(v);
}

/* At the side of a chart: "1.00 ms" is "1 ms" there. */
export function fmtScale(unit, v) {
	return fmtFigure(unit, v).replace("/s", "").replace(/\.0+(?!\d)/, "");
}

/* What stands beside the title. */
export function unitName(unit) {
	return { ns: "time", count: "" }[unit] ?? unit;
}

/* The next round number at or above @v, of the unit. */
export function roundUp(unit, v) {
	const base = unit.startsWith("bytes") ? 1024 : 10;

	if (!(v > 0)) return 1;
	const power = base ** Math.floor(Math.log(v) / Math.log(base));

	for (const step of base === 10 ? [1, 2, 5, 10] : [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024])
		if (step * power >= v * 0.98) return step * power;
	return v;
}

export function fmtTime(t, seconds = true) {
	const d = new Date(t),
		two = (n) => String(n).padStart(2, "0");

	return two(d.getHours()) + ":" + two(d.getMinutes()) + (seconds ? ":" + two(d.getSeconds()) : "");
}
