/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colours. Those of kinds differ in lightness as well as in hue, and differences go from blue to
 * orange: they can be distinguished without telling red from green.
 */
import { difference } from "./analyse.js";
import { KIND, KIND_NAMES } from "./model.js";
import { channelsOf, oklch } from "./oklch.js";
import { baseName, clamp, hashText } from "./util.js";
import {
	DIVIDER,
	isWaker,
	NOT_SAMPLED,
	STATE,
	stateShare,
	stateWeights, stateWords, waitLooks,
} from "./waits.js";

/* hue, chroma, shift of lightness, by kind */
const KIND_LOOK = {
	[KIND.USER]: [48, 0.115, 0],
	[KIND.KERNEL]: [252, 0.085, -0.01],
	[KIND.JIT]: [168, 0.1, 0.01],
	[KIND.INTERPRETED]: [348, 0.095, 0.02],
	[KIND.INLINED]: [62, 0.055, 0.05],
	[KIND.HYPERVISOR]: [305, 0.1, -0.03],
	[KIND.GUEST_KERNEL]: [278, 0.085, -0.01],
	[KIND.GUEST_USER]: [22, 0.1, 0.02],
	[KIND.MARKER]: [0, 0, 0.02],
	[KIND.LABEL]: [255, 0.012, 0.02],
	[KIND.CPP]: [95, 0.115, 0.05],
	[KIND.MODULE]: [205, 0.07, 0.03],
	[KIND.WAKER]: [195, 0.075, 0.02],
};

/* The hues of flamegraph.pl's palettes for the same kinds. */
const CLASSIC = {
	[KIND.USER]: (v) => [200 + 55 * v, 50 + 80 * v, 50 + 80 * v],
	[KIND.KERNEL]: (v) => [190 + 65 * v, 90 + 65 * v, 0],
	[KIND.JIT]: (v) => [50 + 60 * v, 200 + 55 * v, 50 + 60 * v],
	[KIND.INTERPRETED]: (v) => [190 + 65 * v, 80 + 60 * v, 190 + 65 * v],
	[KIND.INLINED]: (v) => [50 + 60 * v, 165 + 55 * v, 165 + 55 * v],
	[KIND.HYPERVISOR]: (v) => [80 + 60 * v, 80 + 60 * v, 205 + 50 * v],
	[KIND.GUEST_KERNEL]: (v) => [190 + 65 * v, 90 + 65 * v, 0],
	[KIND.GUEST_USER]: (v) => [200 + 55 * v, 50 + 80 * v, 50 + 80 * v],
	[KIND.MARKER]: () => [165, 165, 165],
	[KIND.LABEL]: () => [200, 200, 200],
	[KIND.CPP]: (v) => [175 + 55 * v, 175 + 55 * v, 50 + 20 * v],
	[KIND.MODULE]: (v) => [50 + 60 * v, 165 + 55 * v, 165 + 55 * v],
	[KIND.WAKER]: (v) => [50 + 60 * v, 165 + 55 * v, 165 + 55 * v],
};

/* hue, chroma, lightness of what threads do, in the order of STATE_MARKS: light, dark */
const STATE_LOOK = [
	[
		[32, 0.155, 0.72],
		[32, 0.15, 0.56],
	],
	[
		[92, 0.15, 0.87],
		[88, 0.12, 0.66],
	],
	[
		[262, 0.11, 0.74],
		[262, 0.12, 0.52],
	],
	[
		[0, 0, 0.81],
		[0, 0, 0.42],
	],
];

/* Of graphs of waiting: who waits is blue, who ends it aqua. */
const SLEEPER_LOOK = [262, 0.095, 0];
const WAKER_LOOK = [192, 0.085, 0.03];

const RAMP = 32;

export class Colors {
	constructor(model, dark, mode, palette) {
		this.model = model;
		this.dark = dark;
		this.mode = mode;
		this.palette = palette;
		this.classic = palette === "classic" && (mode === "kind" || mode === "name");
		this.light = dark ? 0.46 : 0.8;
		this.text = this.classic ? "#000000" : dark ? "#f7f8fa" : "#16181d";
		this.faint = dark ? "#2a2f38" : "#e6e8ec";
		this.faintText = dark ? "#969eab" : "#626975";
		this.match = dark ? oklch(0.56, 0.2, 330) : oklch(0.78, 0.19, 330);
		this.noise = dark ? "#3a404a" : "#d9dce1";
		this.added = dark ? oklch(0.53, 0.11, 95) : oklch(0.88, 0.16, 98);
		this.gone = dark ? oklch(0.5, 0.13, 305) : oklch(0.74, 0.13, 305);
		this.frames = [];
		this.stateColors = STATE_LOOK.map((look) => look[dark ? 1 : 0])
			.concat(waitLooks(model).map(([h, c, l]) => [h, c, dark ? l * 0.75 : l]))
			.map(([hue, chroma, light]) => channelsOf(oklch(light, chroma, hue)));
		this.makeRamps();
	}
	makeRamps() {
		const d = this.dark,
			step = (i) => i / (RAMP - 1);
		const ramp = (hue, chroma) =>
			Array.from({ length: RAMP }, (_, i) =>
				d
					? oklch(
							0.34 + 0.2 * step(i),
							0.015 + chroma * step(i),
							hue
						)
					: oklch(
							0.94 - 0.26 * step(i),
							0.012 + chroma * step(i),
							hue
						)
			);

		this.up = ramp(45, 0.16);
		this.down = ramp(255, 0.14);
		this.heat = Array.from({ length: RAMP }, (_, i) =>
			d
				? oklch(
						0.27 + 0.47 * step(i),
						0.05 + 0.09 * step(i),
						15 + 65 * step(i)
					)
				: oklch(
						0.965 - 0.33 * step(i),
						0.03 + 0.13 * step(i),
						90 - 58 * step(i)
					)
		);
		this.selfRamp = ramp(35, 0.15);
		this.matchRamp = ramp(330, 0.17);
	}
	ramp(which, x) {
		return which[clamp(Math.round(x * (RAMP - 1)), 0, RAMP - 1)];
	}
	ofLook([hue, chroma, shift], v) {
		return oklch(
			this.light + shift + (v - 0.5) * 0.07,
			chroma * (this.dark ? 0.9 : 1),
			hue + (v - 0.5) * 14
		);
	}
	ofKind(kind, v) {
		if (this.classic) {
			const rgb = CLASSIC[kind](v).map(Math.round);

			return "rgb(" + rgb.join(",") + ")";
		}
		return this.ofLook(KIND_LOOK[kind], v);
	}
	/* The colours of what happened there, mixed by its shares; null: not known. */
	ofStates(tree, v) {
		const w = stateWeights(tree, v);

		if (!w) return null;
		if (this.model.frames.names[tree.frame[v]] === NOT_SAMPLED)
			return this.ofState(STATE.UNKNOWN);
		const sum = w.reduce((a, b) => a + b, 0) || 1,
			mixed = [0, 0, 0];

		w.forEach((part, s) =>
			this.stateColors[s].forEach((x, i) => (mixed[i] += (x * part) / sum))
		);
		return "rgb(" + mixed.map(Math.round).join(",") + ")";
	}
	ofState(s) {
		return "rgb(" + this.stateColors[s].join(",") + ")";
	}
	ofWait(tree, v) {
		const { frames } = this.model,
			f = tree.frame[v],
			shade = (hashText(frames.names[f]) % 1000) / 999;

		if (frames.names[f] === DIVIDER || !v) return this.ofFrame(f);
		return this.ofLook(
			this.mode === "wakers" || isWaker(tree, v) ? WAKER_LOOK : SLEEPER_LOOK,
			shade
		);
	}
	ofModule(module) {
		const h = hashText(baseName(module));

		return oklch(
			this.light + ((h >>> 9) % 5) * 0.025 - 0.05,
			module ? 0.09 : 0.01,
			(h % 24) * 15
		);
	}
	ofFrame(f) {
		let c = this.frames[f];

		if (c) return c;
		const frames = this.model.frames,
			kind = frames.kinds[f],
			v = (hashText(frames.names[f]) % 1000) / 999;

		if (kind === KIND.MARKER || kind === KIND.LABEL) c = this.ofKind(kind, 0.5);
		else if (this.mode === "module") c = this.ofModule(frames.modules[f]);
		else if (this.mode === "name")
			c = this.classic
				? "rgb(" +
					Math.round(205 + 50 * v) +
					"," +
					Math.round(230 * v) +
					"," +
					Math.round(55 * v) +
					")"
				: oklch(this.light + (v - 0.5) * 0.08, 0.115, 25 + 70 * v);
		else c = this.ofKind(kind, v);
		this.frames[f] = c;
		return c;
	}
	/* The fill of a box. @shown: the view's context (sum, each, state). */
	ofNode(tree, v, shown) {
		switch (this.mode) {
			case "self":
				return this.ramp(
					this.selfRamp,
					Math.sqrt(tree.self[v] / (shown.maxSelf || 1))
				);
			case "diff":
				return tree.totalB
					? this.ofDifference(
							tree,
							tree.total[v],
							tree.totalB[v],
							shown
						)
					: this.ofFrame(tree.frame[v]);
			case "state":
				return this.ofStates(tree, v) || this.ofFrame(tree.frame[v]);
			case "waits":
			case "wakers":
				return this.ofWait(tree, v);
			case "ratio":
				return tree.totalB
					? this.ofRatio(tree, v, shown)
					: this.ofFrame(tree.frame[v]);
		}
		return this.ofFrame(tree.frame[v]);
	}
	ofDifference(tree, a, b, shown) {
		const d = difference(tree, a, b, shown);

		if (d.noise) return this.noise;
		if (d.isNew) return this.added;
		if (d.gone) return this.gone;
		const x = shown.state.absolute ? d.delta / (shown.maxDelta || 1) : d.strength;

		return this.ramp(x > 0 ? this.up : this.down, Math.sqrt(Math.abs(x)));
	}
	/* The second event per unit of the first, around the mean of all: two steps of two are full. */
	ofRatio(tree, v, shown) {
		if (tree.total[v] / shown.each < RATIO_SAMPLES) return this.noise;
		const x = Math.log2((tree.totalB[v] * tree.scaleB) / tree.total[v]);

		return this.ramp(x > 0 ? this.up : this.down, Math.min(1, Math.abs(x) / 2));
	}
}

const RATIO_SAMPLES = 10; /* fewer say nothing about a ratio; as --ratio-samples */

/* What the colours mean: [colour, words]. */
export function legendOf(colors, shown, kinds) {
	const sample = (ramp, x) => colors.ramp(ramp, x),
		model = colors.model;

	switch (colors.mode) {
		case "diff":
			return [
				[sample(colors.down, 1), "less"],
				[colors.noise, "within noise"],
				[sample(colors.up, 1), "more"],
				[colors.added, "+ new"],
				[colors.gone, "− vanished"],
			];
		case "ratio": {
			const a = model.events[shown.state.event],
				b =
					model.events[
						shown.state.ratioEvent === null
							? shown.state.event
							: shown.state.ratioEvent
					];

			return [
				[sample(colors.down, 1), a.name + "-heavy"],
				[colors.noise, "fewer than " + RATIO_SAMPLES + " samples"],
				[sample(colors.up, 1), b.name + "-heavy"],
			];
		}
		case "self":
			return [
				[sample(colors.selfRamp, 0), "no self time"],
				[sample(colors.selfRamp, 1), "most self time"],
			];
		case "state":
			return stateWords(model)
				.map((words, s) => [colors.ofState(s), words, stateShare(shown, s)])
				.filter(([, , share]) => /[1-9]/.test(share) && !share.includes("<"))
				.map(([color, words, share]) => [color, words + share]);
		case "waits":
			return [
				[colors.ofLook(SLEEPER_LOOK, 0.5), "who waited"],
				[colors.ofLook(WAKER_LOOK, 0.5), "its waker"],
			];
		case "wakers":
			return [[colors.ofLook(WAKER_LOOK, 0.5), "who woke"]];
		case "module":
		case "name":
			return null;
	}
	return kinds.map((k) => [colors.ofKind(k, 0.5), KIND_NAMES[k]]);
}
