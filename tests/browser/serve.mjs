// SPDX-License-Identifier: GPL-2.0-or-later
// Drives the page of fathom serve: serve.mjs PLAYWRIGHT CHROMIUM FOLDER ADDRESS VIEW-ADDRESS WORKLOADS PROGRAM-ADDRESS.
// Prints "ok NAME" or "not ok NAME: why". With SHOTS=FOLDER in the environment it leaves pictures there.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { until } from './until.mjs';

const [, , playwright, executablePath, folder, address, viewAddress, workloads, programAddress] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const origin = new URL(address).origin;
const children = [];

function check(name, good, why = '') {
	console.log(good ? `ok ${name}` : `not ok ${name}: ${why}`);
}

function start(program, ...args) {
	const child = spawn(`${workloads}/${program}`, args, { stdio: 'ignore' });

	children.push(child);
	return child;
}

async function open(where, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
	const page = await context.newPage();

	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	page.on('console', (m) => m.type() === 'error' && page.problems.push(m.text()));
	page.on('request', (r) => {
		if (!r.url().startsWith(origin) && !/^(data|blob|about):/.test(r.url())) page.problems.push('asks ' + r.url());
	});
	const begin = Date.now();

	await page.goto(where);
	await page.waitForSelector('body.ready');
	page.opened = Date.now() - begin;
	return page;
}

async function shot(page, name) {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

// The newest figures of a chart by name.
const newest = (page, id) =>
	page.evaluate((chart) => {
		const app = window.fathomServe,
			part = app.parts.find((p) => p.info.id === chart);

		return part.values(app.frames.last);
	}, id);

// The frame of the result that is shown, once it has drawn.
async function viewer(page) {
	await until(page, () => document.querySelector('#result iframe') !== null || document.querySelector('#result .bad') !== null, 60000);
	const failed = await page.evaluate(() => document.querySelector('#result .bad')?.textContent);

	if (failed) throw new Error(failed);
	const frame = await (await page.$('#result iframe')).contentFrame();

	await frame.waitForSelector('body.ready');
	return frame;
}

const frameNames = (frame) => frame.evaluate(() => window.fathom.model.frames.names.join('\n'));

// Drags over a chart from one time to another, in ms before the newest frame.
async function drag(page, id, from, to) {
	await page.evaluate((chart) => document.getElementById('chart-' + chart).scrollIntoView(), id);
	const box = await (await page.$(`#chart-${id} canvas`)).boundingBox();
	const x = await page.evaluate(
		([chart, ago, ago2]) => {
			const app = window.fathomServe,
				part = app.parts.find((p) => p.info.id === chart);

			return [part.x(app.axis.newest - ago), part.x(app.axis.newest - ago2)];
		},
		[id, from, to]
	);

	await page.mouse.move(box.x + x[0], box.y + 30);
	await page.mouse.down();
	await page.mouse.move(box.x + (x[0] + x[1]) / 2, box.y + 32);
	await page.mouse.move(box.x + x[1], box.y + 34);
	await page.mouse.up();
}

async function charts(page) {
	await until(page, () => window.fathomServe.frames.all.length >= 2);
	check('the page opens', true);
	check('the token is not in the address', !page.url().includes('token'), page.url());
	const first = await page.evaluate(() => window.fathomServe.frames.last.t);

	await until(page, `window.fathomServe.frames.last.t > ${first}`);
	check('the charts move', true);
	const painted = await page.evaluate(() => {
		const canvas = document.querySelector('#chart-memory canvas'),
			bytes = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;

		return bytes.some((b) => b !== 0);
	});

	check('and are painted', painted);
	const burn = start('burn', '--seconds', '90', 'a=70', 'b=30'),
		began = Date.now();

	await until(page, `window.fathomServe.frames.last.p.some((row) => row[0] === ${burn.pid})`, 15000);
	check('a workload is in the list of processes soon', true);
	console.log(`seen after ${Date.now() - began} ms`);
	const cpu = await newest(page, 'cpu');

	check('and in the chart of CPU time', cpu.user + cpu.nice > 10, JSON.stringify(cpu));
	await page.hover('#chart-cpu .legend span');
	check('a line says what it means', /Share of time in user mode/.test(await page.textContent('#hover')), await page.textContent('#hover'));
	await page.mouse.move(5, 5);
	return burn;
}

async function past(page) {
	// the flight recorder runs since the page is open: wait until it has some seconds of the workload
	await page.waitForTimeout(6000);
	await drag(page, 'cpu', 5000, 1500);
	check('a drag selects a span', await page.evaluate(() => window.fathomServe.axis.chosen !== null));
	await shot(page, 'serve');
	await page.click('#past');
	const names = await frameNames(await viewer(page));

	check('the flame graph of the past span has the workload', /^a$/m.test(names), names.slice(0, 200));
	await shot(page, 'serve-flame');
}

// Resolves when the charts are @ms further.
async function pass(page, ms) {
	const now = await page.evaluate(() => window.fathomServe.frames.last.t);

	await until(page, `window.fathomServe.frames.last.t > ${now + ms}`, 60000);
}

// A span with the workload against one after its end.
async function pastDiff(page) {
	const burn = start('burn', '--seconds', '90', 'b=70', 'a=30');

	await page.click('#tab-charts');
	await page.keyboard.press('Escape');
	await page.keyboard.press('0');
	await pass(page, 4500);
	await drag(page, 'cpu', 3000, 1500);
	await page.keyboard.press('b');
	check('a span is marked', await page.evaluate(() => window.fathomServe.marked !== null && window.fathomServe.axis.chosen === null));
	burn.kill('SIGKILL');
	// a selection stops the time
	await page.keyboard.press('0');
	await pass(page, 4500);
	await drag(page, 'cpu', 2500, 1000);
	await page.evaluate(() => document.querySelector('#result iframe')?.remove());
	await page.click('#compare');
	const frame = await viewer(page);

	check('two spans of the past are compared', /against/.test(await page.textContent('#result h2')), await page.textContent('#result h2'));
	check('the span before has the workload', /^a$/m.test(await frameNames(frame)));
	check('both have an event of their own', (await frame.evaluate(() => window.fathom.model.events.length)) > 1);
}

async function record(page, kind, wanted) {
	await page.selectOption('#kind', kind);
	await page.fill('#seconds', '2');
	await page.evaluate(() => document.querySelector('#result iframe')?.remove());
	await page.click('#record');
	const names = await frameNames(await viewer(page));

	check(`record ${kind}`, wanted.test(names), names.slice(0, 300));
}

// Code made at run time whose map gives it a name that is markup.
async function hostile(page) {
	const jit = start('jitlike', '--seconds', '120'),
		map = `/tmp/perf-${jit.pid}.map`,
		named = () => existsSync(map) && /jit_hot\n/.test(readFileSync(map, 'utf8'));

	for (let i = 0; i < 200 && !named(); i++) await page.waitForTimeout(50);
	if (!named()) return console.log('# no code is made at run time here');
	writeFileSync(map, readFileSync(map, 'utf8').replace('jit_hot',
		`hot"'><script>window.ran=1</script><img src=x onerror="window.ran=1">\u001b[31m`));
	await page.selectOption('#target', 'process');
	await page.fill('#whose', String(jit.pid));
	await page.selectOption('#kind', 'oncpu');
	await page.fill('#seconds', '2');
	await page.evaluate(() => document.querySelector('#result iframe')?.remove());
	await page.click('#record');
	const frame = await viewer(page),
		ran = async () => (await frame.evaluate(() => window.ran)) || (await page.evaluate(() => window.ran)) ||
			(await frame.$$('img[src=x]')).length > 0;

	check('a function whose name is markup is in the graph', /<script>window.ran/.test(await frameNames(frame)), await frameNames(frame));
	for (const view of ['flame', 'tree', 'functions', 'graph']) {
		await frame.evaluate((name) => window.fathom.app.store.set({ view: name, search: 'script' }), view);
		await page.waitForTimeout(100);
		check(`nothing of it runs: ${view}`, !(await ran()));
	}
	await page.selectOption('#target', 'machine');
	jit.kill('SIGKILL');
	if (existsSync(map)) unlinkSync(map);
}

async function keyboard(page) {
	await page.click('#tab-charts');
	await page.keyboard.press('Escape');
	await page.keyboard.press('0');
	await page.focus('#chart-cpu canvas');
	for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowLeft');
	check('arrows with Shift select', await page.evaluate(() => window.fathomServe.axis.chosen !== null));
	check('and stop the time', (await page.textContent('#pause')) === 'Live');
	await page.keyboard.press('z');
	check('z zooms', (await page.evaluate(() => window.fathomServe.axis.span)) < 30);
	await page.keyboard.press('0');
	check('0 is live again', await page.evaluate(() => window.fathomServe.axis.live));
	await page.keyboard.press('?');
	check('? shows the keys', await page.evaluate(() => document.getElementById('help').open));
	await page.keyboard.press('Escape');
	const unnamed = await page.evaluate(() =>
		[...document.querySelectorAll('button, select, input, canvas')]
			.filter((e) => e.offsetParent && !(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length))
			.map((e) => e.id || e.outerHTML.slice(0, 80))
	);

	check('all that can be used has a name', unnamed.length === 0, unnamed.join(' '));
	check('a chart tells its figures', /CPU by mode at .*user/.test(await page.getAttribute('#chart-cpu canvas', 'aria-label')));
}

async function tool(page) {
	await page.keyboard.press('3');
	await page.waitForSelector('.tool[data-tool="syscount"]');
	await page.click('.tool[data-tool="syscount"]');
	await page.fill('#tool-seconds', '2');
	await page.click('#toolform button[type=submit]');
	await until(page, () => document.querySelector('#result td') !== null || document.querySelector('#result .bad') !== null);
	check('a tool as a form gives a table', (await page.$$('#result tbody tr')).length > 2, await page.textContent('#result'));
	await page.click('#result th button >> text=count');
	const first = await page.textContent('#result tbody tr td.number');

	await page.fill('#result input[type=search]', '^no such row$');
	check('which filters', (await page.$$('#result tbody tr')).length === 0, first);
}

async function heatmap(page) {
	const fd = openSync(`${folder}/written`, 'w'),
		writes = setInterval(() => (writeSync(fd, 'x'.repeat(4096)), fsyncSync(fd)), 50);

	await page.click('#tab-tools');
	await page.click('.tool[data-tool="biolatency"]');
	await page.fill('#tool-seconds', '4');
	await page.check('#tool-each');
	await page.click('#toolform button[type=submit]');
	await until(page, () => /biolatency/.test(document.querySelector('#result h2')?.textContent || '') &&
		(document.querySelector('#result .outcome') || document.querySelector('#result .bad')) !== null);
	clearInterval(writes);
	closeSync(fd);
	check('a tool gives a heat map over time', (await page.$('#result canvas.heatmap')) !== null, (await page.textContent('#result')).slice(0, 300));
}

async function diff(page) {
	await page.click('#tab-results');
	await page.click('.job:has-text("on-CPU"):has-text("5 s"), .job:has-text("on-CPU"):has-text("2 s") >> nth=0');
	const select = await page.$('#result .actions select');

	if (!select) return check('compare two recordings', false, 'nothing to compare with');
	await page.selectOption('#result .actions select', { index: 1 });
	await until(page, () => /against.*,/.test(document.querySelector('#result h2')?.textContent || ''));
	const frame = await viewer(page);

	check('compare two recordings', /against/.test(await page.textContent('#result h2')) && (await frame.evaluate(() => window.fathom.model.samples.n)) > 0);
}

async function others() {
	const narrow = await open(address, { viewport: { width: 375, height: 700 }, colorScheme: 'dark' });

	await until(narrow, () => window.fathomServe.frames.all.length >= 1);
	const wide = await narrow.evaluate(() => document.documentElement.scrollWidth);

	check('375 pixels are enough', wide <= 375, String(wide));
	check('dark as the system is', (await narrow.evaluate(() => document.documentElement.dataset.theme)) === 'dark');
	await shot(narrow, 'serve-narrow');
	check('no problem on a narrow page', narrow.problems.length === 0, narrow.problems.join('; '));
	await narrow.context().close();

	const view = await open(viewAddress);

	await until(view, () => window.fathomServe.frames.all.length >= 1);
	check('view shows charts and records nothing', await view.evaluate(() => document.getElementById('record').disabled));
	await view.context().close();

	const none = await open(origin + '/');

	check('without a token the page says so', /no token/.test(await none.textContent('#charts')));
	await none.context().close();
}

async function program() {
	const page = await open(programAddress);

	await page.keyboard.press('3');
	await page.click('#tool-program');
	await page.fill('#program', 'BEGIN { exit() }\ninterval:s:1 { nosuch }');
	await page.keyboard.press('Control+Enter');
	await until(page, () => document.querySelector('#result .listing .said') !== null, 30000);
	const lines = await page.$$eval('#result .listing code', (all) => all.map((e) => e.textContent));

	check('an error of a program stands under its line', /^interval/.test(lines[1]) && /^ +~+ Unknown identifier: 'nosuch'/.test(lines[2]), lines.join('|'));
	await page.click('#result button >> text=Edit');
	check('and its text can be edited', /nosuch/.test(await page.inputValue('#program')));
	await page.fill('#program', 'interval:ms:100 { @<script>alert(1)</script> = 1 }');
	await page.click('#program-run');
	await until(page, () => /script/.test(document.querySelector('#result .listing')?.textContent || ''), 30000);
	check('text of a program is no markup', (await page.$$('#result script')).length === 0);
	await page.click('#result button >> text=Edit');
	await page.fill('#program', 'interval:ms:100 { @ticks = count(); }');
	await page.fill('#program-seconds', '1');
	await page.click('#program-run');
	await until(page, () => /ticks/.test(document.querySelector('#result .outcome')?.textContent || ''), 60000);
	check('a program gives its map', /ticks/.test(await page.textContent('#result')), await page.textContent('#result'));
	check('no problem on the page of programs', page.problems.length === 0, page.problems.join('; '));
	await page.context().close();
}

try {
	const page = await open(address);

	console.log(`opened in ${page.opened} ms`);
	await charts(page);
	await past(page);
	await record(page, 'oncpu', /^a$/m);
	await record(page, 'offcpu', /./);
	await record(page, 'hotcold', /^a$/m);
	await record(page, 'oncpu', /^a$/m);
	await diff(page);
	await pastDiff(page);
	await hostile(page);
	await keyboard(page);
	await tool(page);
	await heatmap(page);
	check('the state is in the address', /job=\d+/.test(page.url()), page.url());
	check('no problem, and nothing asked elsewhere', page.problems.length === 0, page.problems.join('; '));
	await others();
	await program();
} catch (error) {
	console.log(`not ok the page works: ${error.message.split('\n')[0]}`);
	console.log(error.stack);
} finally {
	for (const child of children) child.kill('SIGKILL');
	await browser.close();
}
