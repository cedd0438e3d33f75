/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small things that everything uses: elements, numbers as people read them, regular expressions. */

export const $ = (id) => document.getElementById(id);

/* Text reaches the page only as textContent and attributes: a name can never become markup. */
export function el(tag, props, ...children) {
	/* in a picture as well as in a page */
	const e = document.createElementNS("http://www.w3.org/1999/xhtml", tag);

	for (const [key, value] of Object.entries(props || {})) {
		if (value === undefined || value === null || value === false) continue;
		if (key === "text") e.textContent = value;
		else if (key === "class") e.className = value;
		else if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
		else e.setAttribute(key, value === true ? "" : value);
	}
	e.append(...children.filter((c) => c !== null && c !== undefined));
	return e;
}

/* Gives @parent these children and no others. */
export function fill(parent, ...children) {
	parent.replaceChildren(...children.filter((c) => c !== null && c !== undefined));
	return parent;
}

export const clamp = (x, low, high) => (x < low ? low : x > high ? high : x);

export const countFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });
const wholeFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function fmtCount(n) {
	return Math.abs(n) >= 1000 ? wholeFormat.format(n) : countFormat.format(n);
}

/* Three digits that matter. */
function fmtDigits(x) {
	const a = Math.abs(x);

	return x.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : 2);
}

export function fmtScaled(x, units, step) {
	let i = 0;

	for (; Math.abs(x) >= step * 0.9995 && i < units.length - 1; i++) x /= step;
	return (i ? fmtDigits(x) : fmtCount(x)) + units[i];
}

/* Whole as long as it can be read at a glance. */
export function fmtLarge(n) {
	return Math.abs(n) < 1e6 ? fmtCount(n) : fmtScaled(n / 1e6, [" M", " G", " T", " P"], 1000);
}

export function fmtNs(ns) {
	const a = Math.abs(ns);

	if (a >= 6e10) {
		const s = Math.round(a / 1e9),
			h = Math.floor(s / 3600),
			m = Math.floor(s / 60) % 60;
		const sign = ns < 0 ? "-" : "";

		return sign + (h ? h + " h " + m + " min" : m + " min " + (s % 60) + " s");
	}
	return fmtScaled(ns, [" ns", " µs", " ms", " s"], 1000);
}

export function fmtPercent(share) {
	const p = share * 100;

	if (!isFinite(p)) return "-";
	if (p !== 0 && Math.abs(p) < 0.01) return "<0.01%";
	return p.toFixed(2) + "%";
}

export function fmtSigned(share) {
	if (Math.abs(share) < 0.00005) return "0.00%";
	return (share > 0 ? "+" : "-") + fmtPercent(Math.abs(share));
}

/* Seconds since the beginning, with as many digits as a span of @span needs. */
export function fmtSeconds(s, span) {
	const digits = span === undefined ? 3 : clamp(2 - Math.floor(Math.log10(span || 1)), 0, 6);

	return s.toFixed(digits) + " s";
}

/* Like less: capital letters make it matter whether letters are capital. */
export function makeRegex(text) {
	if (!text) return { regex: null, error: null };
	try {
		return { regex: new RegExp(text, /[A-Z]/.test(text) ? "" : "i"), error: null };
	} catch (e) {
		return { regex: null, error: e.message };
	}
}

export function hashText(text) {
	let h = 2166136261;

	for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h = Math.imul(h ^ (h >>> 15), 2246822507);
	return (h ^ (h >>> 13)) >>> 0;
}

export function baseName(path) {
	return path.slice(path.lastIndexOf("/") + 1) || path;
}

/* First index in [low, high) for which @reached is true; it must stay true from there on. */
export function firstIndex(low, high, reached) {
	while (low < high) {
		const middle = (low + high) >>> 1;

		if (reached(middle)) high = middle;
		else low = middle + 1;
	}
	return low;
}

export function debounce(ms, fn) {
	let timer = 0;

	return (...args) => {
		clearTimeout(timer);
		timer = setTimeout(() => fn(...args), ms);
	};
}
