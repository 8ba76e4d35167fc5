package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/serve"
)

// TestPageAlone checks that the page has no external references, and a policy that allows only its
// own script and style.
func TestPageAlone(t *testing.T) {
	t.Parallel()
	page := begin(t, reftest.Law(t, "xor3-mixed"), serve.Config{}).get(t, "/")
	for _, must := range []string{"default-src 'none'", "script-src 'sha256-", "connect-src 'self'", "<option", "parallel-fhs", ">[null, null, null]<"} {
		if !strings.Contains(page, must) {
			t.Errorf("the page has no %s", must)
		}
	}
	outside := regexp.MustCompile(`(?i)\b(src|href|action)\s*=|url\(|@import|https?:|unsafe|style="`)
	for _, found := range outside.FindAllString(strings.ReplaceAll(strings.ReplaceAll(page, "http://www.w3.org/2000/svg", ""), `<link rel="icon" href="data:,">`, ""), -1) {
		t.Errorf("the page has %s", found)
	}
}

// browser is a page in a headless browser.
type browser struct {
	t    *testing.T
	to   *os.File
	from *bufio.Reader
	page string
	sent int
}

// browse opens a page. It skips the test if there is no browser.
func browse(t *testing.T, url string) *browser {
	t.Helper()
	reftest.Long(t)
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no browser opens the page here: ", err)
	}
	commands, to, err := os.Pipe()
	reftest.OK(t, err)
	from, answers, err := os.Pipe()
	reftest.OK(t, err)
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{commands, answers} // the browser's descriptors 3 and 4
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	reftest.OK(t, cmd.Start())
	commands.Close()
	answers.Close()
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		b.call("Browser.close", nil, new(struct{}))
		_ = cmd.Wait() // It has been closed.
		to.Close()
		from.Close()
	})
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": url}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.page = session.SessionID
	return b
}

// call sends a command of the browser's protocol, and decodes the answer into into.
func (b *browser) call(method string, params map[string]any, into any) {
	b.t.Helper()
	b.sent++
	message := map[string]any{"id": b.sent, "method": method, "params": params}
	if b.page != "" && !strings.HasPrefix(method, "Browser.") {
		message["sessionId"] = b.page
	}
	data := reftest.Must(json.Marshal(message))(b.t)
	reftest.Must(b.to.Write(append(data, 0)))(b.t)
	for {
		line := reftest.Must(b.from.ReadBytes(0))(b.t)
		var answer struct {
			ID            int
			Result, Error json.RawMessage
		}
		reftest.OK(b.t, json.Unmarshal(line[:len(line)-1], &answer))
		if answer.ID != b.sent {
			continue // an event
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error)
		}
		reftest.OK(b.t, json.Unmarshal(answer.Result, into))
		return
	}
}

// eval returns the text to which a script evaluates.
func (b *browser) eval(script string) string {
	b.t.Helper()
	var out struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.call("Runtime.evaluate", map[string]any{"expression": "String(" + script + ")", "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", script, out.ExceptionDetails)
	}
	return out.Result.Value.(string)
}

// until waits until a script evaluates to want.
func (b *browser) until(script, want string) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		got := b.eval(script)
		if strings.Contains(got, want) {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("%s gives %q, not %q", script, got, want)
		}
	}
}

// press presses a key.
func (b *browser) press(key string, code, modifiers int) {
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}, new(struct{}))
	}
}

// form sets the width of the window and the scheme of its colours.
func (b *browser) form(width int, scheme string) {
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false}, new(struct{}))
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, new(struct{}))
}

// forms are those in which the page is looked at.
var forms = []struct {
	width  int
	scheme string
}{{1600, "light"}, {1600, "dark"}, {400, "light"}, {400, "dark"}}

// fits checks that nothing is wider than the window.
func (b *browser) fits(what string) {
	b.t.Helper()
	for _, f := range forms {
		b.form(f.width, f.scheme)
		b.until(`innerWidth`, strconv.Itoa(f.width))
		if wide := b.eval(`[document.documentElement, ...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth).map(e => e.outerHTML)`); wide != "" {
			b.t.Errorf("%s at %d: %.300s", what, f.width, wide)
		}
	}
}

// Keys of [browser.press].
const enter, escape, left, right, control = 13, 27, 37, 39, 2

// said and masks are scripts: what the form says, and the number of masks of the first panel; log is that of
// the turns of the chat.
const (
	said  = `document.getElementById("said")?.textContent`
	masks = `document.querySelectorAll("[id^=p0-].mask").length`
	log   = `document.getElementById("log").innerText`
)

// TestPage checks that the page opens with a text being filled. It then fills by two settings, with the
// keyboard alone, and reads gaps in the words that people type; an error is shown as one.
func TestPage(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	b := browse(t, r.url+"/")
	b.until(said, "done: 24 calls")
	b.until(masks, "0")
	shown, typed := `[...document.querySelectorAll("[id^=p0-]")].map(e => e.textContent.replaceAll("↵", "")).join("")`, `document.getElementById("text").value`
	var asked sampled
	fill := func(line string) string {
		r.must(t, 200, "/v1/generate", line, &asked)
		return asked.Samples[0].Text
	}
	if got, want := b.eval(shown), fill(`{"infill":"`+b.eval(typed)+`","seed":1}`); got != want {
		t.Errorf("opened with %q, want %q", got, want)
	}
	b.fits("filled")
	b.colours(24)
	b.eval(`(document.getElementById("compare").click(), document.getElementById("text").focus())`)
	b.press("Enter", enter, control)
	b.until(said, "done: A took 24 calls, B took 8 calls")
	b.fits("compared")
	now := `document.getElementById("now").textContent`
	b.eval(`document.querySelector(".live").focus()`)
	b.press("ArrowLeft", left, 0) // It moves from token to token.
	b.until(now, "call 24 of 24")
	b.eval(`document.activeElement.blur()`)
	b.press("ArrowLeft", left, 0)
	b.until(now, "call 23 of 24")
	b.until(masks, "1")
	if text := b.eval(`document.querySelector(".copy code").textContent`); !strings.Contains(text, "mdmgen generate --model ") || !strings.Contains(text, `{{24}}`) {
		t.Error(text)
	}
	b.eval(`document.getElementById("compare").click()`)
	for _, c := range [][3]string{
		{`[MASK] a__b, ____, {{"___"}}{{2}}`, ``, `{"infill":"{{1}} a__b, {{4}}, {{\"___\"}}{{2}}","seed":1}`},
		{`[5, null]`, ``, `{"ids":[5,null],"seed":1}`},
		{`The king said`, `length=12`, `{"prefix":"The king said","length":12,"seed":1}`},
	} {
		text, line := c[0], c[2]
		b.eval(`(` + typed + ` = ` + strconv.Quote(text) + `, document.getElementsByName("more")[0].value = "` + c[1] + `", document.getElementById("fill").click())`)
		want := fill(line)
		b.until(said, fmt.Sprintf("done: %d calls", asked.NFE))
		if got := b.eval(shown); got != want || asked.NFE == 0 {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	b.eval(`(document.getElementsByName("more")[0].value = "length=12 correct=gibbs:1x100000", document.getElementById("text").focus())`)
	b.press("Enter", enter, control)
	b.until(said, "filling")
	b.until(`document.querySelector(".live") !== null`, "true") // the first frame
	b.press("Escape", escape, 0)
	b.until(said, "stopped")
	b.steady()
	b.eval(`(document.getElementsByName("more")[0].value = "steps=x", document.getElementById("fill").click())`)
	b.until(`document.getElementById("wrong").hidden + document.getElementById("wrong").textContent`, "falsesteps is")
	b.fits("refused")
	// What takes long as the page opens is left, which frees the server.
	b.call("Page.enable", nil, new(struct{}))
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `{ const wait = setTimeout, ask = fetch;
		setTimeout = (f, ms) => wait(f, ms / 25);
		fetch = (path, o) => ask(path, { ...o, body: o.body.replace("{", '{"correct":"gibbs:1x100000",') }); }`}, new(struct{}))
	b.call("Page.reload", nil, new(struct{}))
	b.until(said, "stopped after 5 s")
	b.until(`[document.getElementById("stop").disabled, document.getElementById("wrong").hidden]`, "true,true")
	for end := time.Now().Add(time.Minute); !strings.Contains(r.get(t, "/metrics"), "mdmgen_num_requests_running 1\n"); time.Sleep(20 * time.Millisecond) { // the one for the metrics
		if time.Now().After(end) {
			t.Fatal("the server still fills")
		}
	}
}

// colours checks that the strip of a canvas filled in so many calls has a colour a call, lighter and
// lighter, and that letters on these colours have the contrast that WCAG 2 asks for.
func (b *browser) colours(calls int) {
	b.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.form(1600, scheme)
		var found []struct{ Ground, Letters, Cell float64 }
		reftest.OK(b.t, json.Unmarshal([]byte(b.eval(`(() => {
			document.getElementById("colours").value = "order";
			document.getElementById("colours").onchange();
			const pen = new OffscreenCanvas(1, 1).getContext("2d"), linear = v => v > 0.04045 ? ((v + 0.055) / 1.055) ** 2.4 : v / 12.92;
			const luminance = colour => { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); const [r, g, b] = pen.getImageData(0, 0, 1, 1).data; return 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255); };
			const cells = document.querySelectorAll(".heat rect");
			return JSON.stringify([...document.querySelectorAll("[id^=p0-].scale")].map(e => [e.style.getPropertyValue("--t"), getComputedStyle(e), getComputedStyle(cells[e.dataset.at])]).sort((a, b) => a[0] - b[0]).map(([, s, cell]) => ({ Ground: luminance(s.backgroundColor), Letters: luminance(s.color), Cell: luminance(cell.fill) })));
		})()`)), &found))
		if len(found) != calls {
			b.t.Errorf("%s: %d tokens are coloured, want %d", scheme, len(found), calls)
		}
		for i, f := range found {
			if ratio := (max(f.Ground, f.Letters) + 0.05) / (min(f.Ground, f.Letters) + 0.05); ratio < 4.5 || f.Ground != f.Cell || i > 0 && f.Ground <= found[i-1].Ground {
				b.t.Errorf("%s, call %d: %+v, contrast %.2f", scheme, i+1, f, ratio)
			}
		}
	}
}

// steady checks that a mask is as wide as its token in the font that draws it, and that revealing it moves
// nothing.
func (b *browser) steady() {
	b.t.Helper()
	b.form(400, "light")
	for _, family := range []string{"monospace", "serif"} {
		got := b.eval(`(() => {
			document.querySelector(".live").style.fontFamily = "` + family + `";
			const pieces = ["iiii", " WWW", " 東京", " e\u0301\u0301", "👩‍👩‍👧", "\n", " Wim", " illicit", " mm", " 12", " lll"];
			player([{ name: "A", frames: [{ sequence: 0, call: 0, length: pieces.length, positions: [], tokens: [], log_probabilities: [], seconds: 0 },
				{ sequence: 0, call: 1, positions: pieces.map((_, l) => l), pieces, log_probabilities: pieces.map(() => -1), seconds: 1 }] }], { live: true });
			const places = () => JSON.stringify([...document.querySelectorAll("[id^=p0-]")].map(e => { const r = e.getBoundingClientRect(); return [r.left, r.right, r.top].map(Math.round); }));
			document.getElementById("colours").value = "confidence";
			document.getElementById("colours").onchange();
			const after = places();
			document.getElementById("first").click();
			return document.querySelectorAll("[id^=p0-].mask").length + (places() === after ? " steady" : places() + after);
		})()`)
		if got != "11 steady" {
			b.t.Errorf("%s: %s", family, got)
		}
	}
}

// TestPageChat checks turns with their history, a stop, and a history that has become too long, with the
// keyboard alone.
func TestPageChat(t *testing.T) {
	t.Parallel()
	r := begin(t, talk(t), serve.Config{})
	b := browse(t, r.url+"/")
	b.until(said, "done")
	more := func(text string) { b.eval(`document.getElementsByName("more")[0].value = "` + text + `"`) }
	b.eval(`document.querySelector("[name=mode]").focus()`)
	b.press("ArrowRight", right, 0)
	b.until(`document.querySelector("main").className`, "chats")
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "char", "text": "\r"}, new(struct{})) // Enter goes to the message.
	b.until(`document.activeElement.id`, "message")
	var turns []serve.Message
	type_ := func(text string) { b.call("Input.insertText", map[string]any{"text": text}, new(struct{})) }
	say := func(text, settings, note string) {
		t.Helper()
		more(strings.NewReplacer(`"`, "", ":", "=", ",", " ").Replace(settings))
		type_(text)
		b.press("Enter", enter, 0)
		b.until(log+`.split("\n").at(-1)`, note)
		turns = append(turns, serve.Message{Role: "user", Content: text})
		var want serve.Completion
		r.must(t, 200, "/v1/chat/completions", `{"messages":`+reftest.Must(jsonOf(turns))(t)+`,"seed":1,`+settings+`}`, &want)
		if got := b.eval(`[...document.querySelectorAll(".assistant")].at(-1).textContent`); got == "" || got != strings.TrimSpace(want.Choices[0].Message.Content) {
			t.Errorf("%s: %q, want %q", text, got, want.Choices[0].Message.Content)
		}
		turns = append(turns, *want.Choices[0].Message)
	}
	say("Tell me of a king.", `"max_tokens":8`, "8 calls")
	say("And then?", `"max_tokens":9`, "9 calls")
	b.fits("two turns")
	turns = nil
	say("And in the end?", `"max_tokens":110,"calls":5`, "the oldest turns have no room any more")

	more("max_tokens=64 sampler=ordered")
	b.eval(`new MutationObserver(() => document.querySelectorAll(".assistant:last-child .fresh").length && document.getElementById("halt").click()).observe(document.getElementById("log"), { subtree: true, childList: true })`)
	type_("Stop")
	b.press("Enter", enter, 0)
	b.until(log+`.split("\n").at(-1)`, "stopped")
	b.until(`document.querySelectorAll("#log .mask").length + document.activeElement.id`, "0message")
	b.eval(`document.getElementById("anew").click()`)
	b.until(log+` + "|"`, "|")
}
