package serve

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// writeTime is the time in which a client must take what is written.
const writeTime = 30 * time.Second

// stream writes server-sent events. It begins with the first of them: until then an error has a status of its
// own.
type stream struct {
	x     *exchange
	begun bool
}

// send writes an event.
func (s *stream) send(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(data) + "\n\n")
}

// alive writes a comment, which clients skip.
func (s *stream) alive() error { return s.write(": still here\n\n") }

// end writes the last event, as OpenAI's clients know it. Once the stream has begun an error is an event before it.
func (s *stream) end(err error) error {
	if err != nil && !s.begun {
		return err
	}
	if err != nil {
		_ = s.send(map[string]*Refusal{"error": refusal(err)}) // The client may be gone.
	}
	if werr := s.write("data: [DONE]\n\n"); err == nil {
		err = werr
	}
	return err
}

func (s *stream) write(text string) error {
	if !s.begun {
		s.begun, s.x.streamed = true, true
		h := s.x.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // A proxy must not gather events.
		s.x.w.WriteHeader(http.StatusOK)
	}
	_ = s.x.control.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := s.x.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.x.control.Flush()
}

// newID is the name of an answer.
func newID(kind string) string { return kind + strings.ToLower(rand.Text()) }
