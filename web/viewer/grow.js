/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording that continues: its data come again, with more in them. Frames and events keep the
 * numbers that they had, and new ones come after them, so that all that refers to a number (zoom,
 * transforms, the steps back) still means the same.
 */
import { decodeBase64, gunzip } from "./inflate.js";
import { readModel } from "./model.js";

/* Equal ones differ by their place among these. */
function keysOf(n, textOf) {
	const seen = new Map();

	return Array.from({ length: n }, (_, i) => {
		const text = textOf(i),
			count = seen.get(text) || 0;

		seen.set(text, count + 1);
		return text + "\0" + count;
	});
}

/* For each item of @next its number in @before, or one after all of these. */
function numbersOf(next, before) {
	const known = new Map(before.map((key, i) => [key, i]));
	let fresh = before.length;

	return Uint32Array.from(next, (key) => (known.has(key) ? known.get(key) : fresh++));
}

const COLUMNS = ["names", "modules", "files", "lines", "kinds", "unnamed"];

function frameKeys(frames) {
	return keysOf(frames.real, (f) => [frames.names[f], frames.modules[f], frames.files[f], frames.lines[f], frames.kinds[f]].join("\0"));
}

function alignFrames(next, before) {
	const numbers = numbersOf(frameKeys(next.frames), frameKeys(before.frames));

	for (const column of COLUMNS) {
		const from = next.frames[column],
			to = Array.from(before.frames[column]).slice(0, before.frames.real);

		for (let f = 0; f < next.frames.real; f++) to[numbers[f]] = from[f];
		next.frames[column] = to;
	}
	next.frames.real = next.frames.names.length;
	next.frame = Uint32Array.from(next.frame, (f) => numbers[f]);
}

function alignEvents(next, before) {
	const key = (e) => e.name,
		numbers = numbersOf(
			keysOf(next.events.length, (i) => key(next.events[i])),
			keysOf(before.events.length, (i) => key(before.events[i]))
		),
		events = before.events.map((e) => ({ ...e, samples: 0, weight: 0 })),
		each = before.events.map(() => 0);

	next.events.forEach((e, i) => {
		events[numbers[i]] = e;
		each[numbers[i]] = next.each[i];
	});
	next.events = events;
	next.each = each;
	next.samples.event = Uint32Array.from(next.samples.event, (e) => numbers[e]);
	if (next.wakers !== null) next.wakers = numbers[next.wakers];
}

export function alignModel(next, before) {
	alignFrames(next, before);
	alignEvents(next, before);
}

/* Frames that are no code have numbers after all others: the zoom finds them by their text. */
function alignZoom(zoom, next, before) {
	const { frames } = before;

	return zoom.map((f) => (f < frames.real || f >= frames.count ? f : next.frames.label(frames.names[f], frames.kinds[f], frames.modules[f])));
}

/* Shows the data of a later moment, with all that the reader has chosen. */
export async function growApp(app, text) {
	const next = readModel(await gunzip(decodeBase64(text)));

	if (!next.samples.n) return;
	alignModel(next, app.model);
	app.setModel(next, alignZoom(app.state.zoom, next, app.model));
}
