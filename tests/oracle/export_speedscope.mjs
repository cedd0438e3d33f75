// SPDX-License-Identifier: GPL-2.0-or-later
// Opens a profile in speedscope's own page: export_speedscope.mjs PLAYWRIGHT CHROMIUM PAGE PROFILE
// SCRATCH FUNCTIONS. Waits for this many functions; prints "profile NAME", then "function TOTAL SELF
// NAME" for each line of its sandwich view, or what it complains about.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , playwright, executablePath, index, profile, scratch, functions] = process.argv;
const { chromium } = (await import(pathToFileURL(playwright).href)).default;
const browser = await chromium.launch({
	executablePath,
	args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});
const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
const said = [];

page.on('pageerror', (e) => said.push('error: ' + e.message));
page.on('dialog', (d) => {
	said.push('dialog: ' + d.message());
	d.dismiss();
});
// as its command line does it: a script that hands the file over
const text = fs.readFileSync(profile).toString('base64');
fs.writeFileSync(scratch, `speedscope.loadFileFromBase64("profile.json", "${text}")`);
await page.goto(pathToFileURL(index).href + '#localProfilePath=' + scratch);
try {
	await page.getByText('Sandwich').click({ timeout: 30000 });
	// other tables are the list of profiles and the head
	const rows = page.locator('table').last().locator('tr');

	await rows.nth(functions - 1).waitFor({ timeout: 30000 });
	console.log('profile ' + (await page.title()));
	for (const row of await rows.all())
		console.log(
			'function ' +
				(await row.locator('td').allInnerTexts()).map((c) => c.trim()).join(' ')
		);
} catch (e) {
	said.push('error: ' + e.message.split('\n')[0]);
}
for (const line of said) console.log(line);
await browser.close();
