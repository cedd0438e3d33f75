// SPDX-License-Identifier: GPL-2.0-or-later
// The panel of instructions: code.mjs PLAYWRIGHT CHROMIUM FOLDER. Click a function, read its code.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , playwright, executablePath, folder] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 820 }, reducedMotion: 'reduce' });
const problems = [];

function check(name, got, wanted) {
	const same = JSON.stringify(got) === JSON.stringify(wanted);
	console.log(same ? `ok ${name}` : `not ok ${name}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}

page.on('pageerror', (e) => problems.push(e.message));
await page.goto(pathToFileURL(`${folder}/code.html`).href);
await page.waitForSelector('body.ready');

const said = JSON.parse(readFileSync(`${folder}/code.json`)),
	name = said.instructions[0].function,
	hottest = said.instructions
		.filter((i) => i.function === name)
		.reduce((a, b) => (b.percent > a.percent ? b : a));
const box = await page.evaluate((wanted) => {
	const { picture, canvas } = window.fathom.app.view,
		names = window.fathom.model.frames.names,
		t = picture.tree,
		stack = [0];
	let best = -1;
	while (stack.length) {
		const v = stack.pop();
		if (names[t.frame[v]] === wanted && (best < 0 || t.lay[v] > t.lay[best])) best = v;
		t.children(v);
		stack.push(...t.kids.subarray(t.lo, t.hi));
	}
	const b = picture.boxOf(best),
		c = canvas.getBoundingClientRect();
	return [c.left + b.x + b.w / 2, c.top + b.y + b.h / 2, c.right];
}, name);
await page.mouse.click(box[0], box[1]);
await page.waitForSelector('#code .instructions tr.hot');
check('the panel names the function', await page.textContent('#code h2'), name);
const shown = await page.evaluate(() =>
	[...document.querySelectorAll('#code .instructions tr')]
		.filter((r) => r.querySelector('.address'))
		.map((r) => [r.querySelector('.share').textContent, r.querySelector('.address').textContent])
);
check('it has all instructions', shown.length, said.instructions.filter((i) => i.function === name).length);
check('and the share of the hottest', shown.find((r) => parseInt(r[1], 16) === Number(hottest.address))[0],
	hottest.percent.toFixed(2) + '%');
check('hot source lines come first', (await page.locator('#code .lines tr').count()) > 0, true);
const panel = await page.locator('#code').boundingBox();
check('it stands beside the picture', panel.x >= box[2] - 1, true);
check('nothing of a name runs', await page.evaluate(() => window.owned), undefined);
check('no error', problems, []);
await browser.close();
