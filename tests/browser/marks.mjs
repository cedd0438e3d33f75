// SPDX-License-Identifier: GPL-2.0-or-later
// Spans and moments on the time line: marks.mjs PLAYWRIGHT CHROMIUM FOLDER. Prints "ok NAME" or
// "not ok NAME: why". With SHOTS=FOLDER in the environment it leaves pictures there.
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

const page = await browser.newPage({ viewport: { width: 1280, height: 640 } });
const problems = [];
page.on('pageerror', (e) => problems.push(e.message));
await page.goto(pathToFileURL(`${folder}/marks.html`).href);
await until(page, () => !!window.timeline);

const [spans, moments] = await page.evaluate(() => {
	const { marks } = window.timeline.data;
	return [marks.spans.map((s) => [s.name, s.id, s.ended]), marks.moments.map((m) => m.name)];
});
check('each request is a span with its number', spans.filter(([n]) => n === 'request'),
	Array.from({ length: 20 }, (_, i) => ['request', String(i), 1]));
check('... and one did not end', spans.filter(([, , ended]) => !ended), [['unfinished', '7', 0]]);
check('marks are moments', moments.filter((m) => m === 'cache miss').length, 20);
check('so is the log of the kernel', moments.includes('the server is gone'), true);

// The middle of the fifth request: its bar is there, and says so.
const at = await page.evaluate(() => {
	const { picture, data } = window.timeline, s = data.marks.spans[4];
	const canvas = picture.painter.canvas || document.querySelector('.stage canvas');
	const box = canvas.getBoundingClientRect();
	picture.show(s.begin - 2e6, 30e6);
	window.timeline.draw();
	return [box.left + picture.x((s.begin + s.end) / 2), box.top + 26 + 2 + s.row * 16 + 8];
});
await page.mouse.move(...at);
await until(page, () => !document.querySelector('.tip').hidden);
check('the bar tells what it is', /^request 4/.test(await page.locator('.tip-name').textContent()), true);
// Each request sleeps 4 ms, unless its thread lost the CPU after the timer was set: then it is ready
// when it would begin to sleep. Whether a kind of wait is known for that is another matter.
const slept = await page.evaluate(() => {
	const { data } = window.timeline;
	return data.marks.spans.filter((s) => s.name === 'request').map((s) => {
		const did = data.didIn(data.tasks.findIndex((t) => t.tid === s.tid), s.begin, s.end);
		return did.slice(2).reduce((sum, ns) => sum + ns, 0);
	});
});
check(`where the requests were: their thread slept in them (ns: ${slept.join(' ')})`,
	slept.filter((ns) => ns > 3e6).length > 15, true);
await page.mouse.click(...at);
check('a click selects its time', await page.evaluate(() => {
	const { picture, data } = window.timeline, s = data.marks.spans[4];
	return picture.selection && picture.selection.map((t, i) => Math.abs(t - [s.begin, s.end][i]) < 1);
}), [true, true]);
if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/marks.png` });
check('no script failed', problems, []);
await browser.close();
