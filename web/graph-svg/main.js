// SPDX-License-Identifier: GPL-2.0-or-later
// A graph that is wider than the window opens on its root, and the words above it stay in sight.
function main() {
	const svg = document.documentElement;

	// part of another page: that page scrolls
	if (svg !== document.currentScript.ownerSVGElement || window !== window.top)
		return;
	const head = document.getElementById("head");
	const follow = () => head.setAttribute("transform", `translate(${scrollX})`);

	addEventListener("scroll", follow);
	if (!scrollX)
		scrollTo(+svg.dataset.root - innerWidth / 2, 0);
	follow();
}

main();
