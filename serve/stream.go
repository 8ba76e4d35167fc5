package serve

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// writeTime is the time in which a client must take what is written; tests do not wait for it.
var writeTime = 30 * time.Second

// keepAlive is how often a stream writes something where nothing happens.
const keepAlive = 10 * time.Second

// stream writes server-sent events where the client asked for a stream, and nothing elsewhere. It begins with the first
// of them: until then an error has a status of its own.
type stream struct {
	x      *exchange
	wanted bool
}

// send writes an event.
func (s *stream) send(v any) error {
	if !s.wanted {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.write("data: " + string(data) + "\n\n")
}

// keepAlive writes comments, which clients skip, until stop; mu is for all that writes.
func (s *stream) keepAlive(mu *sync.Mutex) (stop func()) {
	if !s.wanted {
		return func() {}
	}
	tick, done := time.NewTicker(keepAlive), make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for {
			select {
			case <-tick.C:
				mu.Lock()
				_ = s.write(": still here\n\n") // The next event meets the error, too.
				mu.Unlock()
			case <-done:
				return
			}
		}
	})
	return func() { close(done); writing.Wait(); tick.Stop() }
}

// end writes the last event, as OpenAI's clients know it; once the stream has begun an error is an event before it.
func (s *stream) end(err error) error {
	if !s.wanted || err != nil && !s.x.streamed {
		return err
	}
	if err != nil {
		_ = s.send(Failure{refusal(err)}) // The client may be gone.
	}
	return cmp.Or(err, s.write("data: [DONE]\n\n"))
}

func (s *stream) write(text string) error {
	if !s.x.streamed {
		s.x.streamed = true
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
