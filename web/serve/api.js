/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server: the token, requests, and its stream of events, which is read by fetch so that the
 * token travels in a header. */

const TOKEN = "fathom-token";

/* The token comes in the fragment and leaves it at once: it is in no history and no link. */
export function takeToken() {
	const fragment = new URLSearchParams(location.hash.slice(1)),
		token = fragment.get("token");

	if (token) {
		sessionStorage.setItem(TOKEN, token);
		fragment.delete("token");
		history.replaceState(null, "", "#" + fragment);
	}
	return sessionStorage.getItem(TOKEN);
}

function headers() {
	return { Authorization: "Bearer " + (sessionStorage.getItem(TOKEN) || "") };
}

async function failure(answer) {
	let text = answer.status + " " + answer.statusText;

	try {
		const said = await answer.json();

		text = said.error + (said.hint ? "; " + said.hint : "");
	} catch {
		/* it was no JSON: the status has to do */
	}
	return Object.assign(new Error(text), { status: answer.status });
}

export async function get(path) {
	const answer = await fetch(path, { headers: headers() });

	if (!answer.ok) throw await failure(answer);
	return answer;
}

export async function post(path, body) {
	const answer = await fetch(path, {
		method: "POST",
		headers: { ...headers(), "Content-Type": "application/json" },
		body: JSON.stringify(body || {}),
	});

	if (!answer.ok) throw await failure(answer);
	return answer.json();
}

/* One event: lines up to an empty one. */
function readEvent(text) {
	const event = { type: "message", data: "" };

	for (const line of text.split("\n")) {
		if (line.startsWith("event: ")) event.type = line.slice(7);
		else if (line.startsWith("data: ")) event.data += line.slice(6);
	}
	return event;
}

/* Calls @on for each event until the stream ends or @signal ends it. */
export async function readStream(path, signal, on) {
	const answer = await fetch(path, { headers: headers(), signal });

	if (!answer.ok) throw await failure(answer);
	const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
	let rest = "";

	for (;;) {
		const { value, done } = await reader.read();

		if (done) return;
		rest += value;
		for (let end; (end = rest.indexOf("\n\n")) >= 0; rest = rest.slice(end + 2)) {
			const event = readEvent(rest.slice(0, end));

			if (event.data) on(event.type, JSON.parse(event.data));
		}
	}
}
