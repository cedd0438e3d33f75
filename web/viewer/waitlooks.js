/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The colours of kinds of waits, in every picture. */

/* hue, chroma, lightness of kinds of waits, as src/view/svg_colors.c has them */
const WAIT_LOOKS = {
	disk: [305, 0.12, 0.7],
	flush: [318, 0.13, 0.64],
	network: [235, 0.11, 0.73],
	lock: [355, 0.15, 0.68],
	rwlock: [348, 0.13, 0.73],
	cond: [342, 0.09, 0.78],
	semaphore: [2, 0.11, 0.75],
	barrier: [12, 0.1, 0.77],
	join: [340, 0.06, 0.82],
	futex: [350, 0.1, 0.74],
	pipe: [195, 0.09, 0.77],
	sleep: [255, 0.035, 0.82],
	fault: [330, 0.14, 0.74],
	reclaim: [325, 0.17, 0.66],
	throttled: [75, 0.14, 0.72],
	frozen: [215, 0.05, 0.8],
	stopped: [110, 0.05, 0.76],
	child: [160, 0.1, 0.77],
	interruptible: [262, 0.06, 0.8],
	uninterruptible: [300, 0.1, 0.72],
	poll: [145, 0.05, 0.86],
	work: [135, 0.06, 0.86],
	idle: [0, 0, 0.88],
};
const OTHER_WAIT = [262, 0.11, 0.74];

/* [hue, chroma, lightness] on white; on black it is three quarters as light. */
export function waitLook(name) {
	return WAIT_LOOKS[name] || OTHER_WAIT;
}
