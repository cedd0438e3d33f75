/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two painters with the same few strokes: one for a canvas, one that writes SVG. Pictures are drawn
 * through them, so what is exported is what is seen.
 */

export const FONT = "12px ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', Consolas, monospace";
export const SMALL = "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";
const FONT_FAMILIES = {
	[FONT]: ["12", "ui-monospace, Menlo, 'DejaVu Sans Mono', Consolas, monospace"],
	[SMALL]: ["11", "system-ui, 'DejaVu Sans', sans-serif"],
};

export class CanvasPainter {
	constructor(canvas) {
		this.canvas = canvas;
		this.context = canvas.getContext("2d", { alpha: false });
		this.charWidth = 0;
		this.widths = new Map();
	}
	/* Matches the canvas to its box on the page; true when that changed it. */
	fit() {
		const box = this.canvas.parentElement.getBoundingClientRect();

		return this.resize(Math.floor(box.width), Math.floor(box.height));
	}
	resize(width, height) {
		const ratio = window.devicePixelRatio || 1;

		this.width = Math.max(1, width);
		this.height = Math.max(1, height);
		const w = Math.round(this.width * ratio),
			h = Math.round(this.height * ratio);

		if (this.canvas.width === w && this.canvas.height === h) return false;
		this.canvas.width = w;
		this.canvas.height = h;
		this.canvas.style.width = this.width + "px";
		this.canvas.style.height = this.height + "px";
		this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
		return true;
	}
	begin(background) {
		const c = this.context;

		c.globalAlpha = 1;
		c.fillStyle = background;
		c.fillRect(0, 0, this.width, this.height);
		c.textBaseline = "middle";
		c.font = FONT;
		this.font = FONT;
		if (!this.charWidth) this.charWidth = c.measureText("MMMMMMMMMM").width / 10;
	}
	rect(x, y, w, h, fill) {
		this.context.fillStyle = fill;
		this.context.fillRect(x, y, w, h);
	}
	frame(x, y, w, h, stroke, width) {
		this.context.strokeStyle = stroke;
		this.context.lineWidth = width;
		this.context.strokeRect(x, y, w, h);
	}
	round(x, y, w, h, radius, fill, stroke) {
		const c = this.context;

		c.beginPath();
		c.roundRect(x, y, w, h, radius);
		c.fillStyle = fill;
		c.fill();
		if (stroke) {
			c.strokeStyle = stroke;
			c.lineWidth = 1;
			c.stroke();
		}
	}
	text(text, x, y, fill, font, align) {
		const c = this.context;

		if (this.font !== (font || FONT)) c.font = this.font = font || FONT;
		c.textAlign = align || "left";
		c.fillStyle = fill;
		c.fillText(text, x, y);
	}
	measure(text, font) {
		const key = (font || FONT) + text;
		let w = this.widths.get(key);

		if (w === undefined) {
			if (this.font !== (font || FONT))
				this.context.font = this.font = font || FONT;
			w = this.context.measureText(text).width;
			if (this.widths.size > 20000) this.widths.clear();
			this.widths.set(key, w);
		}
		return w;
	}
	/* points: [x, y, x, y ...] of a line, or of a Bézier curve when there are four */
	curve(points, stroke, width, dashed) {
		const c = this.context;

		c.beginPath();
		c.moveTo(points[0], points[1]);
		if (points.length === 8) c.bezierCurveTo(...points.slice(2));
		else for (let i = 2; i < points.length; i += 2) c.lineTo(points[i], points[i + 1]);
		c.strokeStyle = stroke;
		c.lineWidth = width;
		c.setLineDash(dashed ? [5, 4] : []);
		c.stroke();
		c.setLineDash([]);
	}
	polygon(points, fill) {
		const c = this.context;

		c.beginPath();
		c.moveTo(points[0], points[1]);
		for (let i = 2; i < points.length; i += 2) c.lineTo(points[i], points[i + 1]);
		c.closePath();
		c.fillStyle = fill;
		c.fill();
	}
	clip(x, y, w, h) {
		this.context.save();
		this.context.beginPath();
		this.context.rect(x, y, w, h);
		this.context.clip();
	}
	unclip() {
		this.context.restore();
		this.font = "";
	}
	title() {}
}

const XML = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/* Characters that XML has no place for become visible ones. */
function xmlText(text) {
	return text
		.replace(/[&<>"]/g, (c) => XML[c])
		.replace(
			/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])/g,
			"\ufffd"
		);
}

export class SvgPainter {
	constructor(width, height, like) {
		this.width = width;
		this.height = height;
		this.charWidth = like.charWidth;
		this.like = like;
		this.parts = [];
		this.clips = 0;
		this.tip = "";
	}
	begin(background) {
		this.rect(0, 0, this.width, this.height, background);
	}
	/* Shown by browsers over the next box. */
	title(text) {
		this.tip = text;
	}
	shape(open) {
		const tip = this.tip;

		this.tip = "";
		this.parts.push(
			tip
				? open +
						"><title>" +
						xmlText(tip) +
						"</title></" +
						open.slice(1).split(" ")[0] +
						">"
				: open + "/>"
		);
	}
	box(x, y, w, h) {
		const n = (v) => Number(v.toFixed(2));

		return `x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"`;
	}
	rect(x, y, w, h, fill) {
		this.shape(`<rect ${this.box(x, y, w, h)} fill="${fill}"`);
	}
	frame(x, y, w, h, stroke, width) {
		this.shape(
			`<rect ${this.box(x, y, w, h)} fill="none" stroke="${stroke}" stroke-width="${width}"`
		);
	}
	round(x, y, w, h, radius, fill, stroke) {
		this.shape(
			`<rect ${this.box(x, y, w, h)} rx="${radius}" fill="${fill}"` +
				(stroke ? ` stroke="${stroke}"` : "")
		);
	}
	text(text, x, y, fill, font, align) {
		const [size, family] = FONT_FAMILIES[font || FONT];
		const anchor = align === "center" ? "middle" : align === "right" ? "end" : "start";

		this.parts.push(
			`<text x="${x.toFixed(1)}" y="${(y + 4).toFixed(1)}" font-size="${size}" ` +
				`font-family="${family}" text-anchor="${anchor}" fill="${fill}">${xmlText(text)}</text>`
		);
	}
	measure(text, font) {
		return this.like.measure(text, font);
	}
	curve(points, stroke, width, dashed) {
		const n = points.map((v) => Number(v.toFixed(1)));
		const d =
			n.length === 8
				? `M${n[0]} ${n[1]}C${n.slice(2).join(" ")}`
				: "M" + n.slice(0, 2).join(" ") + "L" + n.slice(2).join(" ");

		this.shape(
			`<path d="${d}" fill="none" stroke="${stroke}" stroke-width="${width}"` +
				(dashed ? ' stroke-dasharray="5 4"' : "")
		);
	}
	polygon(points, fill) {
		this.shape(
			`<polygon points="${points.map((v) => v.toFixed(1)).join(" ")}" fill="${fill}"`
		);
	}
	clip(x, y, w, h) {
		const id = "c" + this.clips++;

		this.parts.push(
			`<clipPath id="${id}"><rect ${this.box(x, y, w, h)}/></clipPath><g clip-path="url(#${id})">`
		);
	}
	unclip() {
		this.parts.push("</g>");
	}
	finish() {
		return (
			`<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" ` +
			`width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">\n` +
			this.parts.join("\n") +
			"\n</svg>\n"
		);
	}
}
