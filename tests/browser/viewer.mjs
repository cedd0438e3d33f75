// SPDX-License-Identifier: GPL-2.0-or-later
// Drives pages of `fathom flame -o x.html` in a browser: viewer.mjs PLAYWRIGHT CHROMIUM FOLDER.
// Prints a line "ok NAME" or "not ok NAME: why" for each thing that was tried. With SHOTS=FOLDER in
// the environment it leaves pictures there.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { until } from './until.mjs';

const [, , playwright, executablePath, folder] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });

function check(name, got, wanted) {
	const same = JSON.stringify(got) === JSON.stringify(wanted);
	console.log(
		same
			? `ok ${name}`
			: `not ok ${name}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`
	);
}

async function open(name, hash = '', options = {}) {
	const page = await browser.newPage({
		viewport: { width: 1400, height: 820 },
		reducedMotion: 'reduce',
		...options,
	});
	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	page.on('console', (m) => m.type() === 'error' && page.problems.push(m.text()));
	page.on(
		'request',
		(r) => /^https?:/.test(r.url()) && page.problems.push('fetches ' + r.url())
	);
	page.on('dialog', (d) => {
		page.problems.push('dialog ' + d.message());
		d.dismiss();
	});
	await page.goto(pathToFileURL(`${folder}/${name}.html`).href + hash);
	await page.waitForSelector('body.ready');
	return page;
}

async function shot(page, name) {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

const text = (page, selector) => page.locator(selector).first().textContent();
const detail = (page, key) => text(page, `#detail dd[data-key="${key}"]`);
const detailName = (page) => text(page, '.detail-name b');
const chips = async (page) =>
	(await page.locator('.chip').allTextContents()).map((t) => t.replace('×', ''));
const state = (page) => page.evaluate(() => window.fathom.app.state);
const press = async (page, ...keys) => {
	for (const key of keys) await page.keyboard.press(key);
};

// Where the widest box of a function is on the page.
const boxOf = (page, name) =>
	page.evaluate((wanted) => {
		const { picture, canvas } = window.fathom.app.view,
			names = window.fathom.model.frames.names,
			t = picture.tree;
		let best = -1;
		const stack = [0];
		while (stack.length) {
			const v = stack.pop();
			if (names[t.frame[v]] === wanted && (best < 0 || t.lay[v] > t.lay[best]))
				best = v;
			t.children(v);
			stack.push(...t.kids.subarray(t.lo, t.hi));
		}
		if (best < 0) return null;
		const b = picture.boxOf(best),
			c = canvas.getBoundingClientRect();
		return { x: c.left + b.x + b.w / 2, y: c.top + b.y + b.h / 2, w: b.w };
	}, name);
const clickBox = async (page, name, options) => {
	const b = await boxOf(page, name);
	await page.mouse.click(b.x, b.y, options);
};
// Function, module -> shares as the table of functions shows them.
const functionRows = (page) =>
	page.evaluate(() =>
		Object.fromEntries(
			[...document.querySelectorAll('tr[data-frame]')].map((row) => {
				const cells = [...row.children],
					pick = (i) =>
						cells[i].querySelector('.percent').textContent;
				return [
					row.querySelector('.words').textContent +
						' ' +
						row.lastChild.textContent,
					[pick(0), pick(1)],
				];
			})
		)
	);
// Drags over the heat map from one time to another.
const dragHeat = async (page, from, to, shift) => {
	const at = (t, low) =>
		page.evaluate(
			([time, bottom]) => {
				const h = window.fathom.app.heat,
					c = h.canvas.getBoundingClientRect(),
					column = Math.floor(time / h.step);
				const left = h.canvas.clientWidth - 4 - h.columns * h.columnWidth;
				return [
					c.left + left + (column + 0.5) * h.columnWidth,
					c.top + (bottom ? h.rows * h.rowHeight - 1 : 1),
				];
			},
			[t, low]
		);
	const a = await at(from, true),
		b = await at(to, false);
	if (shift) await page.keyboard.down('Shift');
	await page.mouse.move(...a);
	await page.mouse.down();
	await page.mouse.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
	await page.mouse.move(...b);
	await page.mouse.up();
	if (shift) await page.keyboard.up('Shift');
};

async function header() {
	const page = await open('shop');
	check(
		'the header says what was sampled',
		(await page.locator('.fact').allTextContents()).slice(0, 3),
		['cpu-clock', '1,800 samples', 'over 12.0 s']
	);
	check(
		'and what was lost',
		(await page.locator('.fact').allTextContents()).includes('none lost'),
		true
	);
	check('all is shown', await text(page, '#sum'), '18.0 s · 1,800 samples shown');
	check('back has nowhere to go', await page.locator('#back').isDisabled(), true);
	await shot(page, 'flame');
	check('no error', page.problems, []);
	await page.close();
}

async function numbers() {
	const page = await open('shop', '#view=functions'),
		rows = JSON.parse(readFileSync(`${folder}/report.json`)).rows;
	const name = (r) =>
		r.symbol.replace(/^\[.\] /, '') +
		' ' +
		(r.module || r.dso || '')
			.replace('[kernel]', '[kernel.kallsyms]')
			.replace(/.*\//, '');
	const wanted = Object.fromEntries(
		rows.map((r) => [name(r), [r.self.toFixed(2) + '%', r.children.toFixed(2) + '%']])
	);
	const sorted = (o) =>
		Object.keys(o)
			.sort()
			.map((k) => [k, o[k]]);
	check(
		'functions have the shares that report gives them',
		sorted(await functionRows(page)),
		sorted(wanted)
	);
	await page.click('th button:has-text("Total")');
	check('the table can be sorted', await text(page, 'tr[data-frame] .words'), 'serve');
	await shot(page, 'functions');
	await page.dblclick('tr[data-frame]:has-text("fib")');
	check('a double click opens the sandwich', (await state(page)).view, 'sandwich');
	await shot(page, 'sandwich');
	check('no error', page.problems, []);
	await page.close();
}

async function zoom() {
	const page = await open('shop');
	await clickBox(page, 'serve');
	check('a click zooms', Math.round((await boxOf(page, 'serve')).w), 1400);
	check('its total', await detail(page, 'total'), '12.0 s  (66.67%)');
	check('its self', await detail(page, 'self'), '0 ns  (0.00%)');
	check('its samples', await detail(page, 'samples'), '1,200');
	const b = await boxOf(page, 'parse');
	await page.mouse.move(b.x, b.y);
	check(
		'the tooltip',
		(await text(page, '#tip')).replace(/\s+/g, ' '),
		'parseuser · /usr/bin/shoptotal4.50 s (25.00%)self4.50 s (25.00%)samples450of this view37.50%'
	);
	const url = page.url();
	await page.click('#back');
	check('back', (await state(page)).zoom, []);
	await page.mouse.move(700, 600);
	await page.mouse.wheel(0, -600);
	check(
		'the wheel zooms',
		(await page.evaluate(
			() => window.fathom.app.view.picture.b - window.fathom.app.view.picture.a
		)) <
			18e9 / 2,
		true
	);
	await page.click('#reset');
	check('reset', Math.round((await boxOf(page, 'all')).w), 1400);
	const again = await open('shop', new URL(url).hash);
	check('the address restores the zoom', Math.round((await boxOf(again, 'serve')).w), 1400);
	check('no error', page.problems.concat(again.problems), []);
	await page.close();
	await again.close();
}

async function shapes() {
	const page = await open('shop'),
		y = async (name) => Math.round((await boxOf(page, name)).y);
	check('a flame stands on its root', (await y('all')) > (await y('main')), true);
	await page.click('#icicle');
	check('an icicle hangs from it', (await y('all')) < (await y('main')), true);
	await page.click('#reverse');
	await page.selectOption('#group', '');
	check('reversed: what ran is at the root', (await y('parse')) < (await y('serve')), true);
	await page.selectOption('#order', 'weight');
	check(
		'heaviest first',
		await page.evaluate(() => {
			const { tree } = window.fathom.app.view.picture;
			tree.children(0);
			return window.fathom.model.frames.names[tree.frame[tree.kids[tree.lo]]];
		}),
		'fib'
	);
	await shot(page, 'reversed');
	await page.selectOption('#group', 'cpu');
	await page.click('#reverse');
	check('grouped by CPU', Math.round((await boxOf(page, 'CPU 1')).w), Math.round(1400 / 3));
	for (const view of ['time', 'tree', 'graph']) {
		await page.click(`#tabs [data-view="${view}"]`);
		await page.waitForTimeout(100);
		await shot(page, view);
	}
	check(
		'the graph says what it hides',
		await text(page, '.graph-note'),
		'9 functions; none is hidden'
	);
	check(
		'a path in the graph is a straight column',
		await page.evaluate(() => {
			const { view, model } = window.fathom.app,
				at = (name) =>
					view.nodes.find(
						(n) => !n.point && model.frames.names[n.f] === name
					).x;

			return ['sys_read', 'copy_page'].map(at).every((x, i, all) => x === all[0]);
		}),
		true
	);
	check('no error', page.problems, []);
	await page.close();
}

async function search() {
	const page = await open('shop');
	await press(page, '/');
	await page.keyboard.type('sys_read|copy|serve');
	await until(
		page,
		() =>
			window.fathom.app.state.search === 'sys_read|copy|serve' &&
			document.getElementById('matched').textContent !== ''
	);
	check(
		'matches count once where they overlap',
		await text(page, '#matched'),
		'66.67% matched'
	);
	await press(page, 'Enter');
	const first = await detailName(page);
	await press(page, 'Escape', 'Escape');
	await page.fill('#search', 'fib');
	await until(page, () =>
		document.getElementById('matched').textContent.startsWith('33')
	);
	await page.click('#next');
	check('next goes to a match', [first, await detailName(page)], ['serve', 'fib']);
	await page.click('#only');
	check('only matches are left', await text(page, '#matched'), '33.33% matched');
	check('and keep their share of all', await detail(page, 'total'), '6.00 s  (33.33%)');
	check(
		'the root is smaller',
		await page.evaluate(() => window.fathom.app.tree.total[0]),
		6e9
	);
	await page.fill('#search', '(');
	await until(page, () =>
		document.getElementById('search').classList.contains('bad')
	);
	check('a bad expression is said', await text(page, '#matched'), 'not a regular expression');
	await page.fill('#search', 'render');
	await until(page, () => window.fathom.app.state.search === 'render');
	await shot(page, 'search');
	check('no error', page.problems, []);
	await page.close();
}

async function heat() {
	const page = await open('shop', '#view=functions');
	await dragHeat(page, 0, 5.9);
	check('a range of time', await chips(page), ['A, shown: 0.000 s – 6.000 s']);
	check(
		'every view follows',
		[
			(await functionRows(page))['parse shop'],
			(await functionRows(page))['render shop'],
		],
		[['50.00%', '50.00%'], undefined]
	);
	check('the numbers follow', await text(page, '#sum'), '9.00 s · 900 samples shown');
	await page.click('#tabs [data-view="flame"]');
	check(
		'also in the flame graph',
		[await boxOf(page, 'render'), !!(await boxOf(page, 'parse'))],
		[null, true]
	);
	await dragHeat(page, 6, 11.9, true);
	check(
		'with shift: the baseline',
		(await chips(page)).map((c) => c[0]),
		['A', 'B']
	);
	await clickBox(page, 'parse');
	check('new', await detail(page, 'change'), '+50.00% of all, new');
	await page.click('#back');
	await clickBox(page, 'render');
	check(
		'vanished stacks are there',
		await detail(page, 'change'),
		'-50.00% of all, -100.00% of itself'
	);
	await page.click('#back');
	await clickBox(page, 'copy_page');
	check(
		'what did not change is noise',
		await detail(page, 'change'),
		'0.00% of all, 0.00% of itself (within noise)'
	);
	await page.click('#back');
	await shot(page, 'diff');
	await page.click('#swap');
	await clickBox(page, 'render');
	check('swapped', await detail(page, 'change'), '+50.00% of all, new');
	check('no error', page.problems, []);
	await page.close();
}

async function filters() {
	const page = await open('shop', '#group=');
	await page.click('#filters');
	await shot(page, 'filters');
	await page.click('fieldset[data-filter="proc"] .choice:has-text("db")');
	await press(page, 'Escape');
	check(
		'one process',
		[await chips(page), await text(page, '#sum')],
		[['process db 20'], '6.00 s · 600 samples shown']
	);
	await page.click('.chip button');
	check('and all again', await text(page, '#sum'), '18.0 s · 1,800 samples shown');
	await clickBox(page, 'fib');
	await page.click('[data-action="collapse"]');
	check(
		'recursion collapsed',
		[await page.evaluate(() => window.fathom.app.derived.tree.n), await chips(page)],
		[10, ['collapse recursion of fib']]
	);
	await page.click('.chip button');
	await clickBox(page, 'serve');
	await page.click('[data-action="focus"]');
	check(
		'focus',
		[
			await page.evaluate(() => window.fathom.app.tree.total[0]),
			!!(await boxOf(page, 'fib')),
		],
		[12e9, false]
	);
	await page.click('#reset');
	await clickBox(page, 'serve', { button: 'right' });
	await page.click('#menu button:has-text("Drop")');
	check(
		'drop',
		[
			!!(await boxOf(page, 'serve')),
			await page.evaluate(() => window.fathom.app.tree.total[0]),
		],
		[false, 6e9]
	);
	await page.click('#reset');
	await clickBox(page, 'serve');
	await page.click('[data-action="merge"]');
	check(
		'merge',
		[
			!!(await boxOf(page, 'serve')),
			await page.evaluate(() => window.fathom.app.tree.total[0]),
		],
		[false, 18e9]
	);
	check('no error', page.problems, []);
	await page.close();
}

async function keyboard() {
	const page = await open('shop', '#group='),
		kept = async () => (await state(page)).zoom.length;
	await press(page, 'ArrowUp', 'ArrowUp', 'ArrowUp');
	check('arrows go from box to box', await detailName(page), 'serve');
	await press(page, 'Enter');
	check('Enter zooms', await kept(), 2);
	await press(page, 'Backspace');
	await until(page, () => !window.fathom.app.state.zoom.length);
	check('Backspace goes back', await kept(), 0);
	for (const [key, view] of [
		['2', 'time'],
		['3', 'sandwich'],
		['4', 'tree'],
		['5', 'functions'],
		['6', 'graph'],
		['1', 'flame'],
	]) {
		await press(page, key);
		check(`key ${key}`, (await state(page)).view, view);
	}
	await press(page, 'Home', 'ArrowUp', 'S');
	check(
		'S: sandwich of the box',
		await page.evaluate(() => [
			window.fathom.app.state.view,
			window.fathom.model.frames.names[window.fathom.app.state.function],
		]),
		['sandwich', 'main']
	);
	await press(page, 'ArrowDown', 'Enter');
	check(
		'down into the callees',
		await page.evaluate(
			() => window.fathom.model.frames.names[window.fathom.app.state.function]
		),
		'serve'
	);
	await press(page, '4', 'ArrowDown', 'ArrowLeft', 'ArrowRight');
	check('the tree opens and closes', (await page.locator('tr[data-i]').count()) > 3, true);
	await press(page, '1', 'i', 'h', 'ArrowRight', 'Enter', 'ArrowRight', 'ArrowUp', 'Enter');
	check(
		'the heat map by keys',
		(await state(page)).range !== null && (await state(page)).icicle,
		true
	);
	await press(page, 'Shift+Enter', 'ArrowRight', 'Shift+Enter');
	check('and the baseline', (await state(page)).base !== null, true);
	await press(page, 'Escape', '?');
	check('? shows the keys', (await page.locator('dialog .keys kbd').count()) > 30, true);
	await shot(page, 'keys');
	await press(page, 'Escape', 'l');
	check(
		'l: how to read this',
		(await page.locator('dialog h3').allTextContents()).slice(0, 2),
		['Flame graph', 'Heat map']
	);
	await shot(page, 'how');
	await press(page, 'Escape', 't');
	check(
		't: the picture as a table',
		await page.locator('#mirror').evaluate((e) => e.clientHeight > 100),
		true
	);
	await press(page, '0', 'v');
	check('v reverses', (await state(page)).reversed, true);
	check('no error', page.problems, []);
	await page.close();
}

async function mirror() {
	const page = await open('shop', '#group=&mirror=1');
	const first = () =>
		page.evaluate(() =>
			[...document.querySelectorAll('#mirror tbody tr')].map((r) =>
				[...r.children].slice(0, 3).map((c) => c.textContent)
			)
		);
	check('the table has the children of the root', await first(), [
		['main', '66.67%', '12.0 s'],
		['main', '33.33%', '6.00 s'],
	]);
	await page.click('#mirror tbody button');
	check('its buttons go down', await first(), [['serve', '66.67%', '12.0 s']]);
	check('and say it', await text(page, '#live'), 'main, 66.67% of all, self 0.00%');
	await page.close();
}

async function looks() {
	const page = await open('shop', '', { colorScheme: 'dark' });
	const background = () =>
		page.evaluate(() => getComputedStyle(document.body).backgroundColor);
	check('dark where the system is', await background(), 'rgb(20, 23, 28)');
	await shot(page, 'dark');
	await press(page, 'T');
	check('T: light', await background(), 'rgb(245, 246, 248)');
	for (const color of ['module', 'name', 'self', 'kind classic']) {
		await page.selectOption('#color', color);
		check(`coloured by ${color}`, (await state(page)).color, color.split(' ')[0]);
	}
	check('no error', page.problems, []);
	await page.close();
}

async function exported() {
	const page = await open('shop', '#group=');
	const take = async (words) => {
		await page.click('#export');
		const [file] = await Promise.all([
			page.waitForEvent('download'),
			page.click(`#menu button:has-text("${words}")`),
		]);
		return readFileSync(await file.path());
	};
	const folded = (await take('folded')).toString().trim().split('\n');
	check('folded', folded, [
		'main;serve;parse 4500000000',
		'main;serve;render 4500000000',
		'main;serve;sys_read_[k];copy_page_[k] 3000000000',
		'main;std::sort<int>;fib 2000000000',
		'main;std::sort<int>;fib;fib 2000000000',
		'main;std::sort<int>;fib;fib;fib 2000000000',
	]);
	const svg = (await take('SVG')).toString();
	check(
		'SVG',
		[svg.startsWith('<?xml'), svg.includes('<title>serve (12.0 s  (66.67%))</title>')],
		[true, true]
	);
	check(
		'SVG is well-formed',
		await page.evaluate(
			(s) =>
				new DOMParser()
					.parseFromString(s, 'image/svg+xml')
					.querySelector('parsererror') === null,
			svg
		),
		true
	);
	check('PNG', (await take('PNG')).subarray(1, 4).toString(), 'PNG');
	check(
		'CSV',
		(await take('CSV'))
			.toString()
			.split('\n')
			.find((l) => l.includes('fib')),
		'6000000000,33.3333,6000000000,33.3333,fib,/usr/bin/db'
	);
	check('no error', page.problems, []);
	await page.close();
}

async function oddInputs() {
	const evil = await open('evil', '#view=functions');
	for (const view of ['flame', 'tree', 'sandwich', 'graph', 'functions']) {
		await evil.click(`#tabs [data-view="${view}"]`);
		await press(evil, 'ArrowUp');
	}
	check(
		'names are shown as they are',
		Object.keys(await functionRows(evil))
			.sort()
			.slice(1, 4),
		[
			'</script><script>owned=1</script> ',
			'<img src=x onerror=owned=1> ',
			']]>--><svg onload=owned=1> ',
		]
	);
	await evil.evaluate(() => window.fathom.app.store.set({ search: '<script' }));
	check('and do not run', await evil.evaluate(() => typeof window.owned), 'undefined');
	check('no error', evil.problems, []);
	const bad = await open(
		'shop',
		'#view=nope&event=99&zoom=1.2.x&transforms=drop.99999,bogus&range=5,1&filters=cpu:%E0%A4%A&window=9,10&function=-1&search=%5B'
	);
	check(
		'a broken address is survived',
		[(await state(bad)).view, bad.problems],
		['flame', []]
	);
	const deep = await open('deep');
	check('10,000 frames', [await detail(deep, 'samples'), deep.problems], ['2', []]);
	const part = await open('part', '#view=functions');
	check(
		'fractions',
		[await text(part, '#sum'), (await functionRows(part))['b ']],
		['2 samples shown', ['85.71%', '85.71%']]
	);
	const two = await open('two');
	check(
		'two counts are a comparison',
		[(await state(two)).color, await two.locator('#compare').inputValue()],
		['diff', 'd0']
	);
	await clickBox(two, 'grown');
	check(
		'with inclusive change',
		await detail(two, 'change'),
		'+33.33% of all, +200.00% of itself'
	);
	await shot(two, 'two');
	for (const page of [evil, bad, deep, part, two]) await page.close();
}

async function twoEvents() {
	const page = await open('events', '#group=');
	await page.selectOption('#compare', 'r1');
	check('a ratio colours', (await state(page)).color, 'ratio');
	await clickBox(page, 'scan');
	check('and is shown', await detail(page, 'instructions / cycles'), '0.5000  (mean 1.000)');
	await shot(page, 'ratio');
	await press(page, 'e');
	check('e: the other event', await text(page, '.fact'), 'instructions');
	await page.selectOption('#event', '0');
	await page.selectOption('#compare', 'd1');
	await clickBox(page, 'scan');
	check('events compared', await detail(page, 'before'), '300 M cycles  (30.00%)');
	check('no error', page.problems, []);
	await page.close();
}

async function withoutStreams() {
	const page = await browser.newPage();
	await page.addInitScript(() => {
		delete window.DecompressionStream;
		delete Uint8Array.fromBase64;
	});
	await page.goto(pathToFileURL(`${folder}/shop.html`).href);
	await page.waitForSelector('body.ready');
	check(
		'browsers without DecompressionStream',
		await text(page, '#sum'),
		'18.0 s · 1,800 samples shown'
	);
	await page.close();
}

for (const part of [
	header,
	numbers,
	zoom,
	shapes,
	search,
	heat,
	filters,
	keyboard,
	mirror,
	looks,
	exported,
	oddInputs,
	twoEvents,
	withoutStreams,
]) {
	try {
		await part();
	} catch (e) {
		console.log(`not ok ${part.name}: ${e.message.split('\n')[0]}`);
	}
}
// A thread that runs all the time is even in the heat map, whatever its rows; the cell in focus is
// marked only once the keyboard is used.
{
	const page = await open('shop', '#group=');
	const even = await page.evaluate(() => {
		const { app, model } = window.fathom,
			s = model.samples;

		for (let i = 0; i < s.n; i++) {
			s.time[i] = i / 99;
			s.event[i] = app.state.event;
		}
		model.span = (s.n - 1) / 99;
		model.events[app.state.event].frequency = 99;
		app.heat.update();
		const inside = app.heat.shares.slice(app.heat.rows, -2 * app.heat.rows);

		return [Math.min(...inside) > 0.99 * Math.max(...inside), inside.length > 50];
	});

	check('a steady thread has no stripes', even, [true, true]);
	await page.locator('#heat-box canvas').click({ position: { x: 300, y: 60 } });
	check('no cell is marked by the mouse', await page.evaluate(() => !!window.fathom.app.heat.byKey), false);
	await page.keyboard.press('ArrowRight');
	check('the keyboard marks one', await page.evaluate(() => window.fathom.app.heat.byKey), true);
	await page.close();
}

// Nothing is cut in part: actions, facts, labels.
{
	const page = await open('shop', '#group=');

	for (const width of [1500, 1280, 1100]) {
		await page.setViewportSize({ width, height: 800 });
		await page.keyboard.press('ArrowUp');
		const cut = await page.evaluate(() => {
			const bar = document.querySelector('.actions').getBoundingClientRect();
			const half = [...document.querySelectorAll('.actions button')].filter((b) => {
				const r = b.getBoundingClientRect();

				return r.top < bar.bottom - 1 && r.right > bar.right + 1;
			});
			const facts = [...document.querySelectorAll('.fact')].filter((f) => f.scrollWidth > f.clientWidth + 1);

			return [half.length, facts.length];
		});

		check(`at ${width} pixels no action and no fact is cut`, cut, [0, 0]);
	}
	await page.setViewportSize({ width: 375, height: 700 });
	const fits = () => page.evaluate(() => [
		document.querySelector('main .stage').getBoundingClientRect().height > 200,
		document.documentElement.scrollWidth <= innerWidth,
		document.body.scrollHeight > innerHeight && getComputedStyle(document.body).overflowY === 'auto',
	]);
	// the canvases follow the window a moment later
	for (let i = 0; i < 200 && (await fits()).includes(false); i++) await page.waitForTimeout(50);
	check('on a phone the picture has room, and the page scrolls to it', await fits(), [true, true, true]);
	await page.close();
}

// Boxes below a pixel are shades of what they weigh.
{
	const page = await open('tiny', '#heat=0');
	const dense = await page.evaluate(() => {
		const { view } = window.fathom.app,
			c = view.painter.context,
			box = view.picture.area,
			row = (n) => c.getImageData(0, box.h - (n + 1) * 19 + 8, box.w, 1).data,
			white = (data) => {
				let n = 0;

				for (let i = 0; i < data.length; i += 4) n += data[i] + data[i + 1] + data[i + 2] >= 763;
				return n / (data.length / 4);
			};

		return [white(row(2)) < 0.02, white(row(3)) < 0.02];
	});

	check('boxes below a pixel are not left white', dense, [true, true]);
	await page.close();
}
// A span that is selected in the time line of a thread is its flame graph.
{
	const page = await open('shop', '#view=time&group=');

	await page.keyboard.down('Shift');
	await page.mouse.move(300, 420);
	await page.mouse.down();
	await page.mouse.move(700, 420, { steps: 4 });
	await page.mouse.up();
	await page.keyboard.up('Shift');
	const at = await page.evaluate(() => {
		const { view, range, filters } = window.fathom.app.state;

		return [view, range && range[1] > range[0], (filters.thr || []).length];
	});

	check('shift and drag in time order open the flame graph of span and thread', at, ['flame', true, 1]);
	await page.close();
}
await browser.close();
