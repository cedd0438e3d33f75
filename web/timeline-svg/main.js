// SPDX-License-Identifier: GPL-2.0-or-later
// The scheduler's timeline: a lane for each CPU with who ran there and how many waited for it, below
// it a row for each of the busiest tasks, and arrows from who woke to whom. D holds the data: only
// what is in sight is drawn, so that a million stretches zoom and move.
const D = window.timelineData;
const NS = "http://www.w3.org/2000/svg";
const LEFT = 150, TOP = 60, RUN = 22, QUEUE = 14, LANE = RUN + QUEUE + 6, ROW = 16, BOXES = 12000;
const ROWS_MOST = 60, WAKES_MOST = 150, SHORTEST = 1000;
const svg = document.getElementById("timeline"), g = document.getElementById("drawn");
const info = document.getElementById("info");
const S = Float64Array.from(D.stretches), W = Float64Array.from(D.wakes), N = S.length / 5;
const rows = busiest(), rowOf = new Map(rows.map((task, i) => [task, i]));
let a = 0, b = D.length, chosen = -1, drag = null, longest = 0;

for (let i = 0; i < N; i++)
	longest = Math.max(longest, S[i * 5 + 1]);

function busiest() {
	const sums = new Float64Array(D.tasks.length);
	for (let i = 0; i < N; i++)
		sums[S[i * 5 + 3]] += S[i * 5 + 1];
	return [...sums.keys()].filter(i => sums[i] > 0).sort((x, y) => sums[y] - sums[x])
		.slice(0, ROWS_MOST);
}

function fmt(ns) {
	const [unit, name] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] :
		ns >= 1e3 ? [1e3, "us"] : [1, "ns"];
	return `${+(ns / unit).toPrecision(4)} ${name}`;
}

function el(kind, attributes, text) {
	const e = document.createElementNS(NS, kind);
	for (const key in attributes)
		e.setAttribute(key, attributes[key]);
	if (text !== undefined)
		e.textContent = text;
	g.append(e);
	return e;
}

const name = task => `${D.tasks[task][1]} ${D.tasks[task][0]}`;
const room = () => Math.max(400, svg.clientWidth || 1200) - LEFT - 20;
const rowsTop = () => TOP + D.cpus * LANE + 22;
const dim = task => chosen >= 0 && chosen !== task ? " dim" : "";

// The first stretch that begins at @t or later.
function lower(t) {
	let low = 0, high = N;
	while (low < high) {
		const middle = low + high >> 1;
		if (S[middle * 5] < t)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

function drawAxis(w) {
	let step = 10 ** Math.floor(Math.log10((b - a) / 8));
	step *= (b - a) / step > 40 ? 5 : (b - a) / step > 16 ? 2 : 1;
	const bottom = rowsTop() + rows.length * ROW;
	for (let t = Math.ceil(a / step) * step; t <= b; t += step) {
		const x = LEFT + (t - a) / (b - a) * w;
		el("line", { class: "grid", x1: x, x2: x, y1: TOP - 6, y2: bottom });
		if (x < LEFT + w - 40)
			el("text", { x: x + 2, y: TOP - 10 }, t ? "+" + fmt(t) : "0");
	}
}

function drawLanes(w) {
	for (let c = 0; c < D.cpus; c++) {
		el("rect", { class: "lane", x: LEFT, y: TOP + c * LANE, width: w, height: LANE - 6 });
		el("text", { x: 10, y: TOP + c * LANE + 15 }, `CPU ${c}`);
	}
	if (rows.length)
		el("text", { class: "small", x: 10, y: rowsTop() - 5 },
			rows.length < ROWS_MOST ? "tasks" : `the ${ROWS_MOST} busiest tasks`);
	rows.forEach((task, i) => {
		const label = name(task);
		const t = el("text", { class: "name small" + dim(task), x: 10,
			y: rowsTop() + i * ROW + 12 }, label.length > 21 ? label.slice(0, 20) + "…" : label);
		t.dataset.task = task;
	});
}

function box(i, x, x2, y, height) {
	const task = S[i + 3], waits = S[i + 4];
	const r = el("rect", { class: (waits ? "wait" : "run") + dim(task), x, y,
		width: Math.max(.4, x2 - x), height });
	if (!waits)
		r.setAttribute("fill", `hsl(${D.tasks[task][2]},55%,68%)`);
	r.dataset.i = i;
	if (!waits && height > 20 && x2 - x > 40)
		el("text", { x: x + 3, y: y + 15, "pointer-events": "none" },
			D.tasks[task][1].slice(0, (x2 - x) / 7 | 0));
}

// How many waited for a CPU, on average over each pixel: whole pixels as steps, ends as parts.
function newQueue(w) {
	return { steps: new Float64Array(w + 2), parts: new Float64Array(w + 2) };
}

function addWait(queue, x, x2) {
	const first = Math.floor(x), last = Math.floor(x2);
	if (first === last) {
		queue.parts[first] += x2 - x;
		return;
	}
	queue.parts[first] += first + 1 - x;
	queue.parts[last] += x2 - last;
	queue.steps[first + 1]++;
	queue.steps[last]--;
}

function drawQueues(queues, w) {
	let most = 1;
	for (const q of queues) {
		for (let x = 0, n = 0; x < w; x++) {
			n += q.steps[x];
			most = Math.max(most, q.parts[x] += n);
		}
	}
	queues.forEach((q, c) => {
		const base = TOP + c * LANE + RUN + QUEUE;
		let path = `M${LEFT},${base}`, last = 0;
		for (let x = 0; x < w; x++) {
			if (q.parts[x] === last)
				continue;
			last = q.parts[x];
			path += `H${LEFT + x}V${(base - last / most * QUEUE).toFixed(1)}`;
		}
		el("path", { class: "queue", d: path + `H${LEFT + w}V${base}Z` });
	});
	return most;
}

function drawStretches(w) {
	const k = w / (b - a), last = new Float64Array(D.cpus + rows.length).fill(-1);
	const queues = Array.from({ length: D.cpus }, () => newQueue(Math.ceil(w)));
	let shown = 0;
	for (let j = lower(a - longest); j < N; j++) {
		const i = j * 5, begin = S[i], end = begin + S[i + 1], row = rowOf.get(S[i + 3]);
		if (begin > b)
			break;
		if (end < a)
			continue;
		const x = LEFT + Math.max(0, (begin - a) * k), x2 = LEFT + Math.min(w, (end - a) * k);
		if (S[i + 4]) {
			addWait(queues[S[i + 2]], x - LEFT, x2 - LEFT);
		} else if (x2 - last[S[i + 2]] >= .4 && shown++ < BOXES) {
			last[S[i + 2]] = x2;
			box(i, x, x2, TOP + S[i + 2] * LANE, RUN - 1);
		}
		if (row !== undefined && x2 - last[D.cpus + row] >= .4 && shown++ < BOXES) {
			last[D.cpus + row] = x2;
			if (S[i + 4])
				box(i, x, x2, rowsTop() + row * ROW + 5, ROW - 11);
			else
				box(i, x, x2, rowsTop() + row * ROW + 1, ROW - 3);
		}
	}
	const most = Math.round(drawQueues(queues, w));
	return `up to ${most} waited for one CPU` + (shown >= BOXES ? ", zoom in for more" : "");
}

function drawWakes(w) {
	const found = [];
	for (let i = 0; i < W.length && found.length <= WAKES_MOST; i += 4)
		if (W[i] >= a && W[i] <= b && rowOf.has(W[i + 3]))
			found.push(i);
	if (found.length > WAKES_MOST)
		return ", zoom in for wake-ups";
	for (const i of found) {
		const x = LEFT + (W[i] - a) / (b - a) * w, middle = rowsTop() + ROW / 2;
		const y2 = middle + rowOf.get(W[i + 3]) * ROW;
		// interrupts of an idle CPU have no row
		const y = rowOf.has(W[i + 2]) ? middle + rowOf.get(W[i + 2]) * ROW : y2 - ROW;
		const back = y2 > y ? -5 : 5;
		const unchosen = chosen >= 0 && chosen !== W[i + 2] && chosen !== W[i + 3];
		el("path", { class: "wake" + (unchosen ? " dim" : ""),
			d: `M${x},${y}V${y2}l-3,${back}h6l-3,${-back}` }).dataset.w = i;
	}
	return "";
}

function draw() {
	const w = room();
	g.textContent = "";
	drawLanes(w);
	drawAxis(w);
	const told = drawStretches(w), more = drawWakes(w);
	svg.setAttribute("height", rowsTop() + rows.length * ROW + 40);
	document.getElementById("help").setAttribute("y", rowsTop() + rows.length * ROW + 28);
	info.textContent = `${fmt(b - a)} of ${fmt(D.length)}; ${told}${more}`;
}

function timeAt(event) {
	const x = event.clientX - svg.getBoundingClientRect().left - LEFT;
	return a + (b - a) * Math.min(1, Math.max(0, x / room()));
}

function show(from, length) {
	const n = Math.min(D.length, Math.max(SHORTEST, length));
	a = Math.max(0, Math.min(D.length - n, from));
	b = a + n;
	draw();
}

const zoom = (t, factor) => show(t - (t - a) * factor, (b - a) * factor);

function tell(target) {
	const { i, w, task } = target.dataset;
	if (i !== undefined) {
		const what = S[+i + 4] ? "waits for CPU" : "runs on CPU";
		info.textContent = `${name(S[+i + 3])} ${what} ${S[+i + 2]}, ${fmt(S[+i + 1])} from ` +
			`+${fmt(S[+i])}`;
	} else if (w !== undefined) {
		info.textContent = `${name(W[+w + 2])} wakes ${name(W[+w + 3])} at +${fmt(W[+w])}`;
	} else if (task !== undefined) {
		info.textContent = `${name(+task)}: click to tell it from the others`;
	}
}

function choose(target) {
	const { i, task } = target.dataset;
	const found = i !== undefined ? S[+i + 3] : task !== undefined ? +task : -1;
	chosen = found === chosen ? -1 : found;
	draw();
	if (chosen >= 0)
		tell(target);
}

svg.addEventListener("wheel", e => {
	e.preventDefault();
	zoom(timeAt(e), e.deltaY < 0 ? .7 : 1 / .7);
}, { passive: false });
svg.addEventListener("mousedown", e => {
	drag = { x: e.clientX, a, moved: false, target: e.target };
});
addEventListener("mouseup", () => {
	if (drag && !drag.moved)
		choose(drag.target);
	drag = null;
});
svg.addEventListener("mousemove", e => {
	if (!drag) {
		tell(e.target);
		return;
	}
	drag.moved ||= Math.abs(e.clientX - drag.x) > 3;
	if (drag.moved)
		show(drag.a + (drag.x - e.clientX) * (b - a) / room(), b - a);
});
svg.addEventListener("dblclick", () => show(0, D.length));
addEventListener("keydown", e => {
	const step = (b - a) / 5;
	const keys = {
		"+": () => zoom((a + b) / 2, .6), "-": () => zoom((a + b) / 2, 1 / .6),
		ArrowLeft: () => show(a - step, b - a), ArrowRight: () => show(a + step, b - a),
		Escape: () => { chosen = -1; show(0, D.length); },
	};
	if (!keys[e.key])
		return;
	e.preventDefault();
	keys[e.key]();
});
if (document.documentElement === svg)
	svg.setAttribute("width", "100%");
addEventListener("resize", draw);
draw();
