package serve

import (
	"encoding/json"
	"net/http"
	"time"
)

// writeTime is the time in which a client must take what is written; tests do not wait for it.
var writeTime = 30 * time.Second

// stream writes server-sent events. It begins with the first of them: until then an error has a status of its
// own.
type stream struct {
	x     *exchange
	begun bool
	// json, where it is not nil, makes of chunks of a completion what is written.
	json func(Completion) any
}

// send writes an event.
func (s *stream) send(v any) error {
	if c, ok := v.(Completion); ok && s.json != nil {
		v = s.json(c)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(data) + "\n\n")
}

// aliveIf returns what writes a comment, which clients skip, where a stream was asked for.
func (s *stream) aliveIf(streams bool) func() error {
	return func() error {
		if !streams {
			return nil
		}
		return s.write(": still here\n\n")
	}
}

// end writes the last event, as OpenAI's clients know it. Once the stream has begun an error is an event before it.
func (s *stream) end(err error) error {
	if err != nil && !s.begun {
		return err
	}
	if err != nil {
		_ = s.send(Failure{refusal(err)}) // The client may be gone.
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
