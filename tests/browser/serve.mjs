// SPDX-License-Identifier: GPL-2.0-or-later
// Drives the page of fathom serve: serve.mjs PLAYWRIGHT CHROMIUM FOLDER ADDRESS VIEW-ADDRESS WORKLOADS PROGRAM-ADDRESS.
// Prints "ok NAME" or "not ok NAME: why". With SHOTS=FOLDER in the environment it leaves pictures there.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
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
	await page.evaluate(() => {
		const app = window.fathomServe,
			take = app.takeFrame.bind(app);

		app.came = [];
		app.takeFrame = (frame) => {
			take(frame);
			app.came.push([Date.now(), frame]);
		};
	});
	const burn = start('burn', '--seconds', '120', 'a=70', 'b=30'),
		began = Date.now(),
		// where four wait for each CPU, a second is not enough to begin anything
		late = (ms) => (ms <= 2000 || loadavg()[0] > 4 * cpus().length ? '' : `${ms} ms`);

	await until(page, `window.fathomServe.came.some(([, frame]) => frame.p.some((row) => row[0] === ${burn.pid}))`, 15000);
	const [seen, frames, cpu] = await page.evaluate(([pid, from]) => {
		const app = window.fathomServe,
			[when, frame] = app.came.find(([, f]) => f.p.some((row) => row[0] === pid));

		return [when, app.came.filter(([, f]) => f.t > from && f.t <= frame.t).length, app.parts.find((p) => p.info.id === 'cpu').values(frame)];
	}, [burn.pid, began]);

	console.log(`seen after ${seen - began} ms, in frame ${frames}`);
	check('a workload is in the list of processes within 2 s', frames <= 2 + (loadavg()[0] > 4 * cpus().length) && !late(seen - began), `${seen - began} ms, frame ${frames}`);
	check('and in the chart of CPU time', cpu.user + cpu.nice > 10, JSON.stringify(cpu));
	check('its row can be read', await until(page, `[...document.querySelectorAll('#chart-processes tbody tr')].some((row) =>
		Number(row.querySelector('button').textContent) === ${burn.pid}) || window.fathomServe.frames.last.p.findIndex((row) => row[0] === ${burn.pid}) >= 12`)
		.then(() => true));
	const wrote = Date.now(),
		file = `${folder}/much`,
		fd = openSync(file, 'w');

	for (let i = 0; i < 32; i++) writeSync(fd, Buffer.alloc(1 << 20, i));
	fsyncSync(fd);
	closeSync(fd);
	unlinkSync(file);
	const synced = Date.now();

	await until(page, `(() => {
		const app = window.fathomServe, disk = app.parts.find((p) => p.info.id === 'disk');

		app.sawDisk = app.came.find(([when, frame]) => frame.t > ${wrote} && disk.values(frame).written > 4e6);
		return app.sawDisk;
	})() !== undefined`);
	const after = (await page.evaluate(() => window.fathomServe.sawDisk[0])) - synced;

	check('what is written is in the chart of disks within 2 s', !late(after), late(after));
	await page.hover('#chart-cpu .legend span');
	await until(page, `(() => {
		const app = window.fathomServe, latency = app.parts.find((p) => p.info.id === 'latency');

		return app.came.some(([, frame]) => frame.t > ${wrote} && Object.keys(latency.values(frame)).length > 0) && !latency.root.hidden;
	})()`);
	const slow = await page.getAttribute('#chart-latency canvas', 'aria-label');

	check('requests to disks are there by their time', /^Requests by their time/.test(slow), slow);
	const units = await page.$$eval('#charts h3 .unit', (all) => all.map((e) => e.textContent));

	check('every chart has its unit', units.length > 12 && units.every((u) => u), units.join('|'));
	check('a line says what it means', /Share of time in user mode/.test(await page.textContent('#hover')), await page.textContent('#hover'));
	await page.mouse.move(5, 5);
	return burn;
}

// The flame graph of a span of the past, begun by @ask on it. Where there is no CPU to spare, the
// recorder of the past is late: then another span is tried.
async function pastPicture(page, ask) {
	for (let tries = 0; ; tries++) {
		await page.evaluate(() => (window.fathomServe.results.shown = null));
		await drag(page, 'cpu', 5000, 1500);
		await ask();
		await until(page, () => ['done', 'failed'].includes(window.fathomServe.results.jobs.get(window.fathomServe.results.shown)?.state), 60000);
		const error = await page.evaluate(() => window.fathomServe.results.jobs.get(window.fathomServe.results.shown).error);

		if (tries === 10 || !/^no stack of that time/.test(error || '')) return viewer(page);
		await page.click('#tab-charts');
		await page.keyboard.press('Escape');
		await page.keyboard.press('0');
		await page.waitForTimeout(5000);
	}
}

async function past(page) {
	// the flight recorder runs since the page is open: wait until it has some seconds of the workload
	await page.waitForTimeout(6000);
	let selected;
	const names = await frameNames(await pastPicture(page, async () => {
		selected = await page.evaluate(() => window.fathomServe.axis.chosen);
		await shot(page, 'serve');
		await page.click('#past');
	}));

	check('a drag selects a span', selected !== null);
	check('the flame graph of the past span has the workload', /^a$/m.test(names), names.slice(0, 200));
	const job = await page.evaluate(() => window.fathomServe.results.jobs.get(window.fathomServe.results.shown)),
		length = await (await viewer(page)).evaluate(() => {
			const { time } = window.fathom.model.samples;

			return time.reduce((a, b) => Math.max(a, b), 0) - time.reduce((a, b) => Math.min(a, b), Infinity);
		});

	check('it is of the selected span', Math.abs(job.from - selected[0]) <= 1 && Math.abs(job.to - selected[1]) <= 1, JSON.stringify([job, selected]));
	check('and has no more than that', length > 0 && length / 1e6 <= selected[1] - selected[0] + 1, `${length}`);
	await shot(page, 'serve-flame');
}

// Off-CPU time of a past span, by its key.
async function pastOffcpu(page) {
	const chain = start('chain', '--count', '100000');

	await page.click('#tab-charts');
	await page.keyboard.press('Escape');
	await page.keyboard.press('0');
	await pass(page, 7000);
	const names = await frameNames(await pastPicture(page, () => page.keyboard.press('o')));

	check('off-CPU time of a past span has who waited', /^a_waits_for_b$/m.test(names), names.slice(0, 300));
	await page.selectOption('#target', 'process');
	await page.fill('#whose', String(chain.pid));
	await record(page, 'offcpu', /^b_waits_for_c$/m);
	await record(page, 'chain', /^c_wakes_b$/m);
	await page.selectOption('#target', 'machine');
	chain.kill('SIGKILL');
}

async function timeline(page) {
	await page.selectOption('#kind', 'sched');
	await page.fill('#seconds', '1');
	await page.evaluate(() => document.querySelector('#result iframe')?.remove());
	await page.click('#record');
	await until(page, () => document.querySelector('#result iframe') !== null || document.querySelector('#result .bad') !== null, 60000);
	const frame = await (await page.$('#result iframe')).contentFrame();

	await until(frame, () => window.timeline !== undefined && window.timeline.data.length > 0);
	check('record sched', /burn/.test(await frame.evaluate(() => JSON.stringify(window.timeline.data.tasks || window.timeline.data).slice(0, 1e6))));
	await page.selectOption('#kind', 'oncpu');
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
	await pass(page, 3000);
	await drag(page, 'cpu', 6000, 4500);
	await page.evaluate(() => document.querySelector('#result iframe')?.remove());
	await page.keyboard.press('f');
	check('what was over before anybody asked is in the graph of its span', /^a$/m.test(await frameNames(await viewer(page))));
	await page.click('#tab-charts');
	await page.keyboard.press('Escape');
	await page.keyboard.press('0');
	await pass(page, 3000);
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
	await page.evaluate(() => document.getElementById('result').replaceChildren());
	await page.click('#record');
	// before its end it may be another frame
	await until(page, () => document.querySelector('#result .actions, #result .bad') !== null, 60000).catch(async (e) => {
		throw new Error(`record ${kind}: ` + await page.evaluate(() => [document.getElementById('state').textContent, document.getElementById('result').textContent,
			...[...window.fathomServe.results.jobs.values()].map((j) => j.job + j.kind + j.state)].join('; ').slice(0, 600)) + e.message);
	});
	const names = await frameNames(await viewer(page));

	check(`record ${kind}`, wanted.test(names), names.slice(0, 300));
}

// A recording is seen while it continues; what is chosen in it stays.
async function growing(page) {
	const burn = start('burn', '--seconds', '60', 'a=60', 'b=40');

	await page.click('#tab-charts');
	await page.selectOption('#target', 'process');
	await page.fill('#whose', String(burn.pid));
	await page.selectOption('#kind', 'oncpu');
	await page.fill('#seconds', '30');
	await page.evaluate(() => document.querySelector('#result iframe')?.remove());
	await page.click('#record');
	const frame = await viewer(page),
		samples = () => frame.evaluate(() => window.fathom.model.samples.n),
		jobState = () => page.evaluate(() => window.fathomServe.results.jobs.get(window.fathomServe.results.shown).state);
	const first = await samples();

	check('a recording is seen while it goes on', (await jobState()) === 'recording', await jobState());
	await until(frame, () => {
		const { app, model } = window.fathom,
			tree = app.shownTree();
		let found = 0;

		for (const nodes = [0]; nodes.length && !found; ) {
			const v = nodes.pop();

			if (model.frames.names[tree.frame[v]] === 'b') found = v;
			tree.children(v);
			nodes.push(...tree.kids.slice(tree.lo, tree.hi));
		}
		if (!found) return false;
		app.view.zoomTo(found);
		app.store.set({ search: 'burn' });
		return true;
	});
	const zoomed = () => frame.evaluate(() => {
		const { app } = window.fathom;

		return [app.state.zoom.map((f) => app.model.frames.names[f]).join(';'), app.model.frames.names[app.shownTree().frame[app.view.picture.zoomed]],
			app.state.search].join(' ');
	});
	const before = await zoomed();

	check('it can be zoomed', / b burn$/.test(before), before);
	await until(frame, `window.fathom.grown >= 2 && window.fathom.model.samples.n > ${first}`, 60000);
	check('it grows', (await samples()) > first, `${first} ${await samples()}`);
	check('the zoom and the search stay', (await zoomed()) === before, await zoomed());
	const sofar = await samples();

	await page.evaluate(() => document.querySelector('#result button').click());
	await until(page, () => document.querySelector('#result .actions') !== null, 60000);
	check('at the end it is the same page', (await page.$$('#result iframe')).length === 1 && (await zoomed()) === before, await zoomed());
	check('with all of it', (await samples()) >= sofar);
	burn.kill('SIGKILL');
	await page.selectOption('#target', 'machine');
	await page.fill('#seconds', '2');
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
	await page.evaluate(() => document.getElementById('result').replaceChildren());
	await page.click('#record');
	await until(page, () => document.querySelector('#result .actions, #result .bad') !== null, 60000);
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
	check('a chart tells its figures', /CPU by mode at .*user/.test(await page.getAttribute('#chart-cpu canvas', 'aria-label')));
}

// What a screen reader is told, by the browser's own tree.
async function named(page, where) {
	const session = await page.context().newCDPSession(page),
		{ nodes } = await session.send('Accessibility.getFullAXTree');
	const used = nodes.filter((n) => !n.ignored && /^(button|textbox|searchbox|combobox|checkbox|spinbutton|tab|img|image|canvas|link|slider|dialog|Iframe|columnheader)$/.test(n.role?.value)),
		without = used.filter((n) => !(n.name?.value || '').trim());

	check(`all that can be used has a name: ${where}`, used.length > 5 && without.length === 0,
		`${used.length} of which ` + without.map((n) => n.role.value + JSON.stringify(n.properties || [])).join(' ').slice(0, 300));
	check(`there are landmarks and a status: ${where}`, ['tablist', 'status', 'heading'].every((role) => nodes.some((n) => n.role?.value === role)));
	await session.detach();
}

// A fresh page, and no mouse at all.
async function keysOnly() {
	const page = await open(address),
		focused = (selector) => page.evaluate((s) => document.activeElement?.matches(s), selector),
		tabTo = async (selector) => {
			for (let i = 0; i < 200; i++) {
				if (await focused(selector)) return true;
				await page.keyboard.press('Tab');
			}
			return false;
		};

	await until(page, () => window.fathomServe.frames.all.length >= 5, 60000);
	check('Tab leads to a chart', await tabTo('#chart-cpu canvas'));
	await page.keyboard.press('Enter');
	check('Enter tells what the first line means', /^user = .*Share of time in user mode/.test(await page.textContent('#hover')), await page.textContent('#hover'));
	check('to a screen reader, too', (await page.getAttribute('#chart-cpu canvas', 'aria-describedby')) === 'hover');
	await page.keyboard.press('Enter');
	check('and Enter again the next', /^nice = /.test(await page.textContent('#hover')), await page.textContent('#hover'));
	await page.keyboard.press('Escape');
	check('Escape ends that', await page.evaluate(() => document.getElementById('hover').hidden));
	check('where the focus can be seen', await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== 'none'));
	for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowLeft');
	await page.keyboard.press('f');
	check('keys alone lead from a chart to the flame graph of a span', (await frameNames(await viewer(page))).length > 0);
	check('Tab leads into the graph', await tabTo('#result iframe'));
	await page.keyboard.press('3');
	if (!(await page.evaluate(() => !document.getElementById('tools').hidden))) {
		// keys are those of the viewer while it has the focus
		await page.focus('#tab-tools');
		await page.keyboard.press('Enter');
	}
	await page.waitForSelector('.tool[data-tool="syscount"]');
	check('Tab leads to the search for a tool', await tabTo('#tool-find'));
	await page.keyboard.type('syscount');
	check('which leaves that one', (await page.$$('.tool:not([hidden])')).length === 1);
	check('and Tab to the tool', await tabTo('.tool[data-tool="syscount"]'));
	await page.keyboard.press('Enter');
	check('and to its form', await tabTo('#tool-seconds'));
	await page.keyboard.press('Control+a');
	await page.keyboard.type('1');
	await page.keyboard.press('Enter');
	await until(page, () => document.querySelector('#result td') !== null || document.querySelector('#result .bad') !== null, 60000);
	check('keys alone run a tool', (await page.$$('#result tbody tr')).length > 2, await page.textContent('#result'));
	check('and sort its table', (await tabTo('#result th button')) && (await page.keyboard.press('Enter'), true));
	check('no problem by keys', page.problems.length === 0, page.problems.join('; '));
	await page.context().close();
}

// The clock of the machine is set back: a frame that is earlier than those that are there.
async function clock(page) {
	await page.click('#tab-charts');
	await page.keyboard.press('Escape');
	await page.keyboard.press('0');
	await pass(page, 8000);
	const before = await page.evaluate(() => {
		const app = window.fathomServe,
			{ all, last } = app.frames, n = all.length;

		// as a drag does; but no second passes between the two
		app.axis.end = last.t;
		app.axis.choose(last.t - 3000, last.t - 1000);
		app.takeFrame({ ...last, t: last.t - 5000 });
		return [n, app.frames.all.length];
	});

	check('a clock that is set back leaves the time before', before[1] < before[0] && before[1] > before[0] - 9, before.join(' '));
	check('the page says so', /set back by 5 s/.test(await page.textContent('#state')), await page.textContent('#state'));
	check('nothing is selected of a time that is not there', await page.evaluate(() => window.fathomServe.axis.chosen === null && window.fathomServe.axis.live));
	await pass(page, 1500);
	check('frames stay in order', await page.evaluate(() => window.fathomServe.frames.all.every((f, i, all) => !i || f.t > all[i - 1].t)));
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
	await page.click('#tab-tools');
	await page.click('.tool[data-tool="profile"]');
	await page.fill('#tool-seconds', '2');
	await page.click('#toolform button[type=submit]');
	const frame = await viewer(page);

	check('a tool whose rows have stacks gives a flame graph', /^burn$|^work$/m.test(await frameNames(frame)), (await frameNames(frame)).slice(0, 300));
	check('above its rows', (await page.$$('#result .outcome tbody tr')).length > 1);
	await shot(page, 'serve-tool-flame');
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
	const colors = () => page.evaluate(() => {
		const canvas = document.querySelector('#result canvas.heatmap'),
			bytes = canvas.getContext('2d').getImageData(80, 0, canvas.width - 80, canvas.height - 16).data;

		return new Set(Array.from({ length: bytes.length / 4 }, (_, i) => bytes.slice(i * 4, i * 4 + 4).join())).size;
	});

	check('with more than one colour', (await colors()) > 2, String(await colors()));
	check('and the histogram of its last second', (await page.$$('#result table[aria-label="histogram"] tr')).length > 1);
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
	await narrow.click('#tab-results');
	await narrow.evaluate(() => window.fathomServe.results.open([...window.fathomServe.results.jobs.values()].find((j) => j.kind === 'oncpu' && j.state === 'done').job));
	const inside = await viewer(narrow);

	check('and for a flame graph', (await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 375 &&
		(await inside.evaluate(() => document.documentElement.scrollWidth <= innerWidth)));
	await shot(narrow, 'serve-narrow-flame');
	await narrow.click('#tab-tools');
	await narrow.waitForSelector('.tool[data-tool="syscount"]');
	await narrow.click('.tool[data-tool="syscount"]');
	check('and for a form', (await narrow.evaluate(() => document.documentElement.scrollWidth)) <= 375);
	await shot(narrow, 'serve-narrow-tools');
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
	await pastOffcpu(page);
	await timeline(page);
	await record(page, 'hotcold', /^a$/m);
	await record(page, 'oncpu', /^a$/m);
	await diff(page);
	await pastDiff(page);
	await growing(page);
	await hostile(page);
	await keyboard(page);
	await named(page, 'charts');
	await clock(page);
	await tool(page);
	await named(page, 'a table');
	await page.click('#tab-tools');
	await named(page, 'a form');
	await heatmap(page);
	await named(page, 'a heat map');
	check('the state is in the address', /job=\d+/.test(page.url()), page.url());
	check('no problem, and nothing asked elsewhere', page.problems.length === 0, page.problems.join('; '));
	await keysOnly();
	await others();
	await program();
} catch (error) {
	console.log(`not ok the page works: ${error.message.split('\n')[0]}`);
	console.log(error.stack);
} finally {
	for (const child of children) child.kill('SIGKILL');
	await browser.close();
}
