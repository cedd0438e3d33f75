// SPDX-License-Identifier: GPL-2.0-or-later
// Drives heat maps, differential flame graphs, call graphs and bars in a browser:
// pictures.mjs PLAYWRIGHT CHROMIUM FOLDER. Prints "ok NAME" or "not ok NAME: why".
import { pathToFileURL } from 'node:url';
import { until } from './until.mjs';

const [, , playwright, executablePath, folder] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

function check(name, got, wanted) {
	const same = JSON.stringify(got) === JSON.stringify(wanted);
	console.log(same ? `ok ${name}` :
		`not ok ${name}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}

async function open(file, options = {}, hash = '') {
	const page = await browser.newPage({ viewport: { width: 1300, height: 700 }, ...options });
	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	await page.goto(pathToFileURL(`${folder}/${file}`).href + hash);
	return page;
}

const range = (page) => page.locator('#range').textContent();

// The middle of a cell, on the page.
async function cell(page, column, row) {
	const d = await page.evaluate(() => ({ ...document.querySelector('svg').dataset }));
	return [+d.left + (column + 0.5) * d.cw, +d.top + (d.rows - row - 0.5) * d.ch];
}

async function subsecond() {
	const page = await open('offsets.svg');
	const hint = await range(page);
	await page.mouse.click(...await cell(page, 1, 25));
	check('the first click asks for the end', /choose the end/.test(await range(page)), true);
	await page.mouse.click(...await cell(page, 0, 10));
	check('two clicks in either order are a range', await range(page),
		'fathom flame -i script.txt --time 1.200000,2.520000 -o range.svg');
	check('the address keeps it', new URL(page.url()).hash, '#range=10,75');
	check('the range is marked', await page.locator('.mark').count(), 2);
	await page.keyboard.press('Escape');
	check('Escape clears it', [await range(page), await page.locator('.mark').count()], [hint, 0]);
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('Enter');
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('Enter');
	check('keys choose a range', await range(page),
		'fathom flame -i script.txt --time 2.000000,2.040000 -o range.svg');
	check('no script failed', page.problems, []);
	const again = await open('offsets.svg', {}, '#range=10,75');
	check('the address brings it back', /--time 1.200000,2.520000/.test(await range(again)), true);
}

async function latency() {
	const page = await open('latency.svg');
	await page.mouse.click(...await cell(page, 2, 3));
	await page.mouse.click(...await cell(page, 4, 9));
	check('a latency range is of whole columns', await page.locator('.mark').count(), 3);
	check('percentiles are drawn', await page.locator('path.line title').allTextContents(),
		['p50', 'p90', 'p99']);
	const inside = await open('latency.html');
	const field = await inside.locator('.field').boundingBox();
	await inside.mouse.click(field.x + 30, field.y + 30);
	await inside.mouse.click(field.x + 60, field.y + 30);
	check('it works inside a page', /^fathom flame /.test(await range(inside)), true);
	check('no script failed in the page', inside.problems, []);
	const still = await open('latency.svg', { javaScriptEnabled: false });
	check('without scripts all cells are there',
		await still.locator('#cells rect').count() > 50, true);
}

async function others() {
	const diff = await open('diff.svg');
	check('what vanished is drawn', await diff.locator('#frames title').filter(
		{ hasText: /^gone .*vanished\)$/ }).count(), 1);
	await diff.locator('#frames > g').filter({ has: diff.locator('title:text-matches("^newf ")') })
		.locator('rect').hover();
	check('what is new says so',
		/newf \(25 samples, 4.63%; \+4.63%, new\)/.test(await diff.locator('#details').textContent()),
		true);
	const graph = await open('graph.svg');
	const boxes = await graph.locator('.node rect').evaluateAll((all) => all.map((r) => {
		const b = r.getBoundingClientRect();
		return [b.left, b.top, b.right, b.bottom];
	}));
	const touching = boxes.some((a, i) => boxes.some((b, k) => i < k && a[0] < b[2] && b[0] < a[2] &&
		a[1] < b[3] && b[1] < a[3]));
	check('boxes of the call graph do not overlap', [boxes.length, touching], [7, false]);
	const root = (page, name) => page.locator('.node').filter({ has: page.locator(`title:text-matches("^${name} ")`) })
		.locator('rect').evaluate((r) => {
			const b = r.getBoundingClientRect();
			return [b.left >= 0 && b.right <= innerWidth, scrollX > 0];
		});
	const left = (page) => page.locator('#head').evaluate((g) => Math.round(g.getBoundingClientRect().left));
	check('a call graph that fits does not scroll', await graph.evaluate(() => scrollX), 0);
	const wide = await open('wide.svg');
	check('a wide call graph opens on its root', await root(wide, 'main'), [true, true]);
	check('its title is in sight', await left(wide), await left(graph));
	await wide.evaluate(() => scrollTo(100, 0));
	await until(wide, () => document.getElementById('head').getBoundingClientRect().left > 0);
	check('and stays there', await left(wide), await left(graph));
	const bars = await open('bars.svg', { colorScheme: 'dark' });
	check('pieces of a bar fill it', Math.round(await bars.locator('g rect').evaluateAll((all) =>
		all.reduce((sum, r) => sum + +r.getAttribute('width'), 0))), 1100);
	check('no script failed anywhere', [...diff.problems, ...graph.problems, ...wide.problems,
		...bars.problems], []);
}

await subsecond();
await latency();
await others();
await browser.close();
