package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	line := func(text string, then string) string {
		x.tmux("send-keys", "-l", text)
		x.tmux("send-keys", "Enter")
		return x.seen(then)
	}
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
	line("/show", "messages  4, 0 of them left out")
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
