
"use strict";
// player shows runs in the panels of the page and plays them. Of runs that are under way it shows the end, and more
// with each call of what it returns. Its keys work until signal.
const player = (runs, { live = false, signal } = {}) => {
	const get = id => document.getElementById(id);
	const make = (name, attributes = {}, ...children) => {
		const e = document.createElement(name);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		e.append(...children);
		return e;
	};
	const draw = (name, attributes = {}) => {
		const e = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		return e;
	};

	// unpack turns the frames of a sequence into what happened at each position, in the order of calls, and
	// into what each call adds up to.
	function unpack(frames) {
		const events = [], sum = [], masked = [], free = [], times = [], entropy = [];
		const last = l => events[l][events[l].length - 1];
		let log = 0, left = 0, all = 0;
		for (const f of frames) {
			const more = (f.length || 0) + (f.grown || 0);
			for (let n = 0; n < more; n++) events.push([]);
			left += more;
			all += more;
			(f.positions || []).forEach((l, i) => {
				if (!last(l) || last(l).masked) left--;
				const nats = f.call ? -f.log_probabilities[i] : null;
				log -= nats;
				events[l].push({ call: f.call, word: f.pieces[i], nats, masked: false, others: (f.alternatives || [])[i] });
			});
			for (const l of f.masked_again || []) {
				if (last(l) && !last(l).masked) left++;
				events[l].push({ call: f.call, masked: true });
			}
			if (f.call === 0) all = left;
			sum.push(log);
			masked.push(left);
			free.push(all);
			times.push(f.seconds - frames[0].seconds);
			entropy.push(f.entropy);
		}
		return { events, calls: frames.length - 1, sum, masked, free, times, entropy };
	}

	// at is the index of the last event of a position up to a call, -1 for none.
	function at(events, call) {
		let i = events.length - 1;
		while (i >= 0 && events[i].call > call) i--;
		return i;
	}

	const shown = word => JSON.stringify(word).slice(1, -1);
	const probability = e => `p = ${Math.exp(-e.nats).toPrecision(3)} (${e.nats.toFixed(2)} nats)`;

	// sequences are the frames of each sequence, in the order of their indices.
	const sequences = frames => [...Map.groupBy(frames, f => f.sequence).entries()].sort((a, b) => a[0] - b[0]).map(x => x[1]);

	// A panel shows a sequence of a run.
	const panels = [...document.querySelectorAll(".panel")].map((element, i) => ({
		name: runs[i].name, element, index: i, sequences: sequences(runs[i].frames),
		text: element.querySelector(".live"), counts: element.querySelector(".counts"),
		detail: element.querySelector(".detail"), heat: element.querySelector(".heat"), here: -1,
	}));

	function open(p, index) {
		Object.assign(p, unpack(p.sequences[Math.min(index, p.sequences.length - 1)]), { call: -1, keys: [], told: undefined });
		p.spans = p.events.map((e, l) => {
			const span = make("span", { class: "t", role: "option", id: `p${p.index}-${l}` });
			span.dataset.at = l;
			// A mask is drawn around the token that stands there at the end, out of sight and of the text, so
			// that lines stay where they are in any font.
			span.dataset.word = e.findLast(x => !x.masked)?.word.replaceAll("\n", "↵\n") || player.blank;
			return span;
		});
		p.text.replaceChildren(...p.spans);
		heat(p);
		p.values = { calls: make("dd"), seconds: make("dd"), "log-probability": make("dd"), masked: make("dd"), differ: make("dd") };
		p.counts.replaceChildren(...Object.entries(p.values).filter(([name]) => name !== "differ" || p.index).map(([name, value]) =>
			make("div", {}, make("dt", {}, name === "differ" ? "not as in " + panels[0].name : name === "log-probability" ? name + ", nats" : name), value)));
		p.detail.textContent = (live ? "" : leastProbable(p)) + "Point at a token, or go to it with the keyboard, for its probability and its call.";
	}

	// leastProbable names the drawn token of the lowest probability, and its call.
	function leastProbable(p) {
		const [e, l] = p.events.flatMap((all, l) => all.map(e => [e, l])).reduce((a, b) => b[0].nats > (a[0]?.nats ?? 0) ? b : a, []);
		return e ? `Least probable: “${shown(e.word)}” at position ${l}, call ${e.call}, ${probability(e)}. ` : "";
	}

	// heat draws a cell for each position, by the call of its last reveal.
	function heat(p) {
		const width = Math.min(64, p.events.length), rows = Math.ceil(p.events.length / width);
		const svg = draw("svg", { viewBox: `0 0 ${width} ${rows}`, role: "img", "shape-rendering": "crispEdges", preserveAspectRatio: "none" });
		svg.style.height = rows + "rem";
		p.cells = p.events.map((e, l) => {
			const last = e[e.length - 1];
			const cell = draw("rect", { x: l % width, y: Math.floor(l / width), width: 1, height: 1 });
			cell.setAttribute("class", !last || last.masked || last.call === 0 ? "given" : "scale");
			if (last) cell.style.setProperty("--t", ordered(p, last.call));
			svg.append(cell);
			return cell;
		});
		const early = p.events.map((e, l) => [e.length ? e[e.length - 1].call : 0, l]).filter(x => x[0] > 0).sort((a, b) => a[0] - b[0]).slice(0, 8).map(x => x[1]);
		svg.setAttribute("aria-label", `the first positions revealed are ${early.join(", ")}`);
		p.heat.querySelector("svg")?.remove();
		p.heat.append(svg);
	}

	// ordered is the place of a call on the scale of colours, from 0 for the first to 1 for the last.
	const ordered = (p, call) => (call - 1) / Math.max(1, p.calls - 1);

	let unit = get("unit").value, mode = get("colours").value, time = 0, end = 0, playing = false, before = 0;
	const times = () => unit === "calls" ? 1 : 1000; // steps of the slider in a unit

	// callAt is the call of a panel at a time.
	function callAt(p, t) {
		if (unit !== "seconds") return Math.min(p.calls, Math.floor((unit === "share" ? t * p.calls : t) + 1e-9));
		let c = 0;
		while (c < p.calls && p.times[c + 1] <= t + 1e-9) c++;
		return c;
	}

	// show brings a panel to a call. Only tokens that change are touched.
	function show(p, call, first) {
		const words = new Array(p.events.length);
		let differ = 0, both = 0;
		for (let l = 0; l < p.events.length; l++) {
			const e = p.events[l], i = at(e, call), now = e[i];
			const token = now && !now.masked;
			words[l] = token ? now.word : null;
			const unlike = first && first.words.length === p.events.length && token && first.words[l] !== null && now.call > 0;
			const differs = unlike && first.words[l] !== now.word;
			if (unlike) both++;
			if (differs) differ++;
			const fresh = token && call > 0 && now.call === call;
			let style = "t", place = "";
			if (!token) style += now && now.masked ? " mask again" : " mask";
			else if (now.call === 0) style += " given";
			else {
				if (fresh) style += " fresh";
				if (mode !== "state") {
					style += " scale";
					place = mode === "order" ? ordered(p, now.call) : Math.exp(-now.nats);
				}
			}
			if (differs) style += " differs";
			if (l === p.here) style += " here";
			const key = i + style + place;
			if (key === p.keys[l]) continue;
			p.keys[l] = key;
			const span = p.spans[l];
			span.className = style;
			span.style.setProperty("--t", place);
			if (!token) {
				span.replaceChildren();
				span.setAttribute("aria-label", now && now.masked ? "masked again" : "masked");
			} else {
				span.removeAttribute("aria-label");
				const lines = now.word.split("\n");
				span.replaceChildren(...lines.flatMap((line, n) => n ? [make("span", { class: "nl", "aria-hidden": "true" }, "↵"), "\n" + line] : [line]));
			}
			p.cells[l].classList.toggle("later", !token);
		}
		p.words = words;
		p.call = call;
		p.values.calls.textContent = `${call} of ${p.calls}`;
		p.values.seconds.textContent = p.times[call].toFixed(p.times[p.calls] < 1 ? 3 : 1);
		p.values["log-probability"].textContent = p.sum[call].toFixed(2).replace("-", "−");
		p.values.masked.textContent = `${p.masked[call]} of ${p.free[call]}`;
		if (p.index) p.values.differ.textContent = both ? `${differ} of ${both}` : "–";
		if (p.told !== undefined) tell(p, p.told);
	}

	function render() {
		for (const p of panels) show(p, callAt(p, time), p.index ? panels[0] : null);
		get("time").value = unit === "calls" ? Math.floor(time + 1e-9) : Math.round(time * times());
		get("now").textContent = unit === "calls" ? `call ${Math.floor(time + 1e-9)} of ${end}` : unit === "share" ? `${Math.round(100 * time)} % of the calls` : `${time.toFixed(end < 1 ? 3 : 1)} of ${end.toFixed(end < 1 ? 3 : 1)} s`;
		get("time").setAttribute("aria-valuetext", get("now").textContent);
		get("time").setAttribute("aria-label", { calls: "call", share: "share of the calls", seconds: "seconds" }[unit]);
		cursor();
	}

	function go(t) {
		time = Math.max(0, Math.min(end, t));
		render();
	}

	// step goes to the next call, or the one before, of any panel.
	function step(by) {
		pause();
		if (unit === "calls") return go(Math.floor(time + 1e-9) + by);
		const all = panels.flatMap(p => unit === "share" ? p.times.map((_, c) => c / p.calls) : p.times).sort((a, b) => a - b);
		go(by > 0 ? all.find(t => t > time + 1e-9) ?? end : all.findLast(t => t < time - 1e-9) ?? 0);
	}

	function pause() {
		playing = false;
		get("play").textContent = "Play";
	}

	function play() {
		if (playing) return pause();
		playing = true;
		get("play").textContent = "Pause";
		if (time >= end) time = 0;
		before = performance.now();
		requestAnimationFrame(tick);
	}

	// tick goes on: at speed 1 everything takes ten seconds.
	function tick(now) {
		if (!playing) return;
		time += Math.max(0, now - before) / 1e4 * end * Number(get("speed").value);
		before = now;
		if (time >= end) {
			if (!get("loop").checked) {
				pause();
				return go(end);
			}
			time = 0;
		}
		render();
		requestAnimationFrame(tick);
	}

	// begin fits the controls to the unit and to what is shown.
	function begin() {
		end = unit === "share" ? 1 : Math.max(...panels.map(p => unit === "calls" ? p.calls : p.times[p.calls]));
		get("time").max = Math.round(end * times());
		redraw();
	}

	function legend() {
		const item = (style, text, sample) => make("span", {}, make("b", { class: style, "data-word": "\u00a0\u00a0" }, sample), " " + text);
		const items = [item("t mask", "masked", ""), item("t again mask", "masked again", ""), item("t fresh", "of this call", "new"), item("t given", "given", "text")];
		if (mode === "confidence") items.push(make("span", {}, "probability 0 ", make("b", { class: "bar" }), " 1"));
		if (mode === "order") items.push(make("span", {}, "first call ", make("b", { class: "bar" }), " last"));
		if (panels.length > 1) items.push(item("t differs", "not as in " + panels[0].name, "word"));
		get("legend").replaceChildren(...items);
		get("panels").className = "panels " + mode;
	}

	// chart draws what all panels have against calls: the masked fraction and, where traces have it, the entropy.
	const box = { w: 600, h: 170, left: 34, bottom: 22, top: 8, right: 8 };
	const charts = [
		{ id: "masked", name: "masked fraction", of: p => p.masked.map((m, c) => p.free[c] ? m / p.free[c] : 0) },
		{ id: "entropy", name: "entropy", of: p => p.entropy },
	];
	const known = y => typeof y === "number";
	const most = () => Math.max(1, ...panels.map(p => p.calls));
	const across = call => box.left + (box.w - box.left - box.right) * call / most();
	const up = share => box.top + (box.h - box.top - box.bottom) * (1 - share);
	function chart(x) {
		const all = panels.map(x.of), top = Math.max(1, Math.ceil(all.flat().reduce((a, b) => Math.max(a, b || 0), 0)));
		const svg = draw("svg", { viewBox: `0 0 ${box.w} ${box.h + 16 * panels.length}`, role: "img", "aria-label": `${x.name} against calls: ` + panels.map(p => `${p.name} needs ${p.calls} calls`).join(", ") });
		svg.append(draw("path", { class: "axis", d: `M${box.left} ${box.top}V${up(0)}H${box.w - box.right}` }));
		const label = (x, y, text, anchor) => {
			const t = draw("text", { x, y, "text-anchor": anchor });
			t.textContent = text;
			svg.append(t);
		};
		label(box.left - 5, up(1) + 8, String(top), "end");
		label(box.left - 5, up(0), "0", "end");
		label(box.left, up(0) + 16, "0", "middle");
		label(box.w - box.right, up(0) + 16, `${most()} calls`, "end");
		let row = 0;
		panels.forEach((p, i) => {
			const points = all[i].flatMap((y, c) => known(y) ? [`${across(c)},${up(y / top)}`] : []);
			if (!points.length) return;
			svg.append(draw("polyline", { class: "l" + i, points: points.join(" ") }));
			const y = box.h + 12 + 16 * row++;
			svg.append(draw("polyline", { class: "l" + i, points: `${box.left},${y - 4} ${box.left + 40},${y - 4}` }));
			label(box.left + 48, y, `${p.name}, ${p.calls} calls`, "start");
		});
		x.line = draw("path", { class: "cursor" });
		svg.append(x.line);
		get(x.id).querySelector("svg")?.remove();
		get(x.id).append(svg);
	}

	function redraw() {
		get("entropy").hidden = !panels.some(p => p.entropy.some(known));
		box.w = Math.max(280, Math.min(640, get("masked").clientWidth)); // so that letters keep their size
		charts.forEach(chart);
	}

	function cursor() {
		const x = across(Math.max(...panels.map(p => p.call)));
		for (const c of charts) c.line.setAttribute("d", `M${x} ${box.top}V${up(0)}`);
	}

	// others are the likeliest tokens where a token was drawn, if the trace has them.
	const others = e => e.others?.length ? ` (likeliest: “${e.others.map(o => `${shown(o.piece)}” ${Math.exp(o.log_probability).toPrecision(2)}`).join(", “")})` : "";

	// tell says what happened at a position so far.
	function tell(p, l) {
		p.told = l;
		const past = p.events[l].filter(e => e.call <= p.call);
		const each = past.map(e => e.masked ? `call ${e.call}: masked again` :
			e.call === 0 ? `“${shown(e.word)}” is given` : `call ${e.call}: “${shown(e.word)}”, ${probability(e)}${others(e)}`);
		let text = `position ${l}: ${each.join("; ") || "masked"}`;
		const first = panels[0];
		if (p.index && first.words[l] && p.words[l] && first.words[l] !== p.words[l]) text += `; ${first.name} has “${shown(first.words[l])}”`;
		if (p.detail.textContent !== text) p.detail.textContent = text; // it is read aloud
	}

	function visit(p, l) {
		p.here = Math.max(0, Math.min(p.events.length - 1, l));
		p.text.setAttribute("aria-activedescendant", `p${p.index}-${p.here}`);
		render();
		p.spans[p.here].scrollIntoView({ block: "nearest" });
		tell(p, p.here);
	}

	for (const p of panels) {
		p.text.addEventListener("pointerover", event => {
			const span = event.target.closest(".t");
			if (span) tell(p, Number(span.dataset.at));
		});
		p.text.addEventListener("click", event => {
			const span = event.target.closest(".t");
			if (span) visit(p, Number(span.dataset.at));
		});
		p.text.addEventListener("focus", () => p.text.matches(":focus-visible") && visit(p, Math.max(0, p.here)));
		p.text.addEventListener("blur", () => { p.here = -1; render(); });
		p.text.addEventListener("keydown", event => {
			const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -10, ArrowDown: 10 }[event.key];
			if (!by) return;
			event.preventDefault();
			event.stopPropagation();
			visit(p, p.here + by);
		});
	}

	const pick = (id, by) => {
		const s = get(id);
		s.selectedIndex = Math.max(0, Math.min(s.options.length - 1, s.selectedIndex + by));
		s.dispatchEvent(new Event("change"));
	};
	document.addEventListener("keydown", event => {
		if (!get("time").checkVisibility() || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, summary, textarea, input:not([type=range], [type=checkbox])")) return;
		const button = event.target.matches("button, input[type=checkbox]");
		const does = {
			" ": button ? null : play, ArrowLeft: () => step(-1), ArrowRight: () => step(1),
			Home: () => { pause(); go(0); }, End: () => { pause(); go(end); },
			"+": () => pick("speed", 1), "-": () => pick("speed", -1), l: () => get("loop").click(),
			c: () => { get("colours").selectedIndex = (get("colours").selectedIndex + 1) % 3; get("colours").dispatchEvent(new Event("change")); },
		}[event.key];
		if (!does) return;
		event.preventDefault();
		does();
	}, { signal });
	get("play").onclick = play;
	get("first").onclick = () => { pause(); go(0); };
	get("last").onclick = () => { pause(); go(end); };
	get("back").onclick = () => step(-1);
	get("next").onclick = () => step(1);
	get("time").oninput = () => { pause(); go(get("time").value / times()); };
	get("colours").onchange = () => { mode = get("colours").value; legend(); render(); };
	get("unit").onchange = () => {
		const share = time / end;
		unit = get("unit").value;
		begin();
		go(unit === "calls" ? Math.round(share * end) : share * end);
	};
	get("sample").onchange = () => {
		panels.forEach(p => open(p, get("sample").selectedIndex));
		begin();
		go(Math.min(time, end));
	};

	const longest = panels.reduce((a, b) => a.sequences.length >= b.sequences.length ? a : b).sequences;
	get("samples").hidden = longest.length < 2;
	get("sample").replaceChildren(...longest.map(frames => make("option", {}, String(frames[0].sequence))));
	panels.forEach(p => open(p, 0));
	for (const e of document.querySelectorAll("#controls, .counts, .live, .heat, #masked, #worth")) e.hidden = false;
	for (const e of document.querySelectorAll(".plain")) e.hidden = true;
	begin();
	legend();
	addEventListener("resize", () => { redraw(); cursor(); }, { signal });
	addEventListener("beforeprint", () => { pause(); go(end); }, { signal });
	if (live || matchMedia("(prefers-reduced-motion: reduce)").matches) go(end);
	else { go(0); play(); }
	return () => {
		const follows = time >= end;
		panels.forEach((p, i) => {
			p.sequences = sequences(runs[i].frames);
			open(p, get("sample").selectedIndex);
		});
		begin();
		go(follows ? end : time);
	};
};
player.blank = "\u00a0\u00a0\u00a0\u00a0\u200b"; // a mask whose token is not known
