// SPDX-License-Identifier: GPL-2.0-or-later
// Drives the scheduler's timeline in a browser: timeline.mjs PLAYWRIGHT CHROMIUM FOLDER. Prints
// "ok NAME" or "not ok NAME: why". With SHOTS=FOLDER in the environment it leaves pictures there.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { until } from './until.mjs';

const [, , playwright, executablePath, folder] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const told = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, 'utf8')).stretches;

function check(name, got, wanted) {
	const same = JSON.stringify(got) === JSON.stringify(wanted);

	console.log(
		same
			? `ok ${name}`
			: `not ok ${name}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`
	);
}

async function open(file) {
	const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });

	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	page.on('console', (m) => m.type() === 'error' && page.problems.push(m.text()));
	await page.goto(pathToFileURL(`${folder}/${file}`).href);
	await until(page, () => document.getElementById('info').textContent !== '');
	return page;
}

async function shot(page, name) {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

const count = (page, selector) =>
	page.evaluate((s) => document.querySelectorAll(s).length, selector);
const text = (page) => page.evaluate(() => document.getElementById('info').textContent);
const names = (page) =>
	page.evaluate(() => [...document.querySelectorAll('.name')].map((e) => e.textContent));

// The task that ran and waited longest, and ns by task.
function sums(stretches) {
	const by = new Map();

	for (const s of stretches) {
		const name = `${s.comm} ${s.tid}`;

		by.set(name, (by.get(name) || 0) + s.duration_ns);
	}
	return [...by].sort((x, y) => y[1] - x[1]);
}

// How many of the first rows have a stretch of this kind. Rows are the longest, so the last may tie.
function rowsOf(json, what) {
	const all = told(json);
	const shown = new Set(sums(all).slice(0, 50).map(([name]) => name));
	const having = all.filter((s) => s.what === what && shown.has(`${s.comm} ${s.tid}`));

	return Math.max(1, sums(having).length);
}

// What lies in the page, by task.
const inPage = (page) =>
	page.evaluate(() => {
		const by = {};

		for (let i = 0; i < window.timelineData.stretches.length; i += 5) {
			const [tid, comm] = window.timelineData.tasks[window.timelineData.stretches[i + 3]];

			by[`${comm} ${tid}`] = (by[`${comm} ${tid}`] || 0) + window.timelineData.stretches[i + 1];
		}
		return by;
	});

for (const [file, json] of [
	['whole.html', 'whole'],
	['part.svg', 'part'],
]) {
	const page = await open(file),
		wanted = sums(told(json)),
		shown = await names(page);

	const sorted = (entries) => entries.sort((x, y) => (x[0] < y[0] ? -1 : 1));

	check(`${file}: every task's time is in it`, sorted(Object.entries(await inPage(page))), sorted([...wanted]));
	check(`${file}: a lane for each CPU`, await count(page, '.lane'), await page.evaluate(() => window.timelineData.cpus));
	// some may have been busy all the time
	check(
		`${file}: one of the busiest tasks is the first row`,
		wanted.some(([name, ns]) => ns === wanted[0][1] && name.slice(0, 20) === shown[0].slice(0, 20)),
		true
	);
	check(`${file}: rows of tasks`, shown.length, Math.min(60, wanted.length));
	// Neighbours may share a rectangle, but each task has a row of its own.
	check(`${file}: who ran is drawn`, (await count(page, 'rect.run')) >= rowsOf(json, 'runs'), true);
	check(`${file}: who waited is drawn`, (await count(page, 'rect.wait')) >= rowsOf(json, 'waits'), true);
	// What is drawn stays within the picture.
	check(
		`${file}: nothing sticks out`,
		await page.evaluate(() => {
			const most = document.getElementById('timeline').clientWidth;

			return [...document.querySelectorAll('#drawn rect')].filter((r) => {
				const x = +r.getAttribute('x');

				return x < 150 || x + +r.getAttribute('width') > most;
			}).length;
		}),
		0
	);
	await shot(page, file);

	// Zoom until wake-ups are drawn, as long as it takes.
	const all = await text(page);

	await page.mouse.move(700, 100);
	await page.mouse.wheel(0, -100);
	await until(page, () => !/^(.*) of \1;/.test(document.getElementById('info').textContent));
	check(`${file}: the wheel zooms`, (await text(page)) !== all, true);
	for (let i = 0; i < 40 && !(await count(page, 'path.wake')); i++) await page.mouse.wheel(0, -100);
	await until(page, () => document.querySelectorAll('path.wake').length > 0);
	await shot(page, `${file}-zoomed`);
	await page.evaluate(() =>
		document.querySelector('path.wake').dispatchEvent(new MouseEvent('mousemove', { bubbles: true }))
	);
	check(`${file}: an arrow tells who wakes whom`, / wakes .* at \+/.test(await text(page)), true);
	await page.keyboard.press('Escape');
	check(`${file}: Esc shows all again`, await text(page), all);

	// A click on a row's name puts the others back.
	const first = await page.evaluateHandle(() => document.querySelector('.name'));

	await first.click();
	check(`${file}: one task is chosen`, await count(page, '.name:not(.dim)'), 1);
	await page.keyboard.press('Escape');
	check(`${file}: no task is chosen`, await count(page, '.dim'), 0);
	check(`${file}: no complaint`, page.problems, []);
	await page.close();
}
await browser.close();
