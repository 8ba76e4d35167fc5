package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
)

// TestChatOnTerminal types two turns, stops the second while it is drawn, saves, loads and leaves.
func TestChatOnTerminal(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	dir := filepath.Join(t.TempDir(), "talk")
	reftest.OK(t, os.CopyFS(dir, os.DirFS(reftest.Builtin(t))))
	writeFile(t, filepath.Join(dir, "chat_template.jinja"), "{% for m in messages %}{{ m.role + ': ' + m.content + '\\n' }}{% endfor %}{{ 'assistant:' }}")
	saved := filepath.Join(dir, "chat.jsonl")
	x := newTerminal(t, "70", "16", "mdmgen chat "+dir+" --seed 1 --length +40")
	line := x.line
	x.seen("\n>\n")
	line("Hello", "> Hello\n")
	first := mustRun(t, "", "generate", "--model", dir, "--chat", "Hello", "--seed", "1", "--length", "+40")
	words := strings.Fields(first)
	x.seen(words[len(words)-1] + "\n") // of the whole answer
	line("/set correct gibbs:1x100000", "> /set correct")
	line("東京?", " 0 masked · ") // All is drawn, and then drawn again and again.
	x.tmux("send-keys", "-l", "typed ahead")
	x.tmux("resize-window", "-x", "60")
	x.tmux("send-keys", "C-c")
	x.seen("(stopped)")
	line("/set correct", "> /set correct\n")
	line("/save "+saved, "> /save")
	line("/clear", "> /clear")
	line("/load "+saved, "> /load")
	line("/show", "4, 0 of them left out")
	x.tmux("send-keys", "C-d")
	screen := x.seen("status 0")
	var chat struct {
		Messages []struct{ Role, Content string }
	}
	reftest.OK(t, json.Unmarshal([]byte(readAll(t, saved)), &chat))
	if m := chat.Messages; len(m) != 4 || m[1].Content != strings.TrimSuffix(first, "\n") || m[2].Content != "東京?" || m[3].Content == "" {
		t.Errorf("%+v", m)
	}
	if !strings.HasPrefix(screen, "before\nchat with ") || strings.Contains(screen, "masked") || strings.Contains(screen, "typed ahead") {
		t.Errorf("%s", screen)
	}
	x.isOrdinary()
}

// line types a line and waits until the terminal shows a text.
func (x *terminal) line(text, then string) string {
	x.t.Helper()
	x.tmux("send-keys", "-l", text)
	x.tmux("send-keys", "Enter")
	return x.seen(then)
}

// TestStoryStopped stops the continuation of a line that ends in a blank, which is in the story once.
func TestStoryStopped(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	saved := filepath.Join(t.TempDir(), "story.jsonl")
	x := newTerminal(t, "70", "16", "mdmgen chat --seed 1 --length +20 --set correct=gibbs:1x100000")
	x.seen("each line is\nappended to it; /help lists commands\n>\n") // The words are whole.
	x.line("Once upon a ", " 0 masked · ")
	x.tmux("send-keys", "C-c")
	x.seen("(stopped)")
	x.line("/save "+saved, "> /save")
	x.tmux("send-keys", "C-d")
	x.seen("status 0")
	var story struct{ Prefix string }
	reftest.OK(t, json.Unmarshal([]byte(readAll(t, saved)), &story))
	if rest, ok := strings.CutPrefix(story.Prefix, "Once upon a "); !ok || rest == "" || rest[0] == ' ' {
		t.Errorf("%q", story.Prefix)
	}
}

// TestChatTerminalGone checks that a chat ends with its terminal, in the middle of an answer too, even if
// it gets no signal: it is in a session of its own.
func TestChatTerminalGone(t *testing.T) {
	t.Parallel()
	needRuntime(t)
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	ended := filepath.Join(t.TempDir(), "ended")
	x := newTerminal(t, "70", "16", "setsid sh -c 'mdmgen chat --seed 1 --length +20 --set correct=gibbs:1x100000; echo $? >"+ended+"'")
	x.seen("\n>\n")
	x.line("Once", " 0 masked · ")
	x.tmux("new-session", "-d", "sleep 100") // so that tmux goes on
	x.tmux("kill-session", "-t", "0")
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if status, err := os.ReadFile(ended); err == nil && len(status) > 0 {
			break
		} else if time.Now().After(end) {
			t.Fatal("it goes on")
		}
	}
}
