// SPDX-License-Identifier: GPL-2.0-or-later
// The heading of a picture, for windows of all sizes.

// What is cut at the edges or lies on something else, is shortened or too small, or covers the picture;
// and whether that is wider than the window.
export const faults = (page) => page.evaluate(() => {
	const list = [...document.querySelectorAll('#head :is(.heading, .fact, #legend text), .controls > *')]
		.filter((e) => (e.textContent || e.localName === 'input') && e.getBoundingClientRect().width);
	const lines = list.flatMap((e) => e.querySelector('tspan') ? [...e.children] : [e]);
	const at = lines.map((e) => [e, e.getBoundingClientRect()]);
	const name = (e) => e.textContent || e.localName;
	const cut = at.filter(([, r]) => r.left < 0 || r.right > innerWidth + 0.5).map(([e]) => 'cut: ' + name(e));
	const on = at.flatMap(([e, a], i) => at.slice(i + 1)
		.filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
			Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
		.map(([f]) => name(e) + ' on ' + name(f)));
	const dots = lines.filter((e) => /…$/.test(e.textContent)).map((e) => 'shortened: ' + name(e));
	const low = Math.max(...at.map(([, r]) => r.bottom));
	const drawn = [...document.querySelectorAll('#plot rect, .node rect, .bar rect, #frames rect')]
		.map((r) => r.getBoundingClientRect()).filter((r) => r.width);
	const over = drawn.filter((r) => r.top < low - 6).length ? ['the heading covers the picture'] : [];
	const wide = drawn.filter((r) => r.left < -1 || r.right > innerWidth + 1).length ? ['wider than the window'] : [];
	const small = at.filter(([e]) => parseFloat(getComputedStyle(e).fontSize) < 10).map(([e]) => 'small: ' + name(e));
	return [...cut, ...on, ...dots, ...over, ...wide, ...small,
		...document.documentElement.scrollWidth > innerWidth ? ['scrolls sideways'] : []];
});

// [ink, ground] of its texts.
export const inks = (page) => page.evaluate(() => [...document.querySelectorAll('.heading, .fact, .about')]
	.map((e) => [getComputedStyle(e).fill, getComputedStyle(document.documentElement).backgroundColor]));
