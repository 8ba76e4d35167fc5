
// live is what the panes of a server's page share.
const live = (() => {
	const get = id => document.getElementById(id);
	const settings = [...document.querySelectorAll(".settings")];
	const pristine = [...document.querySelectorAll(".panel")];
	get("panels").replaceChildren();
	get("settings").open = matchMedia("(min-width: 60rem)").matches;
	// stop ends the requests that are under way, over the keys of the player that shows them.
	let stop = new AbortController(), over = new AbortController();

	// set returns the fields of a request that a fieldset sets.
	function set(fields) {
		const line = {};
		for (const e of fields.querySelectorAll("select, input")) {
			if (e.name === "more") for (const pair of e.value.trim().split(/\s+/).filter(Boolean)) {
				const [, key, value] = pair.match(/^([^=]+)=(.*)$/s) || [];
				if (!key) throw new Error(`${pair}: write key=value`);
				line[key] = /^(-?\d+(\.\d+)?|true|false)$/.test(value) ? JSON.parse(value) : value;
			} else if (e.value !== "") line[e.name] = e.type === "number" ? Number(e.value) : e.value;
		}
		return line;
	}

	// asked returns the fields of a request for what is typed: a list of ids, a text with gaps, in which
	// [MASK] is one mask and ___ one a stroke, or a text to continue.
	function asked() {
		const typed = get("text").value;
		if (/^\s*\[[\d,\snul-]*\]\s*$/.test(typed)) return { ids: JSON.parse(typed) };
		const infill = typed.replace(/\{\{.*?\}\}|_{3,}|\[MASK\]/gs, gap => gap.startsWith("{{") ? gap : `{{${gap[0] === "_" ? gap.length : 1}}}`);
		if (infill.includes("{{")) return { infill };
		return { prefix: typed, length: get("text").dataset.length || undefined };
	}

	const quoted = text => /^[\w./:=,@+-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";

	// commands are what asks the same elsewhere.
	function commands(line) {
		const json = quoted(JSON.stringify(line)), model = quoted(document.querySelector("h1 small").textContent);
		return { command: `echo ${json} | mdmgen generate --model ${model} --input -`, curl: `curl ${location.origin}/v1/generate -H 'Content-Type: application/json' -d ${json}` };
	}

	// panel is an empty panel with the commands of its line.
	function panel(i, line) {
		const p = pristine[i].cloneNode(true), same = document.createElement("details"), summary = document.createElement("summary");
		summary.textContent = "The same from a terminal";
		same.append(summary, ...Object.entries(commands(line)).map(([name, text]) => {
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
		p.querySelector(".facts").remove();
		p.append(same);
		return p;
	}

	// stream yields the events of a request, with the frames of its calls.
	async function* stream(path, line, signal) {
		const headers = { "Content-Type": "application/json" };
		if (get("key").value) headers.Authorization = "Bearer " + get("key").value;
		const answer = await fetch(path, { method: "POST", headers, signal, body: JSON.stringify({ ...line, stream: true, diffusing: true }) });
		if (!answer.ok) {
			get("keyed").hidden = answer.status !== 401 && get("keyed").hidden;
			const { error } = await answer.json();
			throw Object.assign(new Error(error.message), { param: error.param });
		}
		let rest = "";
		for await (const part of answer.body.pipeThrough(new TextDecoderStream())) {
			const events = (rest + part).split("\n\n");
			rest = events.pop();
			for (const e of events) {
				if (!e.startsWith("data: {")) continue;
				const event = JSON.parse(e.slice(6));
				if (event.error) throw new Error(event.error.message);
				const frames = event.frames ?? (event.frame ? [event.frame] : []);
				for (const f of frames) f.pieces ??= f.tokens.map(t => " " + t);
				yield { ...event, frames };
			}
		}
	}

	// eased returns a function that calls draw before the next picture, once for all calls until then.
	function eased(draw) {
		let due = false;
		return () => {
			if (!due) requestAnimationFrame(() => { due = false; draw(); });
			due = true;
		};
	}

	// fill fills the canvas by each of the settings that are shown. What the page asks for as it opens
	// ends after opening seconds, so that no visitor keeps a slow server busy unasked.
	const opening = 5;
	async function fill(unasked) {
		stop.abort();
		over.abort();
		stop = new AbortController();
		over = new AbortController();
		const signal = stop.signal, shown = over.signal;
		for (const e of document.querySelectorAll("#wrong, #controls, .chart, #worth")) e.hidden = true;
		get("stop").disabled = false;
		get("said").textContent = "waiting";
		if (unasked) setTimeout(() => signal.aborted || get("stop").disabled || stopped(`stopped after ${opening} s: Fill goes to the end`), 1000 * opening);
		try {
			get("panels").replaceChildren();
			const lines = settings.filter(f => !f.hidden).map(f => ({ ...asked(), ...set(f) }));
			const runs = lines.map((_, i) => ({ name: pristine[i].querySelector("h2").textContent, frames: [] }));
			let show = null;
			const draw = () => {
				if (shown.aborted || runs.some(r => r.frames.length === 0)) return;
				if (show) show();
				else {
					get("panels").replaceChildren(...lines.map((line, i) => panel(i, line)));
					show = player(runs, { live: true, signal: shown });
				}
			};
			const soon = eased(draw);
			await Promise.all(lines.map(async (line, i) => {
				for await (const { frames } of stream("/v1/generate", line, signal)) {
					runs[i].frames.push(...frames);
					get("said").textContent = "filling";
					soon();
				}
			}));
			draw();
			end("done: " + runs.map(r => `${runs.length > 1 ? r.name + " took " : ""}${r.frames.length - 1} calls`).join(", "));
		} catch (e) {
			if (signal.aborted) return;
			stop.abort();
			end("");
			get("wrong").textContent = e.message;
			get("wrong").hidden = Boolean(unasked);
		}
	}

	function end(text) {
		get("said").textContent = text;
		if (document.activeElement === get("stop")) get("fill").focus();
		get("stop").disabled = true;
	}

	function stopped(text) {
		stop.abort();
		end(text);
	}

	const chats = () => document.querySelector("[name=mode]:checked")?.value === "chat";
	get("ask").onsubmit = event => {
		event.preventDefault();
		if (chats()) get("message").focus();
		else fill();
	};
	get("stop").onclick = () => stopped("stopped");
	get("compare").onchange = () => { settings[1].hidden = !get("compare").checked; };
	get("ask").onkeydown = event => {
		if (event.key === "Enter" && event.ctrlKey) fill();
		if (event.key === "Escape" && !get("stop").disabled) stopped("stopped");
	};

	// A visitor sees a text being filled before any click: once, and not in a tab that nobody looks at.
	let opened = false;
	function mode() {
		document.querySelector("main").classList.toggle("chats", chats());
		if (chats() || document.hidden || opened) return;
		opened = true;
		fill(true);
	}
	for (const e of document.querySelectorAll("[name=mode]")) e.onchange = mode;
	document.addEventListener("visibilitychange", mode);
	mode();
	return { set: () => set(settings[0]), stream, eased };
})();
