// SPDX-License-Identifier: GPL-2.0-or-later
// The camera of scripts/pictures: pictures.mjs PLAYWRIGHT CHROMIUM FROM TO
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , playwright, executablePath, from, to] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

async function open(file, height) {
	const page = await browser.newPage({
		viewport: { width: 1280, height },
		reducedMotion: 'reduce',
	});
	await page.goto(pathToFileURL(`${from}/${file}`).href);
	return page;
}

// Half of the time is chosen in the heat map, and the mouse rests on a box.
async function viewer() {
	const page = await open('viewer.html', 720);
	await page.waitForSelector('body.ready');
	const [a, b] = await page.evaluate(() => {
		const h = window.fathom.app.heat,
			c = h.canvas.getBoundingClientRect();
		const left = c.left + h.canvas.clientWidth - 4 - h.columns * h.columnWidth;
		const at = (share, y) => [
			left + (Math.floor(share * h.columns) + 0.5) * h.columnWidth,
			c.top + y,
		];
		return [at(0.2, 1), at(0.75, h.rows * h.rowHeight - 1)];
	});
	await page.mouse.move(...a);
	await page.mouse.down();
	await page.mouse.move(...b, { steps: 4 });
	await page.mouse.up();
	const box = await page.locator('#view canvas, main canvas').last().boundingBox();
	await page.mouse.move(box.x + box.width * 0.5, box.y + box.height - 170);
	await page.waitForSelector('#tip:not([hidden])');
	await page.screenshot({ path: `${to}/viewer.png` });
}

async function chain() {
	const page = await open('chain.svg', 100);
	const height = await page.evaluate(() =>
		Math.ceil(document.documentElement.getBoundingClientRect().height)
	);
	await page.setViewportSize({ width: 1280, height });
	await page.screenshot({ path: `${to}/chain.png` });
}

async function hotcold() {
	const page = await open('hotcold.html', 640);
	await page.waitForSelector('body.ready');
	await page.evaluate(() => window.fathom.app.store.set({ heat: false }));
	await page.waitForTimeout(300);
	await page.screenshot({ path: `${to}/hotcold.png` });
}

// A part of the time in which one wakes the other, along the whole chain.
async function timeline() {
	const page = await open('timeline.html', 470);
	await page.evaluate(() => {
		const { picture, data } = window.timeline;
		const wakes = Array.from({ length: data.wakes.length / 4 }, (_, k) => picture.wake(k));
		const last = wakes.find((w) => data.tasks[w.wakee].comm === 'chain-a' && w.time > data.length * 0.4);

		picture.show(last.time - data.length / 45, data.length / 30);
		window.timeline.draw();
	});
	await page.waitForTimeout(200);
	await page.screenshot({ path: `${to}/timeline.png` });
}

// Charts of half a minute; a span is chosen in them.
async function serve() {
	const page = await browser.newPage({ viewport: { width: 1280, height: 760 } });

	await page.goto(readFileSync(`${from}/address`, 'utf8').split(' ')[0]);
	await page.waitForSelector('body.ready');
	await page.waitForTimeout(32000);
	await page.evaluate(() => {
		const { axis } = window.fathomServe;

		axis.span = 30;
		axis.pause(true);
		axis.choose(axis.to - 12000, axis.to - 7000);
	});
	await page.waitForTimeout(500);
	await page.screenshot({ path: `${to}/serve.png` });
}

await viewer();
await chain();
await hotcold();
await timeline();
await serve();
await browser.close();
