package serve

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"
)

// writeTime is the time in which a client must take what is written; tests do not wait for it.
var writeTime = 30 * time.Second

// keepAlive is how often a stream writes something where nothing happens.
const keepAlive = 10 * time.Second

// send writes a server-sent event where the client asked for a stream, and nothing elsewhere. The stream begins with the
// first: until then an error has a status of its own.
func (x *exchange) send(v any) error {
	if !x.stream {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return x.write("data: " + string(data) + "\n\n")
}

// end writes the last event, as OpenAI's clients know it; once the stream has begun an error is an event before it.
func (x *exchange) end(err error) error {
	if !x.stream || err != nil && !x.streamed {
		return err
	}
	if err != nil {
		_ = x.send(Failure{refusal(err)}) // The client may be gone.
	}
	return cmp.Or(err, x.write("data: [DONE]\n\n"))
}

func (x *exchange) write(text string) error {
	if !x.streamed {
		x.streamed = true
		h := x.w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Accel-Buffering", "no") // A proxy must not gather events.
		x.w.WriteHeader(http.StatusOK)
	}
	_ = x.control.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := x.w.Write([]byte(text)); err != nil {
		return err
	}
	return x.control.Flush()
}
