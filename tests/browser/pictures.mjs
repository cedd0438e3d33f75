// SPDX-License-Identifier: GPL-2.0-or-later
// Drives heat maps, differential flame graphs, call graphs and bars in a browser:
// pictures.mjs PLAYWRIGHT CHROMIUM FOLDER. Prints "ok NAME" or "not ok NAME: why".
import { pathToFileURL } from 'node:url';
import { worst } from './contrast.mjs';
import { faults, inks } from './heading.mjs';

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
	return page.evaluate(([c, r]) => {
		const svg = document.querySelector('svg'), d = svg.dataset;
		const at = new DOMPoint(+d.left + (c + 0.5) * d.cw, +d.top + (d.rows - r - 0.5) * d.ch)
			.matrixTransform(svg.getScreenCTM());
		return [at.x, at.y];
	}, [column, row]);
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
	check('boxes of the call graph do not overlap; it begins where paths part',
		[boxes.length, touching], [6, false]);
	const seen = (page) => page.locator('.node rect').evaluateAll((all) => all.every((r) => {
		const b = r.getBoundingClientRect();
		return b.left >= 0 && b.right <= innerWidth && b.top >= 0 && b.bottom <= innerHeight;
	}));
	const box = (page) => page.locator('.node rect').first().evaluate((r) => {
		const b = r.getBoundingClientRect();
		return [b.left, b.width];
	});
	const wide = await open('wide.svg');
	check('a wide call graph opens fitted', await seen(wide), true);
	await wide.keyboard.press('?');
	check('? explains a call graph', await wide.locator('.sheet dt').count(), 7);
	await wide.keyboard.press('Escape');
	check('Escape closes that', await wide.locator('.sheet').count(), 0);
	const before = await box(wide);
	await wide.mouse.move(600, 300);
	await wide.mouse.wheel(0, -400);
	const [, larger] = await box(wide);
	check('the wheel zooms', larger > before[1] * 1.5, true);
	const [from] = await box(wide);
	await wide.mouse.down();
	await wide.mouse.move(700, 300, { steps: 3 });
	await wide.mouse.up();
	check('dragging moves', Math.round((await box(wide))[0] - from), 100);
	await wide.mouse.dblclick(600, 650);
	check('a double click fits it again', await seen(wide), true);
	check('a legend names the kinds that are drawn',
		await wide.locator('#legend text').allTextContents(), ['user code']);
	await wide.keyboard.press('/');
	await wide.keyboard.type('^work_1');
	check('search marks what matches', [await wide.locator('.node.match').count(),
		await wide.locator('.matched').textContent(),
		await wide.locator('.node:not(.match)').first().evaluate((g) => getComputedStyle(g).opacity)],
	[10, `10 of ${await wide.locator('.node').count()}`, '0.35']);
	await wide.keyboard.press('Escape');
	check('Escape ends the search', [await wide.locator('.node.match').count(),
		await wide.locator('svg.searched').count()], [0, 0]);
	const trunk = await open('trunk.svg');
	check('a call graph begins at the first fork, though twigs leave the trunk before it',
		(await trunk.locator('.node title').allTextContents()).map((t) => t.split(' ')[0]).sort(),
		['a', 'b', 'fork']);
	check('... and counts what it left out',
		/left out: 1 function with 2.00% of the time, 1 call; begins where paths part, below 2 functions/
			.test(await trunk.locator('#head').textContent()), true);
	const steady = await open('offsets.svg');
	check('a heat map is as wide as the window', await steady.locator('.field').evaluate((r) =>
		innerWidth - r.getBoundingClientRect().right < 60), true);
	const many = await open('many.svg');
	check('labels are whole, or six letters and more', await many.locator('#frames text').evaluateAll(
		(all) => all.map((t) => t.textContent).filter((t) => /(…|\.\.)$/.test(t) && t.length < 6)), []);
	check('narrow boxes are shaded, not left out', await many.evaluate(() => {
		const wide = (list) => [...list].reduce((sum, r) => sum + r.getBoundingClientRect().width, 0);
		const top = [...document.querySelectorAll('#frames rect')].filter((r) => r.parentElement.matches('.rest'));
		return Math.round(wide(top)) > 100;
	}), true);
	check('the heading is opaque', await many.locator('#head .cover').evaluate((r) => {
		const style = getComputedStyle(r);
		return [style.opacity, /^rgb\(/.test(style.fill)];
	}), ['1', true]);
	const bars = await open('bars.svg', { colorScheme: 'dark' });
	check('pieces of a bar fill it', Math.round(await bars.locator('.pieces rect').evaluateAll((all) =>
		all.reduce((sum, r) => sum + +r.getAttribute('width'), 0))), 1260);
	check('bars are as wide as the window', await bars.locator('g.pieces').evaluate((e) => {
		const box = e.getBoundingClientRect();
		return Math.round(box.left) === Math.round(innerWidth - box.right);
	}), true);
	await bars.keyboard.press('?');
	check('? explains bars', await bars.locator('.sheet dt').count(), 2);
	await bars.keyboard.press('Escape');
	check('Escape closes that', await bars.locator('.sheet').count(), 0);
	check('user code has its colour in all pictures', await bars.locator('.pieces rect').evaluateAll((all) => all
		.filter((r) => r.parentNode.textContent.startsWith('application'))
		.map((r) => r.getAttribute('fill'))), [
		await wide.locator('#legend rect').first().getAttribute('fill')]);
	check('no script failed anywhere', [...diff.problems, ...graph.problems, ...wide.problems,
		...bars.problems], []);
}

async function heading(file, width, colorScheme) {
	const page = await open(file, { viewport: { width, height: 700 }, colorScheme });
	const where = `${file} in ${width} pixels, ${colorScheme}`;

	check(`${where}: the heading is whole, the picture fits`, await faults(page), []);
	check(`${where}: the heading can be read`, worst(await inks(page)) >= 4.5, true);
	check(`${where}: no script failed`, page.problems, []);
	await page.close();
}

async function help(file) {
	const page = await open(file);
	await page.keyboard.press('?');
	check(`${file}: ? explains it`, [await page.locator('.sheet dt').count() > 1,
		await page.locator('.sheet').evaluate((e) => e.getBoundingClientRect().right <= innerWidth)], [true, true]);
	await page.keyboard.press('Escape');
	check(`${file}: Escape closes that`, await page.locator('.sheet').count(), 0);
	await page.close();
}

const PICTURES = ['offsets.svg', 'latency.svg', 'diff.svg', 'graph.svg', 'wide.svg', 'many.svg', 'bars.svg',
	'utilization.svg', 'wakers.svg'];

await subsecond();
await latency();
await others();
for (const file of PICTURES) {
	await help(file);
	for (const width of [375, 800, 1280])
		for (const scheme of ['light', 'dark'])
			await heading(file, width, scheme);
}
await browser.close();
