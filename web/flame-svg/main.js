// SPDX-License-Identifier: GPL-2.0-or-later
// Zoom, search and keyboard for the flame graph that this script is in. Without it the
// picture is complete; nothing here draws what is not there.
import { barButton, Heading, HEAD_LINE, htmlElement } from "../svg/head.js";
import { makeSheet } from "../svg/sheet.js";

const script = document.currentScript;
const svg = script && script.ownerSVGElement || document.documentElement;
const data = svg.dataset;
const PAD = +data.pad, ROW = +data.row, CHAR = +data.char, FILE_WIDTH = +data.width;
const INVERTED = data.inverted === '1', FLUID = data.fluid === '1';
const SVG = 'http://www.w3.org/2000/svg';
const head = svg.querySelector('#head'), details = svg.querySelector('#details');
let frames = svg.querySelector('#frames'), other = svg.querySelector('#whole');
const SAME = 0.98; // of a box: what leads on without a fork
const LABEL_LEAST = 6;
const CONTROLS = 460; // pixels
const FILLS = FLUID && svg === document.documentElement; // the window, alone
let boxes = [], indexes = new Map();
let width = FILE_WIDTH, zoomed = 0, current = 0, matches = [], at = -1, pattern = '';
let ignoreCase = false, ui = null, lower = 0;

// --- the boxes, as they are in the file ---------------------------------------------

function read() {
	boxes = [];
	indexes = new Map();
	const open = [];
	let root = null;
	for (const g of frames.children) {
		const rect = g.querySelector('rect'), y = +rect.getAttribute('y');
		root = root === null ? y : root;
		const title = g.querySelector('title').textContent;
		const box = {
			g, rect, text: g.querySelector('text'), title,
			name: title.replace(/ \([^()]*\)$/, ''),
			x: +rect.getAttribute('x') - PAD, w: +rect.getAttribute('width'),
			y, depth: Math.round(Math.abs(y - root) / ROW), parent: -1, end: 0,
			gone: false, match: false,
		};
		const i = boxes.push(box) - 1;
		indexes.set(g, i);
		while (open.length > box.depth)
			boxes[open.pop()].end = i;
		box.parent = open.length ? open[open.length - 1] : -1;
		open.push(i);
		g.setAttribute('role', 'treeitem');
		g.setAttribute('aria-level', box.depth + 1);
		g.setAttribute('tabindex', i ? -1 : 0);
	}
	while (open.length)
		boxes[open.pop()].end = boxes.length;
	frames.setAttribute('role', 'tree');
}

function isAbove(i, of) {
	return i <= of && of < boxes[i].end;
}

// --- drawing --------------------------------------------------------------------------

const measure = (() => {
	const style = getComputedStyle(svg), known = new Map();
	const pen = htmlElement('canvas', {}).getContext('2d');
	if (pen)
		pen.font = style.fontSize + ' ' + style.fontFamily;
	return (letter) => {
		if (!known.has(letter))
			known.set(letter, pen ? pen.measureText(letter).width : CHAR);
		return known.get(letter);
	};
})();

// As much of the name as there is room for: whole, or six letters and more.
function label(box, w) {
	const room = w - 6, letters = Array.from(box.name);
	if (room < Math.min(letters.length, LABEL_LEAST) * 3)
		return '';
	let x = 0, fits = 0;
	const end = measure('…');
	for (let i = 0; i < letters.length; i++) {
		x += measure(letters[i]);
		if (x > room)
			return fits < LABEL_LEAST - 1 ? '' : letters.slice(0, fits).join('') + '…';
		if (x + end <= room)
			fits = i + 1;
	}
	return box.name;
}

function place(box, x, w) {
	box.rect.setAttribute('x', (x + PAD).toFixed(2));
	box.rect.setAttribute('width', Math.max(w, 0.1).toFixed(2));
	const text = label(box, w);
	if (!box.text && text) {
		box.text = document.createElementNS(SVG, 'text');
		box.text.setAttribute('y', box.y + ROW - 4.5);
		box.rect.after(box.text);
	}
	if (box.text) {
		box.text.setAttribute('x', (x + PAD + 3).toFixed(2));
		box.text.textContent = text;
	}
}

function show(box, visible) {
	if (box.gone === !visible)
		return;
	box.gone = !visible;
	box.g.classList.toggle('gone', !visible);
}

function draw() {
	const top = boxes[zoomed], room = width - 2 * PAD;
	// the full width may stand for more than the boxes do
	const scale = zoomed ? room / top.w : room / (FILE_WIDTH - 2 * PAD);
	const left = zoomed ? top.x : 0;
	boxes.forEach((box, i) => {
		const below = i !== zoomed && isAbove(i, zoomed);
		const inside = i >= zoomed && i < top.end;
		show(box, below || inside);
		if (zoomed ? below : false)
			place(box, 0, room);
		else if (inside)
			place(box, (box.x - left) * scale, box.w * scale);
		box.g.classList.toggle('below', zoomed > 0 && below);
	});
	if (ui)
		ui.reset.hidden = !zoomed;
}

function resize() {
	const wide = Math.max(svg.clientWidth || svg.getBoundingClientRect().width, 200);
	if (!FLUID || Math.abs(wide - width) < 1)
		return;
	width = wide;
	svg.querySelectorAll('[data-wide]').forEach((e) => e.setAttribute('width', width));
	svg.querySelectorAll('[data-middle]').forEach((e) => e.setAttribute('x', width / 2));
	layHead();
	draw();
}

// --- the heading of a narrow window -----------------------------------------------------

function setHeight() {
	if (svg === document.documentElement)
		svg.setAttribute('height', +data.top + lower + frames.dataset.rows * ROW + 10);
	svg.querySelector('[data-wide]').setAttribute('height', svg.getAttribute('height'));
}

// Where there is little room the heading has more lines, and the boxes begin below them.
function layHead() {
	if (!FILLS) {
		ui.heading.placeBar(width, false);
		return;
	}
	lower = ui.heading.lay(width) + HEAD_LINE + 8 - data.top;
	details.setAttribute('y', +data.top + lower - 7);
	ui.heading.cover.setAttribute('height', +data.top + lower - 2);
	for (const boxes of [frames, other])
		if (boxes)
			boxes.setAttribute('transform', 'translate(0,' + lower + ')');
	setHeight();
}

// The heading stays visible while a tall picture is scrolled.
function pin() {
	const y = Math.max(0, -svg.getBoundingClientRect().top);
	head.setAttribute('transform', 'translate(0,' + y + ')');
}

function say(text) {
	details.textContent = text;
}

function tell(box) {
	say(data.nametype + ' ' + box.title);
}

// --- zoom -----------------------------------------------------------------------------

function zoom(i) {
	zoomed = i;
	draw();
	matched();
	saveState();
	tell(boxes[i]);
}

// --- folded code ----------------------------------------------------------------------

// Start-up and run-time code is one box at first; the same picture without that is in the file.
function swap() {
	frames.setAttribute('display', 'none');
	[frames, other] = [other, frames];
	frames.removeAttribute('display');
	zoomed = current = 0;
	read();
	listenBoxes();
	setHeight();
	ui.fold.textContent = frames.id === 'whole' ? 'Fold' : 'Unfold';
	draw();
	search(pattern);
	scrollToFork();
	pin();
	say(frames.id === 'whole' ? 'start-up and run-time code is shown; o folds it' : '');
}

// --- search ---------------------------------------------------------------------------

// Boxes are on one another: only the lowest match of each pile counts.
function matched() {
	if (!ui)
		return;
	let sum = 0, part = 0;
	const top = boxes[zoomed];
	for (let i = 0; i < boxes.length;) {
		const box = boxes[i];
		if (box.match) {
			sum += box.w;
			part += Math.max(0, Math.min(box.x + box.w, top.x + top.w) -
				Math.max(box.x, top.x));
		}
		i = box.match ? box.end : i + 1;
	}
	const all = 100 * sum / boxes[0].w, here = 100 * part / top.w;
	ui.matched.textContent = !pattern ? '' : 'Matched: ' + all.toFixed(1) + '%' +
		(zoomed ? ' (' + here.toFixed(1) + '% here)' : '');
	ui.next.hidden = ui.previous.hidden = !pattern;
	layHead();
}

function search(text) {
	let re = null;
	pattern = text;
	if (text) {
		try {
			re = new RegExp(text, ignoreCase ? 'i' : '');
		} catch (e) {
			pattern = '';
			say('not a regular expression: ' + text);
		}
	}
	if (ui)
		ui.input.classList.toggle('bad', Boolean(text) && !re);
	matches = [];
	at = -1;
	boxes.forEach((box, i) => {
		const hit = Boolean(re) && i > 0 && re.test(box.name);
		if (hit !== box.match)
			box.g.classList.toggle('match', hit);
		box.match = hit;
		if (hit)
			matches.push(i);
	});
	matched();
	saveState();
}

function step(by) {
	const seen = matches.filter((i) => !boxes[i].gone);
	if (!seen.length) {
		say(pattern ? 'no match' : '');
		return;
	}
	const now = seen.indexOf(at);
	const next = now < 0 ? (by > 0 ? 0 : seen.length - 1) :
		(now + by + seen.length) % seen.length;
	at = seen[next];
	focus(at);
	say('match ' + (next + 1) + ' of ' + seen.length + ': ' + boxes[at].title);
}

// --- state in the address -------------------------------------------------------------

function saveState() {
	const q = new URLSearchParams(location.search);
	for (const key of ['x', 'y', 's', 'o'])
		q.delete(key);
	if (frames.id === 'whole')
		q.set('o', 1);
	if (zoomed) {
		q.set('x', (boxes[zoomed].x + PAD).toFixed(1));
		q.set('y', boxes[zoomed].y);
	}
	if (pattern)
		q.set('s', pattern);
	try {
		const text = q.toString();
		history.replaceState(null, '', text ? '?' + text : location.pathname);
	} catch (e) {
		// some documents may not change their address: nothing else is lost
	}
}

function loadState() {
	const q = new URLSearchParams(location.search);
	if (q.get('o') && other)
		swap();
	const x = q.get('x'), y = q.get('y');
	if (x !== null && y !== null) {
		const i = boxes.findIndex((b) => Math.abs(b.y - y) < 0.1 &&
			Math.abs(b.x + PAD - x) < 0.06);
		if (i > 0) {
			zoomed = i;
			draw();
		}
	}
	if (q.get('s')) {
		if (ui)
			ui.input.value = q.get('s');
		search(q.get('s'));
	}
}

// --- keyboard -------------------------------------------------------------------------

function focus(i) {
	boxes[current].g.setAttribute('tabindex', -1);
	current = i;
	boxes[i].g.setAttribute('tabindex', 0);
	boxes[i].g.focus({ preventScroll: true });
	reveal(boxes[i]);
	tell(boxes[i]);
}

function reveal(box) {
	const r = box.rect.getBoundingClientRect();
	const hidden = head.getBoundingClientRect().bottom;
	if (r.top < hidden)
		window.scrollBy(0, r.top - hidden - ROW);
	else if (r.bottom > innerHeight)
		window.scrollBy(0, r.bottom - innerHeight + ROW);
}

function upwards(i) {
	for (let j = i + 1, best = -1; ; j = boxes[j].end) {
		if (j >= boxes[i].end)
			return best;
		if (!boxes[j].gone && (best < 0 || boxes[j].w > boxes[best].w))
			best = j;
	}
}

function sideways(i, by) {
	for (let j = i + by; j >= 0 && j < boxes.length; j += by)
		if (boxes[j].depth === boxes[i].depth && !boxes[j].gone)
			return j;
	return -1;
}

function move(key) {
	const away = INVERTED ? 'ArrowDown' : 'ArrowUp';
	switch (key) {
	case 'ArrowUp':
	case 'ArrowDown':
		return key === away ? upwards(current) : boxes[current].parent;
	case 'ArrowLeft': return sideways(current, -1);
	case 'ArrowRight': return sideways(current, 1);
	case 'Home': return 0;
	default: return -1;
	}
}

function escape() {
	const sheet = svg.querySelector('.sheet');
	if (sheet) {
		sheet.remove();
		return;
	}
	if (pattern || (ui && ui.input.value)) {
		if (ui)
			ui.input.value = '';
		search('');
	} else if (zoomed) {
		zoom(0);
	}
	focus(current && !boxes[current].gone ? current : zoomed);
}

function onKey(e) {
	const typing = e.target.localName === 'input', button = e.target.localName === 'button';
	if (e.key === 'Escape') {
		escape();
	} else if ((e.key === '/' && !typing) || (e.key === 'f' && e.ctrlKey)) {
		ui.input.focus();
		ui.input.select();
	} else if (e.key === 'i' && e.ctrlKey) {
		toggleCase();
	} else if (typing || button || e.ctrlKey || e.metaKey || e.altKey) {
		return;
	} else if (e.key === '?') {
		ui.sheet();
	} else if (e.key === 'o' && other) {
		swap();
	} else if (e.key === 'n' || e.key === 'N') {
		step(e.key === 'n' ? 1 : -1);
	} else if (e.key === 'Enter' || e.key === ' ') {
		zoom(current);
		focus(current);
	} else if (/^(Arrow|Home)/.test(e.key)) {
		const i = move(e.key);
		if (i >= 0)
			focus(i);
	} else {
		return;
	}
	e.preventDefault();
}

// --- controls -------------------------------------------------------------------------

const KEYS = [
	['click, Enter', 'zoom to a box'],
	['Esc', 'back: search, then zoom'],
	['/  Ctrl-F', 'search, by regular expression'],
	['n  N', 'next and previous match'],
	['Ctrl-I', 'upper and lower case count, or not'],
	['arrows, Home', 'from box to box'],
	['o', 'start-up and run-time code: one box, or all of it'],
	['?', 'this help'],
];

function toggleCase() {
	ignoreCase = !ignoreCase;
	ui.ignore.setAttribute('aria-pressed', ignoreCase);
	search(ui.input.value);
}

function makeControls() {
	let timer = 0;
	ui = {
		fold: barButton('Unfold', 'Start-up and run-time code: shown or one box (o)', swap),
		help: barButton('?', 'Help (?)', () => ui.sheet()),
		sheet: makeSheet(svg, svg.querySelector('#about').textContent, KEYS),
		reset: barButton('Reset zoom', 'Reset zoom (Esc)', () => zoom(0)),
		matched: htmlElement('span', { class: 'matched', role: 'status' }),
		input: htmlElement('input', { type: 'search', placeholder: 'search (regex)  /',
			'aria-label': 'Search function names by regular expression', spellcheck: 'false' }),
		ignore: barButton('aA', 'Ignore case (Ctrl-I)', toggleCase),
		previous: barButton('\u2039', 'Previous match (N)', () => step(-1)),
		next: barButton('\u203a', 'Next match (n)', () => step(1)),
	};
	ui.ignore.setAttribute('aria-pressed', 'false');
	ui.reset.hidden = ui.previous.hidden = ui.next.hidden = true;
	ui.input.addEventListener('input', () => {
		clearTimeout(timer);
		timer = setTimeout(() => search(ui.input.value), 120);
	});
	ui.input.addEventListener('keydown', (e) => {
		if (e.key !== 'Enter')
			return;
		clearTimeout(timer);
		search(ui.input.value);
		step(1);
	});
	ui.fold.hidden = !other;
	ui.heading = new Heading(svg, [ui.reset, ui.matched, ui.previous, ui.next, ui.fold, ui.ignore,
		ui.input, ui.help], CONTROLS);
}

// Reading begins where stacks part: what all of them share can be scrolled to.
function scrollToFork() {
	if (svg !== document.documentElement || zoomed)
		return;
	let fork = 0;
	for (let up = upwards(0); up >= 0 && boxes[up].w >= SAME * boxes[fork].w; up = upwards(up))
		fork = up;
	const r = boxes[upwards(fork) < 0 ? 0 : fork].rect.getBoundingClientRect();
	const y = r.top + window.scrollY;
	window.scrollTo(0, INVERTED ? y - head.getBoundingClientRect().height - ROW :
		y + ROW + 10 - innerHeight);
}

// --- start ----------------------------------------------------------------------------

function boxOf(target) {
	const g = target.closest && target.closest('.boxes > g');
	return g ? indexes.get(g) : -1;
}

function listenBoxes() {
	if (frames.dataset.heard)
		return;
	frames.dataset.heard = 1;
	frames.addEventListener('click', (e) => {
		const i = boxOf(e.target);
		if (i >= 0 && boxes[i].g.classList.contains('fold')) {
			swap();
			return;
		}
		// links are followed with Ctrl, as everywhere
		if (i < 0 || (e.ctrlKey && e.target.closest('a')))
			return;
		e.preventDefault();
		current = i;
		zoom(i);
		focus(i);
	});
	frames.addEventListener('mouseover', (e) => {
		const i = boxOf(e.target);
		if (i >= 0)
			tell(boxes[i]);
	});
	frames.addEventListener('mouseleave', () => say(''));
	frames.addEventListener('focusin', (e) => {
		const i = boxOf(e.target);
		if (i >= 0)
			tell(boxes[i]);
	});
}

function listen() {
	listenBoxes();
	addEventListener('keydown', onKey);
	addEventListener('scroll', pin, { passive: true });
	addEventListener('resize', () => {
		resize();
		pin();
	});
}

function start() {
	read();
	if (!boxes.length)
		return;
	if (FILLS) {
		svg.setAttribute('width', '100%');
		svg.removeAttribute('viewBox');
	}
	makeControls();
	resize();
	layHead();
	listen();
	loadState();
	scrollToFork();
	pin();
}

start();
