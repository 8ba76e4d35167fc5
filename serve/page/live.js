
(() => {
	const get = id => document.getElementById(id);
	const settings = [...document.querySelectorAll("fieldset")];
	const pristine = [...document.querySelectorAll(".panel")];
	get("panels").replaceChildren();
	// stop ends the requests that are under way, over the keys of the player that shows them.
	let stop = new AbortController(), over = new AbortController();

	// asked is the request of a fieldset: a line of generate --input.
	function asked(fields) {
		const text = get("text").value, line = text.trim().startsWith("[") ? { ids: JSON.parse(text) } : { infill: text };
		for (const e of fields.querySelectorAll("select, input")) {
			if (e.name === "more") for (const pair of e.value.trim().split(/\s+/).filter(Boolean)) {
				const [, key, value] = pair.match(/^([^=]+)=(.*)$/s) || [];
				if (!key) throw new Error(`${pair}: write key=value`);
				line[key] = /^(-?\d+(\.\d+)?|true|false)$/.test(value) ? JSON.parse(value) : value;
			} else if (e.value !== "") line[e.name] = e.type === "number" ? Number(e.value) : e.value;
		}
		return line;
	}

	const quoted = text => /^[\w./:=,@+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";

	// commands are what asks the same elsewhere.
	function commands(line) {
		const json = quoted(JSON.stringify(line)), model = quoted(document.querySelector("h1 small").textContent);
		return { command: `echo ${json} | mdmgen generate --model ${model} --input -`, curl: `curl ${location.origin}/v1/generate -H 'Content-Type: application/json' -d ${json}` };
	}

	// panel is an empty panel with the commands of its line.
	function panel(i, line) {
		const p = pristine[i].cloneNode(true), facts = p.querySelector(".facts");
		facts.replaceChildren(...Object.entries(commands(line)).map(([name, text]) => {
			const row = document.createElement("span"), code = document.createElement("code"), copy = document.createElement("button");
			row.className = "copy";
			code.textContent = text;
			copy.textContent = "copy";
			copy.setAttribute("aria-label", `copy the ${name} of ${pristine[i].querySelector("h2").textContent}`);
			copy.onclick = async () => {
				await navigator.clipboard?.writeText(text);
				getSelection().selectAllChildren(code);
				copy.textContent = navigator.clipboard ? "copied" : "selected";
			};
			row.append(copy, code);
			return row;
		}));
		return p;
	}

	// stream yields the events of a request.
	async function* stream(line, signal) {
		const headers = { "Content-Type": "application/json" };
		if (get("key").value) headers.Authorization = "Bearer " + get("key").value;
		const answer = await fetch("/v1/generate", { method: "POST", headers, signal, body: JSON.stringify({ ...line, stream: true, diffusing: true }) });
		if (!answer.ok) {
			get("keyed").hidden = answer.status !== 401 && get("keyed").hidden;
			throw new Error((await answer.json()).error.message);
		}
		let rest = "";
		for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
			const events = (rest + part).split("\n\n");
			rest = events.pop();
			for (const e of events) if (e.startsWith("data: {")) yield JSON.parse(e.slice(6));
		}
	}

	// fill fills the canvas by each of the settings that are shown.
	async function fill() {
		stop.abort();
		over.abort();
		stop = new AbortController();
		over = new AbortController();
		const signal = stop.signal, shown = over.signal;
		for (const e of document.querySelectorAll("#wrong, #controls, .chart")) e.hidden = true;
		get("stop").disabled = false;
		get("said").textContent = "waiting";
		try {
			const lines = settings.filter(f => !f.hidden).map(asked);
			const runs = lines.map((_, i) => ({ name: pristine[i].querySelector("h2").textContent, frames: [] }));
			get("panels").replaceChildren(...lines.map((line, i) => panel(i, line)));
			let show = null, due = false;
			const draw = () => {
				due = false;
				if (shown.aborted) return;
				if (show) show();
				else show = player(runs, { live: true, signal: shown });
			};
			// Calls that come faster than pictures share one.
			const soon = () => {
				if (due || runs.some(r => r.frames.length === 0)) return;
				due = true;
				requestAnimationFrame(draw);
			};
			await Promise.all(lines.map(async (line, i) => {
				for await (const { frame, error } of stream(line, signal)) {
					if (error) throw new Error(error.message);
					if (!frame) continue;
					frame.pieces ??= frame.tokens.map(t => " " + t);
					runs[i].frames.push(frame);
					get("said").textContent = "filling";
					soon();
				}
			}));
			draw();
			end("done: " + runs.map(r => `${r.name} took ${r.frames.length - 1} calls`).join(", "));
		} catch (e) {
			if (signal.aborted) return;
			stop.abort();
			end("");
			get("wrong").textContent = e.message;
			get("wrong").hidden = false;
		}
	}

	function end(text) {
		get("said").textContent = text;
		get("stop").disabled = true;
	}

	get("ask").onsubmit = event => { event.preventDefault(); fill(); };
	get("stop").onclick = () => { stop.abort(); end("stopped"); };
	get("compare").onchange = () => { settings[1].hidden = !get("compare").checked; };
	get("ask").onkeydown = event => {
		if (event.key === "Enter" && event.ctrlKey) fill();
		if (event.key === "Escape") get("stop").click();
	};
})();
