// SPDX-License-Identifier: GPL-2.0-or-later
// Drives flame graphs of `fathom flame` in a browser: svg.mjs PLAYWRIGHT CHROMIUM FOLDER.
// Prints a line "ok NAME" or "not ok NAME: why" for each thing that was tried.
import { pathToFileURL } from 'node:url';
import { labels, worst } from './contrast.mjs';

const [, , playwright, executablePath, folder] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

// Waits until the answer is the one that is wanted; what it is then is for check() to say.
async function settle(ask, wanted) {
	const end = Date.now() + 10000;

	for (;;) {
		const got = await ask();
		if (got === wanted || Date.now() > end)
			return got;
		await new Promise((done) => setTimeout(done, 20));
	}
}

function check(name, got, wanted) {
	const same = JSON.stringify(got) === JSON.stringify(wanted);
	console.log(same ? `ok ${name}` :
		`not ok ${name}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}

async function open(file, options = {}, query = '') {
	const page = await browser.newPage({ viewport: { width: 1000, height: 500 }, ...options });
	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	page.on('dialog', (d) => {
		page.problems.push('dialog ' + d.message());
		d.dismiss();
	});
	await page.goto(pathToFileURL(`${folder}/${file}`).href + query);
	return page;
}

const box = (page, name) => page.locator('#frames > g').filter({ has: page.locator(`title:text-matches("^${name} \\\\(")`) });
const details = (page) => page.locator('#details').textContent();
const matched = (page) => page.locator('.matched').textContent();
const visible = (page) => page.locator('#frames > g:not(.gone)').count();
const focused = (page) => page.evaluate(() => {
	const title = document.activeElement && document.activeElement.querySelector &&
		document.activeElement.querySelector('title');
	return title ? title.textContent.replace(/ \(.*/, '') : '';
});
// of the rectangle without its outline
const widthOf = async (page, name) => Math.round(+await box(page, name).last().locator('rect').getAttribute('width'));

async function mouse() {
	const page = await open('small.svg');
	check('all boxes are there', await visible(page), 14);
	check('it is as wide as the window', await widthOf(page, 'all'), 980);
	await box(page, 'serve').locator('rect').hover();
	check('details on hover', await details(page), 'Function: serve (80 samples, 80.00%)');
	await box(page, 'serve').locator('rect').click();
	check('a click zooms', await widthOf(page, 'serve'), 980);
	check('what is not below or above goes', await visible(page), 9);
	check('the address keeps it', /\?x=[\d.]+&y=\d+$/.test(page.url()), true);
	check('callers are pale', await box(page, 'shop').getAttribute('class'), 'below');
	check('and as wide', await widthOf(page, 'shop'), 980);
	const url = page.url();
	await page.getByRole('button', { name: 'Reset zoom' }).click();
	check('reset', [await visible(page), new URL(page.url()).search], [14, '']);
	check('no error', page.problems, []);
	const again = await open('small.svg', {}, new URL(url).search);
	check('the address restores the zoom', await widthOf(again, 'serve'), 980);
	await page.setViewportSize({ width: 600, height: 500 });
	check('it follows the window', await settle(() => widthOf(page, 'all'), 580), 580);
	await page.close();
	await again.close();
}

async function search() {
	const page = await open('small.svg');
	await page.keyboard.press('/');
	await page.keyboard.type('^(serve|parse|cmp)$');
	// parse is on serve: 80 + 15, not 80 + 30 + 15
	check('matched is a union', await settle(() => matched(page), 'Matched: 95.0%'), 'Matched: 95.0%');
	check('matches are marked', await page.locator('#frames > g.match').count(), 3);
	await page.keyboard.press('Enter');
	check('Enter goes to the first', await focused(page), 'cmp');
	await page.keyboard.press('n');
	check('n to the next', await focused(page), 'serve');
	await page.keyboard.press('N');
	await page.keyboard.press('N');
	check('N back, and around', await focused(page), 'parse');
	check('how many there are', /^match 3 of 3: parse/.test(await details(page)), true);
	check('the address keeps the search', new URL(page.url()).searchParams.get('s'), '^(serve|parse|cmp)$');
	await page.keyboard.press('Escape');
	check('Escape clears it', [await matched(page), await page.locator('.match').count()], ['', 0]);
	await page.keyboard.press('/');
	await page.keyboard.type('SERVE');
	check('case counts', await settle(() => matched(page), 'Matched: 0.0%'), 'Matched: 0.0%');
	await page.keyboard.press('Control+i');
	check('unless it is turned off', await matched(page), 'Matched: 80.0%');
	await page.locator('input').fill('(');
	const complaint = 'not a regular expression: (';
	check('no regular expression', await settle(() => details(page), complaint), complaint);
	check('no error', page.problems, []);
	await page.close();
	const given = await open('small.svg', {}, '?s=escape');
	check('the address restores the search', await matched(given), 'Matched: 25.0%');
	await given.close();
}

async function keyboard() {
	const page = await open('small.svg');
	for (let i = 0; i < 9 && await focused(page) !== 'all'; i++)
		await page.keyboard.press('Tab');
	check('Tab reaches the boxes', await focused(page), 'all');
	await page.keyboard.press('ArrowUp');
	check('up: the widest callee', await focused(page), 'shop');
	await page.keyboard.press('ArrowLeft');
	check('left', await focused(page), 'db');
	await page.keyboard.press('ArrowRight');
	await page.keyboard.press('ArrowUp');
	await page.keyboard.press('Enter');
	check('Enter zooms', await widthOf(page, 'main'), 980);
	await page.keyboard.press('ArrowDown');
	check('down: the caller', await focused(page), 'shop');
	await page.keyboard.press('Escape');
	check('Escape goes back', await visible(page), 14);
	const tree = await page.locator('#frames').ariaSnapshot();
	check('a tree for screen readers', /treeitem "serve \(80 samples, 80.00%\)"/.test(tree), true);
	check('no error', page.problems, []);
	await page.close();
}

async function looks() {
	const plain = await open('small.svg', { javaScriptEnabled: false });
	check('without scripts all boxes show', await plain.locator('#frames rect').count(), 14);
	check('and their labels', await plain.locator('#frames text').count() >= 12, true);
	await plain.close();
	const back = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
	const light = await open('small.svg'), dark = await open('small.svg', { colorScheme: 'dark' });
	check('light and dark differ', await back(light) !== await back(dark), true);
	const grounds = await dark.evaluate(() => {
		const fade = +getComputedStyle(document.querySelector('#frames rect')).fillOpacity;
		return [fade, getComputedStyle(document.documentElement).backgroundColor];
	});
	const [fade, under] = [grounds[0], grounds[1].match(/\d+/g).map(Number)];
	const mix = (fill) => 'rgb(' + fill.match(/\d+/g).map((c, i) => fade * c + (1 - fade) * under[i]) + ')';
	const seen = (await labels(dark)).map(([ink, fill]) => [ink, mix(fill)]);
	check('dark: labels can be read', [seen.length > 9, worst(seen) >= 4.5], [true, true]);
	check('dark: also on a white box', worst([[seen[0][0], mix('rgb(255,255,255)')]]) >= 4.5, true);
	await light.close();
	await dark.close();
	const ratio = await open('ratio.svg');
	const ink = (name) => box(ratio, name).locator('text').evaluate((t) => getComputedStyle(t).fill);
	check('letters can be read on dark boxes', [await ink('slow'), await ink('fast')],
		['rgb(255, 255, 255)', 'rgb(0, 0, 0)']);
	await ratio.close();
	const deep = await open('deep.svg');
	const root = await box(deep, 'all').locator('rect').boundingBox();
	check('a tall picture opens at its root', root.y > 0 && root.y < 500, true);
	check('with its heading in sight', (await deep.locator('.heading').boundingBox()).y < 40, true);
	await deep.close();
	const evil = await open('evil.svg');
	check('names are only text', [evil.problems, await evil.evaluate(() => window.owned)], [[], null]);
	await evil.keyboard.press('/');
	await evil.keyboard.type('script');
	check('and can be found', await settle(() => matched(evil), 'Matched: 100.0%'), 'Matched: 100.0%');
	await evil.close();
}

// Of the window of a phone: what is cut off at its edges, and what is on something else.
const crowded = (page) => page.evaluate(() => {
	const list = [...document.querySelectorAll('.heading, #subtitle tspan, #legend text, .controls > *')]
		.filter((e) => e.textContent || e.localName === 'input');
	const at = list.map((e) => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width);
	const name = (e) => e.textContent || e.localName;
	const cut = at.filter(([, r]) => r.left < 0 || r.right > innerWidth + 0.5).map(([e]) => name(e));
	const on = at.flatMap(([e, a], i) => at.slice(i + 1)
		.filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
			Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
		.map(([f]) => name(e) + ' on ' + name(f)));
	return [cut, on];
});

async function phone() {
	const page = await open('kinds.svg', { viewport: { width: 375, height: 600 } });
	const facts = () => page.locator('#subtitle').textContent();
	const whole = await facts();
	check('a phone: nothing is cut or covered', await crowded(page), [[], []]);
	check('a phone: the heading ends above the boxes',
		await page.evaluate(() => document.querySelector('.cover').getBoundingClientRect().bottom <=
			Math.min(...[...document.querySelectorAll('#frames rect')].map((r) => r.getBoundingClientRect().top)) + 2), true);
	await page.keyboard.press('/');
	await page.keyboard.type('serve');
	await settle(() => matched(page), 'Matched: 100.0%');
	await box(page, 'serve').locator('rect').click();
	check('a phone: also with all controls', await crowded(page), [[], []]);
	await page.setViewportSize({ width: 1000, height: 500 });
	check('wide again: one line', await settle(() => page.locator('#subtitle tspan').count(), 1), 1);
	check('wide again: the same facts', await facts(), whole);
	check('wide again: nothing is cut or covered', await crowded(page), [[], []]);
	check('no error', page.problems, []);
	await page.close();
}

try {
	await phone();
	await mouse();
	await search();
	await keyboard();
	await looks();
} catch (e) {
	console.log('not ok the script came to its end: ' + e.message.split('\n')[0]);
}
await browser.close();
