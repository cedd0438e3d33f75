// SPDX-License-Identifier: GPL-2.0-or-later
// Drives the scheduler's time line in a browser: timeline.mjs PLAYWRIGHT CHROMIUM FOLDER. Prints
// "ok NAME" or "not ok NAME: why". With SHOTS=FOLDER in the environment it leaves pictures there.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { faults, inks } from './heading.mjs';
import { worst } from './contrast.mjs';
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

async function open(file, colorScheme = 'light') {
	const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme });

	page.problems = [];
	page.on('pageerror', (e) => page.problems.push(e.message));
	page.on('console', (m) => m.type() === 'error' && page.problems.push(m.text()));
	await page.goto(pathToFileURL(`${folder}/${file}`).href);
	await until(page, () => window.timeline && window.timeline.info.textContent !== '');
	return page;
}

async function shot(page, name) {
	if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png` });
}

const info = (page) => page.evaluate(() => window.timeline.info.textContent);
const seen = (page) =>
	page.evaluate(() => {
		const { a, b, chosen, selection, wakesShown, scroll } = window.timeline.picture;

		return { a, b, chosen, selection, wakesShown, scroll };
	});

// ns by task: of what runs and waits
function sums(stretches) {
	const by = new Map();

	for (const s of stretches) {
		const name = `${s.comm} ${s.tid}`;

		by.set(name, (by.get(name) || 0) + s.duration_ns);
	}
	return [...by].sort((x, y) => y[1] - x[1]);
}

// What is in the page, by task.
const inPage = (page) =>
	page.evaluate(() => {
		const by = {};

		for (const t of window.timeline.data.tasks)
			if (t.time[0] + t.time[1]) by[t.name] = (by[t.name] || 0) + t.time[0] + t.time[1];
		return by;
	});

/*
 * Each pixel of each CPU's lane against the truth of --json: how much of its time somebody ran
 * there. The colours of tasks differ, so the share is read from how far the pixel is from the
 * background towards the colour that its tasks would mix to.
 */
async function density(page, stretches, start) {
	const runs = stretches
		.filter((s) => s.what === 'runs')
		.map((s) => [Math.round((Number(s.begin_s) - start) * 1e9), s.duration_ns, s.cpu, `${s.comm} ${s.tid}`]);

	return page.evaluate((list) => {
		const { picture, data } = window.timeline,
			{ painter } = picture,
			ids = new Map(data.tasks.map((t, i) => [t.name, i])),
			rgb = (c) => c.startsWith('#') ? [1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16)) : c.match(/\d+/g).map(Number),
			back = rgb(picture.faint),
			width = Math.floor(picture.width),
			out = { pixels: 0, wrong: 0, worst: 0, truth: 0, drawn: 0 };

		for (let cpu = 0; cpu < data.cpus; cpu++) {
			const truth = new Float64Array(width + 2),
				mix = new Float64Array((width + 2) * 3);

			for (const [begin, span, on, name] of list) {
				if (on !== cpu) continue;
				const c = rgb(picture.colorOf(ids.get(name))),
					x0 = picture.x(begin) - 170,
					x1 = picture.x(begin + span) - 170;

				for (let x = Math.max(0, Math.floor(x0)); x < x1 && x < width; x++) {
					const part = Math.min(x1, x + 1) - Math.max(x0, x);

					truth[x] += part;
					for (let k = 0; k < 3; k++) mix[x * 3 + k] += c[k] * part;
				}
			}
			// a line of the lane without letters
			const y = Math.round(picture.laneTop(cpu)) + 2,
				row = painter.context.getImageData(170, y, width, 1).data;

			for (let x = 0; x < width; x++) {
				const part = Math.min(1, truth[x]);
				let off = 0;

				for (let k = 0; k < 3; k++) {
					const wanted = back[k] * (1 - part) + mix[x * 3 + k] / Math.max(1, truth[x]);

					off = Math.max(off, Math.abs(wanted - row[x * 4 + k]));
				}
				out.pixels++;
				out.wrong += off > 3;
				out.worst = Math.max(out.worst, off);
				out.truth += part;
			}
		}
		out.share = out.truth / out.pixels;
		return out;
	}, runs);
}

/* The reader of a pipe waits for that, and its row has the colour of it. */
async function kinds(page, file) {
	const got = await page.evaluate(() => {
		const { data, picture } = window.timeline,
			reader = data.tasks.findIndex((t) => t.comm === 'reader'),
			pipe = data.words.indexOf('waiting for a pipe or queue'),
			{ time } = data.tasks[reader],
			blocked = time.reduce((sum, ns, d) => (d < 2 ? sum : sum + ns), 0),
			wanted = picture.states[pipe].match(/\d+/g).map(Number),
			y = Math.round(picture.taskTop(data.rows.indexOf(reader)) + 4 + picture.scroll);

		const list = data.ofTask[reader],
			from = data.begin(list[0]);

		picture.show(from, data.end(list[list.length - 1]) - from);
		picture.scrollBy(Math.max(0, y - 500));
		picture.draw();
		const line = picture.painter.context.getImageData(170, y - picture.scroll, picture.width, 1).data;
		let same = 0;

		for (let x = 0; x < picture.width; x++)
			same += wanted.every((c, k) => Math.abs(c - line[x * 4 + k]) < 30);
		picture.scrollBy(-1e9);
		window.timeline.reset();
		return {
			share: time[pipe] / blocked,
			ofRow: time[pipe] / (data.end(list[list.length - 1]) - from),
			same: same / picture.width,
		};
	});

	check(`${file}: the wait of a reader is for its pipe (${(100 * got.share).toFixed(0)}%)`, got.share > 0.9, true);
	check(`${file}: ... and coloured so (${(100 * got.same).toFixed(0)}% of its row, ${(100 * got.ofRow).toFixed(0)}% of its time)`,
		got.same > 0.8 * got.ofRow, true);
}

for (const [file, json] of [
	['whole.html', 'whole'],
	['part.svg', 'part'],
]) {
	const page = await open(file),
		stretches = told(json),
		wanted = sums(stretches),
		sorted = (entries) => entries.sort((x, y) => (x[0] < y[0] ? -1 : 1));

	check(`${file}: every task's time is in it`, sorted(Object.entries(await inPage(page))), sorted([...wanted]));
	check(
		`${file}: the busiest task is the first row`,
		await page.evaluate(() => {
			const { data } = window.timeline,
				t = data.tasks[data.rows[0]];

			return t.time[0] + t.time[1];
		}),
		wanted[0][1]
	);
	const start = await page.evaluate(() => window.timelineData.start),
		dense = await density(page, stretches, start);

	check(`${file}: each of ${dense.pixels} pixels is as dense as the truth (worst off by ${dense.worst.toFixed(1)})`, dense.wrong, 0);
	check(`${file}: the CPUs were busy (${(100 * dense.share).toFixed(0)}%)`, dense.share > 0.3, true);
	await kinds(page, file);
	await details(page, file);
	await shot(page, file);

	// Zoom until wake-ups are drawn, as long as it takes.
	const all = await info(page);

	await page.mouse.move(700, 140);
	await page.mouse.wheel(0, -100);
	await until(page, () => window.timeline.picture.b - window.timeline.picture.a < window.timeline.data.length);
	check(`${file}: the wheel zooms`, (await info(page)) !== all, true);
	for (let i = 0; i < 40 && !(await seen(page)).wakesShown; i++) await page.mouse.wheel(0, -200);
	check(`${file}: arrows where they fit`, (await seen(page)).wakesShown > 0, true);
	const zoomed = await density(page, stretches, start);

	check(`${file}: zoomed, each pixel is as dense as the truth (worst off by ${zoomed.worst.toFixed(1)})`, zoomed.wrong, 0);
	await shot(page, `${file}-zoomed`);
	await page.keyboard.press('Escape');
	check(`${file}: Esc shows all again`, await info(page), all);

	// A tooltip is beside the pointer.
	await page.mouse.move(600, 100);
	await until(page, () => !document.querySelector('.tip').hidden);
	const tip = await page.evaluate(() => document.querySelector('.tip').getBoundingClientRect().toJSON());

	check(`${file}: the tooltip is beside the pointer`, Math.abs(tip.left - 616) < 3 && Math.abs(tip.top - 118) < 3, true);

	// A click on a row chooses its task, and offers its flame graph.
	await page.mouse.click(60, 215);
	check(`${file}: a task is chosen`, (await seen(page)).chosen >= 0, true);
	check(
		`${file}: ... and its flame graph is offered`,
		/--tid \d+ -o span.html/.test(await page.evaluate(() => window.timeline.command())),
		true
	);
	await page.keyboard.down('Shift');
	await page.mouse.move(400, 300);
	await page.mouse.down();
	await page.mouse.move(600, 300, { steps: 4 });
	await page.mouse.up();
	await page.keyboard.up('Shift');
	const { selection } = await seen(page),
		command = await page.evaluate(() => window.timeline.command());

	check(`${file}: shift and drag select a span`, !!selection && selection[1] > selection[0], true);
	check(
		`${file}: ... whose flame graph is a command away`,
		/^fathom flame -i sched.data --time [\d.]+,[\d.]+ --tid \d+ -o span.html$/.test(command),
		true
	);
	await page.keyboard.press('Escape');
	check(`${file}: Esc forgets both`, await page.evaluate(() => [window.timeline.picture.chosen, window.timeline.picture.selection]), [-1, null]);

	// Search tells how much of the CPU time it found.
	await page.keyboard.press('/');
	await page.keyboard.type('block');
	await until(page, () => /tasks, .*%/.test(document.getElementById('matched').textContent));
	check(
		`${file}: the search marks tasks`,
		await page.evaluate(() => window.timeline.picture.matches.filter(Boolean).length > 0),
		true
	);
	await page.keyboard.press('Escape');
	const legend = await page.locator('#legend .key').allTextContents();

	check(
		`${file}: the legend names what tasks do and wait for`,
		['runs', 'wants a CPU', 'waiting for a pipe or queue', '↓ wakes'].filter((words) => !legend.includes(words)),
		[]
	);
	check(`${file}: ... all of it in sight`, await page.evaluate(() => innerWidth >= document.getElementById('legend').getBoundingClientRect().right), true);
	const whole = await page.evaluate(() => {
		const { picture, data } = window.timeline;

		picture.chosen = data.tasks.findIndex((t) => t.comm === 'reader');
		picture.selection = [0, data.length];
		return window.timeline.command();
	});

	execFileSync(process.env.FATHOM, whole.split(' ').slice(1), { cwd: folder, stdio: 'pipe' });
	check(`${file}: ... and that command draws it`, existsSync(`${folder}/span.html`), true);
	rmSync(`${folder}/span.html`);
	await page.keyboard.press('?');
	check(`${file}: ? explains the picture`, await page.evaluate(() => !document.querySelector('.sheet').hidden), true);
	check(`${file}: no complaint`, page.problems, []);
	await page.close();
}
/* A click on a wait says what it is, and its waker; a button leads there. */
async function details(page, file) {
	const at = await page.evaluate(() => {
		const { data, picture } = window.timeline,
			reader = data.tasks.findIndex((t) => t.comm === 'reader'),
			pipe = data.words.indexOf('waiting for a pipe or queue'),
			waits = [...data.ofTask[reader]].filter((i) => data.does(i) === pipe && window.timeline.wakeOf(i)),
			longest = waits.reduce((a, i) => (data.span(i) > data.span(a) ? i : a), waits[0]),
			row = data.rows.indexOf(reader);

		picture.show(data.begin(longest) - data.span(longest) / 2, 2 * data.span(longest));
		picture.reveal(row);
		window.timeline.draw();
		const box = document.querySelector('.stage canvas').getBoundingClientRect();

		return [box.left + picture.x(data.begin(longest) + data.span(longest) / 2), box.top + picture.taskTop(row) + 10];
	});
	const words = await page.evaluate(() => {
		const { painter } = window.timeline.picture,
			said = [],
			{ text } = painter;

		painter.text = function (...a) {
			said.push(a[0]);
			return text.apply(this, a);
		};
		window.timeline.draw();
		delete painter.text;
		return said.includes('waiting for a pipe or queue');
	});

	check(`${file}: a wait that has room for it says what it is`, words, true);
	await page.mouse.click(...at);
	check(
		`${file}: a click on it says how long it was`,
		/waiting for a pipe or queue [\d.]+ (ms|s)/.test(await page.evaluate(() => document.querySelector('.picked').textContent)),
		true
	);
	check(`${file}: ... and its waker`, /^woken by writer \d+$/.test(await page.locator('#waker').textContent()), true);
	await page.locator('#waker').click();
	check(
		`${file}: ... which is one click away`,
		await page.evaluate(() => window.timeline.data.tasks[window.timeline.picture.chosen].comm),
		'writer'
	);
	await page.keyboard.press('Escape');
	await page.evaluate(() => {
		window.timeline.picture.scrollBy(-1e9);
		window.timeline.draw();
	});
}

/* The chart of perf timechart has the look of the other pictures. */
async function chart(width, colorScheme) {
	const page = await browser.newPage({ viewport: { width, height: 700 }, colorScheme }),
		where = `the chart in ${width} pixels, ${colorScheme}`,
		problems = [];

	page.on('pageerror', (e) => problems.push(e.message));
	await page.goto(pathToFileURL(`${folder}/chart.svg`).href);
	check(`${where}: the heading is whole, the picture fits`, await faults(page), []);
	check(`${where}: the heading can be read`, worst(await inks(page)) >= 4.5, true);
	await page.keyboard.press('/');
	await page.keyboard.type('^' + (await page.locator('.row').last().textContent()) + '$');
	check(`${where}: the search finds a task`, /^1 of /.test(await page.locator('.matched').textContent()), true);
	await page.keyboard.press('Escape');
	await page.keyboard.press('?');
	check(`${where}: ? explains it`, await page.locator('.sheet dt').count(), 3);
	check(`${where}: no complaint`, problems, []);
	await page.close();
}

for (const [width, scheme] of [[375, 'light'], [375, 'dark'], [1280, 'light']]) await chart(width, scheme);

const dark = await open('whole.html', 'dark');

check('dark where the system is', await dark.evaluate(() => document.documentElement.dataset.theme), 'dark');
await shot(dark, 'dark');
await dark.close();
await browser.close();
