// SPDX-License-Identifier: GPL-2.0-or-later
// Drives pictures of waiting in a browser: waits.mjs PLAYWRIGHT CHROMIUM FOLDER. Prints "ok NAME" or
// "not ok NAME: why". With SHOTS=FOLDER in the environment it leaves pictures there.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { labels, painted, worst } from './contrast.mjs';
import { until } from './until.mjs';

const [, , playwright, executablePath, folder] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const told = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8'));

function check(name, got, wanted) {
	const same = JSON.stringify(got) === JSON.stringify(wanted);

	console.log(
		same
			? `ok ${name}`
			: `not ok ${name}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`
	);
}

function near(name, got, wanted, part) {
	const off = Math.abs(got - wanted);

	console.log(off <= part * wanted ? `ok ${name}` : `not ok ${name}: got ${got}, wanted ${wanted}`);
}

async function open(file, hash = '', options = {}) {
	const page = await browser.newPage({
		...options,
		viewport: { width: 1400, height: 900 },
		reducedMotion: 'reduce',
	});

	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	page.on('console', (m) => m.type() === 'error' && page.problems.push(m.text()));
	await page.goto(pathToFileURL(`${folder}/${file}`).href + hash);
	if (file.endsWith('.html')) await page.waitForSelector('body.ready');
	return page;
}

async function shot(page, name) {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

const state = (page) => page.evaluate(() => window.fathom.app.state);
const eventName = (page) =>
	page.evaluate(() => {
		const { app } = window.fathom;

		return app.model.events[app.state.event].name;
	});
const sum = (page) => page.evaluate(() => window.fathom.app.shown.sum);

// Brings the cursor to the box at the end of a path of names (patterns), returns what it weighs.
const goTo = (page, ...names) =>
	page.evaluate((path) => {
		const { app } = window.fathom,
			tree = app.view.picture.tree,
			{ frames } = app.model;
		let v = 0;

		for (const name of path) {
			tree.children(v);
			v = [...tree.kids.subarray(tree.lo, tree.hi)].find(
				(k) => new RegExp(`^(?:${name})$`).test(frames.names[tree.frame[k]])
			);
			if (v === undefined) return -1;
		}
		app.view.picture.cursor = v;
		app.select(tree, v);
		return tree.total[v];
	}, names);

// Names and colours of the boxes from the root of what is zoomed to up along the widest ones.
const tower = (page) =>
	page.evaluate(() => {
		const { app } = window.fathom,
			tree = app.view.picture.tree,
			out = [];
		let v = tree.follow(app.state.zoom);

		for (;;) {
			out.push({
				name: app.model.frames.names[tree.frame[v]],
				color: app.colors.ofNode(tree, v, app.shown),
			});
			if (!tree.children(v)) return out;
			v = [...tree.kids.subarray(tree.lo, tree.hi)].sort(
				(a, b) => tree.total[b] - tree.total[a]
			)[0];
		}
	});

const rgb = (color) => color.match(/\d+/g).map(Number);
const isBlue = ([r, g, b]) => b > r + 20 && b > g + 8;
const isAqua = ([r, g, b]) => g > r + 20 && b > r + 20 && Math.abs(g - b) < 40;
const isGrey = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) < 12;
const isRed = ([r, g, b]) => r > g + 40 && r > b + 40;

// Without its debug file libc does not name what runs a thread.
const READ = [
	'reader',
	'clone3|thread_start',
	'start_thread|libc.*[+]0x[0-9a-f]+',
	'blocker_main',
	'wait_for_data',
];

async function hotcold() {
	const page = await open('hotcold.html'),
		{ facts, boxes } = told('hotcold');

	check('hot/cold opens with wall-clock time', await eventName(page), 'wall-time');
	check('... coloured by what threads did', (await state(page)).color, 'state');
	near('its total is that of --json', await sum(page), facts.wall_ns, 1e-6);
	const legend = (await page.locator('#legend .key').allTextContents()).join(', ');

	for (const [words, key] of [
		['on CPU', 'oncpu_ns'],
		['waiting for a CPU', 'runqueue_ns'],
		['blocked(?:: [a-z]+)?', 'blocked_ns'],
	]) {
		const share = (100 * facts[key]) / facts.wall_ns;
		const shown = [...legend.matchAll(new RegExp(words + ' ([0-9.]+)%', 'g'))].reduce(
			(total, [, part]) => total + Number(part), 0);

		check(`the legend has the share: ${words}`, Math.abs(shown - share) < 0.3, true);
	}
	check('a wait for a pipe is one of its own kind', /blocked: pipe [0-9.]+%/.test(legend), true);
	const names = () => page.evaluate(() => {
		const { app } = window.fathom, tree = app.view.picture.tree, out = new Set();

		for (let v = 1; v < tree.n; v++) if (tree.total[v]) out.add(app.model.frames.names[tree.frame[v]]);
		return [...out];
	});

	check('run-time code is folded', (await names()).filter((n) => /^\[(start|system call)\]$/.test(n)).length, 2);
	await page.evaluate(() => window.fathom.app.view.openPlumbing());
	check('... and opens', (await names()).some((n) => n === '[system call]'), false);
	const reader = boxes.find((b) => b.label === 'reader');

	near('a thread weighs what --json says', await goTo(page, 'reader'), reader.value, 1e-6);
	const colors = await page.evaluate(() => {
		const { app } = window.fathom,
			tree = app.view.picture.tree,
			out = {};

		for (let v = 1; v < tree.n; v++)
			if (tree.total[v])
				out[app.model.frames.names[tree.frame[v]]] = app.colors.ofNode(tree, v, app.shown);
		return out;
	});

	check('on CPU is red', isRed(rgb(colors['[on CPU]'])), true);
	check('blocked on a pipe is aqua', isAqua(rgb(colors['[blocked: pipe]'])), true);
	check('a function that only waits has its colour', isAqua(rgb(colors.wait_for_data)), true);
	await shot(page, 'hotcold');
	await wakers(page, facts);
	check('no script failed', page.problems, []);
}

// From a blocked box to its waker: by the button, by the key, by a click on the mark.
async function wakers(page) {
	const blocked = await goTo(page, ...READ);

	check('a blocked box is there', blocked > 0.5e9, true);
	await page.locator('#detail [data-action="wakers"]').click();
	check('its wakers are in off-wake time', await eventName(page), 'offwake-time');
	const waited = told('offcpu')
		.waits.filter((w) => w.comm === 'reader' && / wait_for_data /.test(w.where))
		.reduce((ns, w) => ns + w.time_ns, 0);

	near('... of the same box, with the time of its waits', await goTo(page, ...READ), waited, 0.01);
	const up = await tower(page),
		divider = up.findIndex((b) => b.name === '--');

	check('above the divider stands the waker, upside down',
		[up[divider + 1].name, up.some((b, i) => i > divider && b.name === 'write_late'),
			up.findIndex((b) => b.name === 'writer') > up.findIndex((b) => b.name === 'write_late')],
		['try_to_wake_up', true, true]);
	check('who waits is blue', isBlue(rgb(up[divider - 1].color)), true);
	check('who wakes is aqua', isAqua(rgb(up[divider + 1].color)), true);
	check('the divider is grey', isGrey(rgb(up[divider].color)), true);
	const second = up.findIndex((b, i) => i > divider && b.name === '--');

	check('the chain goes on: where the waker had waited, in blue',
		[second > 0, isBlue(rgb(up[second + 1].color))], [true, true]);
	await shot(page, 'wakers');
	await page.locator('#back').click();
	await until(page, () => window.fathom.app.state.color === 'state');
	await goTo(page, ...READ);
	await page.keyboard.press('W');
	check('W does the same', await eventName(page), 'offwake-time');
	await page.locator('#back').click();
	await until(page, () => window.fathom.app.state.color === 'state');
	const at = await page.evaluate(() => {
		const { app } = window.fathom,
			{ picture, canvas } = app.view,
			tree = picture.tree;
		const box = canvas.getBoundingClientRect();

		for (let y = 0; y < box.height; y += 4)
			for (let x = 0; x < box.width; x += 4) {
				const v = picture.hit(x, y);

				if (v > 0 && app.model.frames.names[tree.frame[v]] === '[blocked: pipe]')
					return [box.left + x, box.top + y];
			}
		return null;
	});

	check('a mark is to be seen', at !== null, true);
	if (at) await page.mouse.click(...at);
	check('a click on it leads to the wakers', await eventName(page), 'offwake-time');
	check('waits are coloured as such', (await state(page)).color, 'waits');
}

// Facts that all four commands tell.
async function views() {
	for (const [name, col] of [
		['offcpu', 'state'],
		['wakeup', 'wakers'],
		['offwake', 'waits'],
		['chain', 'waits'],
	]) {
		const page = await open(`${name}.html`),
			{ facts } = told(name);

		near(`${name}: the total is that of --json`, await sum(page), facts.blocked_ns, 0.0001);
		check(`${name}: its colours`, (await state(page)).color, col);
		if (name === 'offcpu') {
			const key = (await page.locator('#legend .key').allTextContents()).join(', ');

			check('offcpu: a kind of wait has its colour', /blocked: pipe [0-9.]+%/.test(key), true);
			check('offcpu: run-time code is folded, with the start of threads',
				[await goTo(page, 'reader', '\\[start\\]', 'blocker_main') > 0, await goTo(page, ...READ)],
				[true, -1]);
			await shot(page, 'offcpu-folded');
			await page.evaluate(() => window.fathom.app.view.openPlumbing());
			await goTo(page, ...READ);
			await page.keyboard.press('W');
			check('offcpu: W leads to the wakers', await eventName(page), 'offwake-time');
			check('offcpu: ... and to the writer',
				(await tower(page)).some((b) => b.name === 'writer'), true);
		}
		await shot(page, name);
		check(`${name}: no script failed`, page.problems, []);
		await page.close();
	}
}

// Run-time code is one box; a click on it opens it, o folds it again; nothing gets lost by that.
async function folding(page, name) {
	const seen = () => page.evaluate(() => {
		const shown = [...document.querySelectorAll('.boxes')].find((g) => !g.hasAttribute('display')),
			titles = [...shown.querySelectorAll(':scope > g > title')].map((t) => t.textContent);

		return {
			folded: titles.filter((t) => /^\[(start|system call|switch)\] \(/.test(t)).length > 0,
			plain: titles.some((t) => t.startsWith('do_syscall_64 (')),
			twice: [...shown.children].filter((g, i, all) => g.matches('.fold') && i &&
				all[i - 1].querySelector('title').textContent === g.querySelector('title').textContent).length,
			all: titles[0].match(/, ([^,]*?) of|^all \((.*?)[,)]/)[0],
			pairs: shown.id,
		};
	});
	const before = await seen();

	check(`${name}.svg: run-time code is folded, a run of it into one`,
		[before.folded, before.plain, before.twice], [true, false, 0]);
	await page.locator('.boxes .fold rect').first().click();
	const after = await seen();

	check(`${name}.svg: a click opens it`, [after.folded, after.plain, after.all], [false, true, before.all]);
	await page.keyboard.press('o');
	check(`${name}.svg: o folds it again`, await seen(), before);
	const got = worst(await labels(page));

	check(`${name}.svg: labels can be read (contrast ${got.toFixed(2)})`, got >= 4.5, true);
	await page.keyboard.press('?');
	check(`${name}.svg: ? explains it`, await page.locator('.sheet dt').count() > 5, true);
	await page.keyboard.press('Escape');
	check(`${name}.svg: Escape closes that`, await page.locator('.sheet').count(), 0);
}

// Every colour mode, light and dark.
async function legible() {
	for (const colorScheme of ['light', 'dark']) {
		const page = await open('hotcold.html', '', { colorScheme });

		for (const color of ['state', 'kind', 'module', 'self', 'name']) {
			await page.evaluate((c) => {
				window.wanted = c;
				window.fathom.app.store.set({ color: c });
			}, color);
			await until(page, () => window.fathom.app.colors.mode === window.wanted);
			const pairs = await painted(page), got = worst(pairs);

			check(`text on boxes, ${colorScheme}, by ${color}: contrast ${got.toFixed(2)}`,
				[pairs.length > 5, got >= 4.5], [true, true]);
		}
		await page.close();
	}
}

async function pictures() {
	for (const name of ['hotcold', 'offcpu', 'wakeup', 'offwake', 'chain']) {
		const page = await open(`${name}.svg`);
		const fills = await page.evaluate(() =>
			[...document.querySelectorAll('#frames > g')].map((g) => [
				g.querySelector('title').textContent,
				getComputedStyle(g.querySelector('rect')).fill,
			])
		);
		const of = (start) => fills.filter(([t]) => t.startsWith(start)).map(([, c]) => rgb(c));

		if (name === 'offwake' || name === 'chain') {
			check(`${name}.svg: dividers are grey`, of('-- (').every(isGrey) && of('-- (').length > 0, true);
			check(`${name}.svg: who waits is blue`, of('wait_for_data (').some(isBlue), true);
			check(`${name}.svg: who wakes is aqua`, of('try_to_wake_up (').every(isAqua), true);
		}
		if (name === 'hotcold')
			check('hotcold.svg: on CPU is red, blocked blue',
				[of('[on CPU] (').every(isRed), of('[blocked] (').every(isBlue)], [true, true]);
		if (name === 'hotcold' || name === 'offcpu') await folding(page, name);
		await shot(page, name + '-svg');
		check(`${name}.svg: no script failed`, page.problems, []);
		await page.close();
	}
}

for (const part of [hotcold, views, pictures, legible]) {
	try {
		await part();
	} catch (e) {
		console.log(`not ok ${part.name}: ${e.message.split('\n')[0]}`);
	}
}
await browser.close();
