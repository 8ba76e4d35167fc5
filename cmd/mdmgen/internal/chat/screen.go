package chat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/watch"
	"mdmgen/internal/fault"
	"mdmgen/internal/printable"
	"mdmgen/serve/frame"
)

// screen is a chat on a terminal: a line to edit and, while an answer is drawn, its picture above.
// Bubble Tea edits the line because the Terminal of golang.org/x/term counts each letter as one column.
type screen struct {
	*session
	ctx     context.Context
	program *tea.Program
	input   textinput.Model
	// past are the lines typed before, of which the input shows the one at.
	past []string
	at   int
	// picture and stop are those of the answer that is being drawn, nil for none.
	picture       *watch.Picture
	stop          context.CancelFunc
	columns, rows int
	leaving       bool
}

// do is a message: what the chat does about a frame, an answer, a notice or the end of the process.
type do func() tea.Cmd

// keyboard is the terminal's. It calls gone when there is no terminal any more, which Bubble Tea takes for
// silence.
type keyboard struct {
	*os.File
	gone func()
}

func (k keyboard) Read(p []byte) (int, error) {
	n, err := k.File.Read(p)
	if err != nil {
		k.gone()
	}
	return n, err
}

// show runs the chat on the terminal.
func (c *session) show(ctx context.Context) error {
	m := &screen{session: c, ctx: ctx, input: textinput.New(), columns: 80, rows: 24}
	m.input.Prompt = "> "
	m.input.SetVirtualCursor(false)
	keys := keyboard{os.Stdin, func() { m.send(m.leave) }}
	m.program = tea.NewProgram(m, tea.WithInput(keys), tea.WithOutput(c.streams.Out.W), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, func() { m.send(m.leave) })()
	columns, _ := kit.Size(c.streams.Out)
	fmt.Fprintln(c.streams.Out, ansi.Wrap(c.greeting(), columns, ""))
	c.frames = func(f frame.Frame) { m.send(func() tea.Cmd { return m.draw(f) }) }
	_, err := m.program.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.sampler.ShowSeed(c.streams, c.seed)
	return err
}

// send has something done between two messages.
func (m *screen) send(act do) { m.program.Send(act) }

// Init begins the chat.
func (m *screen) Init() tea.Cmd { return m.input.Focus() }

// print prints a text above the line. It wraps it, and prints line by line, so that texts longer than the
// terminal leave no gaps in what is scrolled.
func (m *screen) print(text string) tea.Cmd {
	var lines []tea.Cmd
	for line := range strings.SplitSeq(ansi.Wrap(text, max(m.columns-1, 1), ""), "\n") {
		if line == "" {
			line = " " // An empty one prints nothing.
		}
		lines = append(lines, tea.Println(line))
	}
	return tea.Sequence(lines...)
}

// Update implements [tea.Model].
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
		m.input.SetWidth(max(1, m.columns-4))
	case do:
		return m, msg()
	case tea.KeyPressMsg:
		switch msg.String() {
		case "ctrl+c":
			if m.stop != nil {
				m.stop()
			}
			m.input.Reset()
			return m, nil
		case "ctrl+d":
			if m.input.Value() == "" && m.stop == nil {
				return m, m.leave()
			}
		case "enter":
			return m, m.enter()
		case "up":
			return m, m.recall(-1)
		case "down":
			return m, m.recall(1)
		}
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

// recall shows a line typed before.
func (m *screen) recall(by int) tea.Cmd {
	m.at = min(max(0, m.at+by), len(m.past))
	if m.input.Reset(); m.at < len(m.past) {
		m.input.SetValue(m.past[m.at])
		m.input.CursorEnd()
	}
	return nil
}

func (m *screen) leave() tea.Cmd {
	if m.leaving = true; m.stop != nil {
		m.stop()
	}
	return tea.Quit
}

// enter does what the line says.
func (m *screen) enter() tea.Cmd {
	if m.stop != nil {
		return nil
	}
	line := m.input.Value()
	m.input.Reset()
	if line != "" {
		m.past = append(m.past, line)
	}
	m.at = len(m.past)
	echo, said := m.print(m.input.Prompt+line), ""
	m.tell = func(text string) { said = text }
	answers, err := m.line(m.ctx, line)
	switch {
	case err == errLeave:
		return tea.Sequence(echo, m.leave())
	case err != nil:
		said = m.failure(err)
	case answers:
		var ctx context.Context
		ctx, m.stop = context.WithCancel(m.ctx)
		m.tell = func(text string) { m.send(func() tea.Cmd { return m.print(text) }) }
		return tea.Sequence(echo, func() tea.Msg {
			text, err := m.answer(ctx)
			return do(func() tea.Cmd { return m.ended(text, err) })
		})
	}
	if said == "" {
		return echo
	}
	return tea.Sequence(echo, m.print(said))
}

// failure returns the line of an error.
func (m *screen) failure(err error) string {
	return "mdmgen: " + printable.String(fault.Spell(err, m.all.Spell))
}

// draw shows a frame.
func (m *screen) draw(f frame.Frame) tea.Cmd {
	if m.picture == nil {
		m.picture = &watch.Picture{Options: watch.Options{Confidence: m.colors == "confidence", Seed: m.seed, Skip: m.first(), Expected: func(uint64) (float64, bool) { return m.job.Expected(m.network.Spec()) }}}
	}
	m.picture.Frame(f)
	return nil
}

// ended prints an answer.
func (m *screen) ended(text string, err error) tea.Cmd {
	m.stop()
	m.stop, m.picture = nil, nil
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable.String(line)
	}
	switch {
	case errors.Is(err, context.Canceled):
		lines = append(lines, ansi.NewStyle().Faint().Styled("(stopped)"))
	case err != nil:
		lines = []string{m.failure(err)}
	}
	return m.print(strings.Join(lines, "\n"))
}

// View implements [tea.Model].
func (m *screen) View() tea.View {
	if m.leaving {
		return tea.NewView("")
	}
	var lines []string
	if m.picture != nil {
		lines = m.picture.Lines(m.columns, m.rows-1)
	}
	view := tea.NewView(strings.Join(append(lines, m.input.View()), "\n"))
	if view.Cursor = m.input.Cursor(); view.Cursor != nil {
		view.Cursor.Y += len(lines)
	}
	return view
}
