// SPDX-License-Identifier: GPL-2.0-or-later
// How well text can be read on its ground: WCAG's ratio, 4.5 is enough for small letters.
const luminance = (color) => {
	const [r, g, b] = (color.startsWith('#')
		? [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16))
		: color.match(/[\d.]+/g).slice(0, 3).map(Number)
	).map((x) => (x <= 10 ? x / 3294.6 : ((x / 255 + 0.055) / 1.055) ** 2.4));

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

export function contrast(one, other) {
	const [a, b] = [luminance(one), luminance(other)].sort((x, y) => y - x);

	return (a + 0.05) / (b + 0.05);
}

// [ink, ground] of each label of an SVG.
export const labels = (page) => page.evaluate(() =>
	[...document.querySelectorAll('#frames > g')]
		.filter((g) => g.querySelector('text'))
		.map((g) => [g.querySelector('text'), g.querySelector('rect')].map((e) => getComputedStyle(e).fill)));

// The same of what a canvas of the viewer is painted with.
export const painted = (page) => page.evaluate(() => {
	const { app } = window.fathom, p = app.view.painter, out = [];
	const { rect, text } = p;
	let ground = '';

	p.rect = function (...a) {
		ground = a[4];
		return rect.apply(this, a);
	};
	p.text = function (...a) {
		out.push([a[3], ground]);
		return text.apply(this, a);
	};
	app.view.draw();
	delete p.rect;
	delete p.text;
	return out;
});

export const worst = (pairs) => Math.min(99, ...pairs.map(([a, b]) => contrast(a, b)));
