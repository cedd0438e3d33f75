// SPDX-License-Identifier: GPL-2.0-or-later
// Waits until a function of the page is true. playwright's own way needs eval() in some versions,
// which the pages' security policy rightly refuses.
export async function until(page, condition, most = 30000) {
	for (const end = Date.now() + most; Date.now() < end; await page.waitForTimeout(20))
		if (await page.evaluate(condition)) return;
	throw new Error('in vain: ' + condition);
}
