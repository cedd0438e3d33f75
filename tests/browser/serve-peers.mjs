// SPDX-License-Identifier: GPL-2.0-or-later
// Two machines on one page of fathom serve: serve-peers.mjs PLAYWRIGHT CHROMIUM FOLDER ADDRESS WORKLOADS PID-OF-THE-PEER.
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { until } from './until.mjs';

const [, , playwright, executablePath, , address, workloads, peer] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const origin = new URL(address).origin;

function check(name, good, why = '') {
	console.log(good ? `ok ${name}` : `not ok ${name}: ${why}`);
}

async function open(options = {}) {
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
	const page = await context.newPage();

	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	page.on('console', (m) => m.type() === 'error' && page.problems.push(m.text()));
	page.on('request', (r) => !r.url().startsWith(origin) && !/^(data|blob|about):/.test(r.url()) && page.problems.push('asks ' + r.url()));
	await page.goto(address);
	await page.waitForSelector('body.ready');
	return page;
}

// Both machines have frames on the page.
const both = (page) => until(page, () => {
	const app = window.fathomServe,
		host = app.hosts.all.get(1);

	return host && host.peer.state === 'live' && host.frames.all.length >= 2 && app.frames.all.length >= 2;
}, 60000);

async function sideBySide(page) {
	await both(page);
	check('two machines are on the page', (await page.$$('#chart-cpu-1')).length === 1 && (await page.$$('#chart-cpu')).length === 1);
	check('each chart says of which', (await page.textContent('#chart-cpu-1 h3')).includes('(box7)'), await page.textContent('#chart-cpu-1 h3'));
	check('the other machine has a line with its state and its clock', /box7.*live since .*clock .* ms (late|ahead) ± /.test(await page.textContent('#hosts')), await page.textContent('#hosts'));
	const [a, b] = [await (await page.$('#chart-cpu')).boundingBox(), await (await page.$('#chart-cpu-1')).boundingBox()];

	check('side by side', Math.abs(a.y - b.y) < 2 && b.x >= a.x + a.width, JSON.stringify([a, b]));
	const frames = await page.evaluate(() => window.fathomServe.hosts.all.get(1).frames.last.t);

	await until(page, `window.fathomServe.hosts.all.get(1).frames.last.t > ${frames}`, 30000);
	check('its charts move', true);
	const burn = spawn(`${workloads}/burn`, ['--seconds', '60', 'a=70', 'b=30'], { stdio: 'ignore' });

	// two views of one kernel: the same process, in both
	await until(page, `[window.fathomServe, window.fathomServe.hosts.all.get(1)].every((m) => m.frames.last.p.some((row) => row[0] === ${burn.pid}))`, 30000);
	check('a workload is seen on both', true);
	burn.kill('SIGKILL');
	check('its processes cannot be recorded from here', (await page.$$('#chart-processes-1 td button')).length === 0 && (await page.$$('#chart-processes td button')).length > 0);
}

async function oneAxis(page) {
	await page.focus('#chart-cpu-1 canvas');
	await page.keyboard.press('Shift+ArrowLeft');
	await page.keyboard.press('Shift+ArrowLeft');
	check('a span selected in one is selected for both', await page.evaluate(() => window.fathomServe.axis.chosen !== null));
	const times = await page.$$eval('#chart-memory canvas, #chart-memory-1 canvas', (all) => all.map((c) => c.getAttribute('aria-label')));

	check('one cursor: both tell their figures at it', times.length === 2 && times.every((t) => / at \d/.test(t)), times.join(' | '));
	const tops = await page.evaluate(() => {
		const app = window.fathomServe,
			[ours, theirs] = [app, app.hosts.all.get(1)].map((m) => m.parts.find((p) => p.info.id === 'switches'));

		return [app.group(ours).length, app.group(theirs).length];
	});

	check('a chart has one scale on both', tops[0] === 2 && tops[1] === 2, tops.join(' '));
	await page.keyboard.press('Escape');
	await page.keyboard.press('0');
	await page.uncheck('#hosts input');
	check('a machine can be hidden', (await page.$$('#chart-cpu-1')).length === 0);
	await page.check('#hosts input');
	check('and shown again', (await page.$$('#chart-cpu-1')).length === 1);
}

async function narrow() {
	const page = await open({ viewport: { width: 375, height: 700 } });

	await both(page);
	const wide = await page.evaluate(() => document.documentElement.scrollWidth);

	check('375 pixels are enough for two', wide <= 375, String(wide));
	await page.context().close();
}

async function gone(page) {
	process.kill(Number(peer), 'SIGINT');
	await until(page, () => window.fathomServe.hosts.all.get(1).peer.state === 'gone', 30000);
	check('one that is gone is shown as gone', /gone since .*: .*tried again/.test(await page.textContent('#hosts')), await page.textContent('#hosts'));
	check('with what it has sent', await page.evaluate(() => window.fathomServe.hosts.all.get(1).frames.all.length > 2));
	const last = await page.evaluate(() => window.fathomServe.frames.last.t);

	await until(page, `window.fathomServe.frames.last.t > ${last}`, 30000);
	check('our charts go on', true);
}

try {
	const page = await open();

	await sideBySide(page);
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/serve-peers.png` });
	await oneAxis(page);
	await narrow();
	await gone(page);
	check('no problem, and nothing asked elsewhere', page.problems.length === 0, page.problems.join('; '));
} catch (error) {
	console.log(`not ok the page works: ${error.message.split('\n')[0]}`);
	console.log(error.stack);
} finally {
	await browser.close();
}
