
// The pane of a model with a chat template: turns, each answered after all before it.
(() => {
	const get = id => document.getElementById(id);
	if (!get("chat")) return;
	const special = new Set((get("chat").dataset.special.match(/\d+/g) ?? []).map(Number)); // tokens of which the first ends an answer
	// The first left of the messages have no room any more.
	let messages = [], left = 0, stop = null;

	function turn(role, text) {
		const e = document.createElement("div");
		e.className = "turn " + role;
		e.textContent = text;
		get("log").append(e);
		get("say").scrollIntoView({ block: "end" });
		return e;
	}

	// follow applies a frame to the cells of a canvas.
	function follow(cells, frame) {
		for (let n = (frame.length || 0) + (frame.grown || 0); n > 0; n--) cells.push({});
		frame.positions.forEach((l, i) => { cells[l] = { word: frame.pieces[i], token: frame.tokens[i], call: frame.call }; });
		for (const l of frame.masked_again || []) cells[l] = {};
	}

	// draw shows the cells of an answer while it is made, up to its end.
	function draw(bubble, cells, call) {
		const end = cells.findIndex(c => special.has(c.token));
		bubble.replaceChildren(...cells.slice(0, end < 0 ? cells.length : end).map(c => {
			const span = document.createElement("span");
			span.className = c.word === undefined ? "t mask" : c.call === call ? "t fresh" : "t";
			if (c.word === undefined) span.dataset.word = player.blank;
			else span.textContent = c.word;
			return span;
		}));
	}

	// answer yields the events of the answer to a message. If the history leaves no room, the oldest turns leave.
	async function* answer(text, signal) {
		for (const before = left; ;) try {
			const line = { max_tokens: Number(get("chat").dataset.room), ...live.set() };
			return yield* live.stream("/v1/chat/completions", { messages: [...messages.slice(left), { role: "user", content: text }], ...line }, signal);
		} catch (e) {
			if (["length", "max_tokens"].includes(e.param) && left < messages.length) {
				left += 2;
				continue;
			}
			left = before; // The fault is another.
			throw e;
		}
	}

	// say asks for the answer to a message. A stop keeps the answer up to its first mask; what has no
	// answer goes back to where it was typed.
	async function say() {
		const text = get("message").value.trim();
		if (!text || stop) return;
		const own = stop = new AbortController(), asked = turn("user", text), bubble = turn("assistant", ""), cells = [];
		let content = "", begin = -1, call = 0, last = {}, wrong = "";
		bubble.setAttribute("aria-busy", "true"); // Until it is whole it is not read aloud.
		get("message").value = "";
		get("unsaid").hidden = true;
		get("halt").disabled = false;
		const soon = live.eased(() => {
			if (stop !== own) return;
			draw(bubble, cells.slice(begin), call);
			get("say").scrollIntoView({ block: "end" });
		});
		try {
			for await (const event of answer(text, own.signal)) {
				for (const frame of event.frames) {
					follow(cells, frame);
					call = frame.call;
					if (begin < 0) begin = frame.positions.length;
				}
				const choice = event.choices?.[0];
				content += choice?.delta.content ?? "";
				last = { ...event, reason: choice?.finish_reason };
				soon();
			}
		} catch (e) {
			if (!own.signal.aborted) wrong = e.message;
		}
		if (stop !== own) return; // A new chat has begun.
		stop = null;
		if (document.activeElement === get("halt")) get("message").focus();
		get("halt").disabled = true;
		if (!last.reason && !content) {
			asked.remove();
			bubble.remove();
			get("message").value ||= text;
		} else {
			messages.push({ role: "user", content: text }, { role: "assistant", content });
			bubble.textContent = content.trim();
			bubble.removeAttribute("aria-busy");
			const how = last.reason ? [`${last.nfe} calls`, `${(last.timings.predicted_ms / 1000).toFixed(1)} s`, `seed ${last.seed}`] : ["stopped"];
			if (last.reason === "length") how.push("ended by its length");
			if (left) how.push("the oldest turns have no room any more");
			turn("note", how.join(", "));
		}
		get("unsaid").textContent = wrong;
		get("unsaid").hidden = !wrong;
	}

	get("say").onsubmit = event => { event.preventDefault(); say(); };
	get("halt").onclick = () => stop?.abort();
	get("anew").onclick = () => {
		stop?.abort();
		stop = null;
		messages = [];
		left = 0;
		get("log").replaceChildren();
		get("halt").disabled = true;
		get("message").focus();
	};
	get("say").onkeydown = event => {
		if (event.key === "Escape") stop?.abort();
		if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.target !== get("message")) return;
		event.preventDefault();
		say();
	};
})();
