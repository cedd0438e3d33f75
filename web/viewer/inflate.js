/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base64 and gzip -> bytes, with the browser's help where it has any. */

export function decodeBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const table = new Uint8Array(128);
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (let i = 0; i < 64; i++) table[digits.charCodeAt(i)] = i;
	const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
	const out = new Uint8Array((text.length / 4) * 3 - padding);

	for (let i = 0, o = 0; i < text.length; i += 4) {
		const v =
			(table[text.charCodeAt(i)] << 18) |
			(table[text.charCodeAt(i + 1)] << 12) |
			(table[text.charCodeAt(i + 2) & 127] << 6) |
			table[text.charCodeAt(i + 3) & 127];

		out[o++] = v >> 16;
		if (o < out.length) out[o++] = v >> 8;
		if (o < out.length) out[o++] = v;
	}
	return out;
}

export async function gunzip(bytes) {
	if (typeof window.DecompressionStream === "undefined") return inflateGzip(bytes);
	const stream = new Blob([bytes]).stream().pipeThrough(new window.DecompressionStream("gzip"));

	return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* --- for browsers without DecompressionStream ---------------------------------------------- */

const LENGTH_BASE = [
	3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115,
	131, 163, 195, 227, 258,
];
const LENGTH_BITS = [
	0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
const DISTANCE_BASE = [
	1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
	2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

class BitReader {
	constructor(bytes, at) {
		this.bytes = bytes;
		this.at = at;
		this.bits = 0;
		this.held = 0;
	}
	take(n) {
		while (this.held < n) {
			if (this.at >= this.bytes.length)
				throw new Error("the compressed data is cut short");
			this.bits |= this.bytes[this.at++] << this.held;
			this.held += 8;
		}
		const v = this.bits & ((1 << n) - 1);

		this.bits >>>= n;
		this.held -= n;
		return v;
	}
	align() {
		this.bits = this.held = 0;
	}
}

/* A canonical code: how many codes there are of each length, and their symbols in order. */
function makeCode(lengths) {
	const counts = new Uint16Array(16),
		offsets = new Uint16Array(16);
	const symbols = new Uint16Array(lengths.length);

	for (const n of lengths) counts[n]++;
	counts[0] = 0;
	for (let i = 1; i < 16; i++) offsets[i] = offsets[i - 1] + counts[i - 1];
	lengths.forEach((n, symbol) => {
		if (n) symbols[offsets[n]++] = symbol;
	});
	return { counts, symbols };
}

function readSymbol(r, code) {
	let value = 0,
		first = 0,
		index = 0;

	for (let n = 1; n < 16; n++) {
		value |= r.take(1);
		const count = code.counts[n];

		if (value - count < first) return code.symbols[index + value - first];
		index += count;
		first = (first + count) << 1;
		value <<= 1;
	}
	throw new Error("the compressed data is damaged");
}

function fixedCodes() {
	const lengths = new Array(288);

	for (let i = 0; i < 288; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	return [makeCode(lengths), makeCode(new Array(30).fill(5))];
}

function dynamicCodes(r) {
	const nLength = r.take(5) + 257,
		nDistance = r.take(5) + 1,
		nCode = r.take(4) + 4;
	const small = new Array(19).fill(0),
		lengths = [];

	for (let i = 0; i < nCode; i++) small[CODE_ORDER[i]] = r.take(3);
	const code = makeCode(small);

	while (lengths.length < nLength + nDistance) {
		const symbol = readSymbol(r, code);

		if (symbol < 16) {
			lengths.push(symbol);
			continue;
		}
		const value = symbol === 16 ? lengths[lengths.length - 1] : 0;
		let n =
			symbol === 16
				? 3 + r.take(2)
				: symbol === 17
					? 3 + r.take(3)
					: 11 + r.take(7);

		while (n--) lengths.push(value);
	}
	return [makeCode(lengths.slice(0, nLength)), makeCode(lengths.slice(nLength))];
}

function inflateBlock(r, out, at, codes) {
	for (;;) {
		const symbol = readSymbol(r, codes[0]);

		if (symbol === 256) return at;
		if (symbol < 256) {
			out[at++] = symbol;
			continue;
		}
		const length = LENGTH_BASE[symbol - 257] + r.take(LENGTH_BITS[symbol - 257]);
		const d = readSymbol(r, codes[1]);
		const distance = DISTANCE_BASE[d] + r.take(d < 4 ? 0 : (d >> 1) - 1);

		if (distance > at || at + length > out.length)
			throw new Error("the compressed data is damaged");
		for (let i = 0; i < length; i++, at++) out[at] = out[at - distance];
	}
}

/* Our own gzip files: no name, no comment, no extra field; the size is at the end. */
function inflateGzip(bytes) {
	const end = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 4, 4);
	const out = new Uint8Array(end.getUint32(0, true));
	const r = new BitReader(bytes, 10);
	let at = 0,
		last = 0;

	while (!last) {
		last = r.take(1);
		const type = r.take(2);

		if (type === 0) {
			r.align();
			const n = bytes[r.at] | (bytes[r.at + 1] << 8);

			out.set(bytes.subarray(r.at + 4, r.at + 4 + n), at);
			r.at += 4 + n;
			at += n;
		} else {
			at = inflateBlock(r, out, at, type === 1 ? fixedCodes() : dynamicCodes(r));
		}
	}
	return out;
}
