package serve

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/model/world"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
)

// testServer returns a server on a table of probabilities.
func testServer(t *testing.T) *Server {
	t.Helper()
	w := reftest.Must(world.Open(reftest.Data(t, "reference", "laws", "xor3-mixed.json")))(t)
	s := reftest.Must(New(t.Context(), Config{Model: w, Batch: 4, Queue: 4, Positions: 100, CacheMemory: 1, Deadline: time.Minute, Log: slog.New(slog.DiscardHandler)}))(t)
	t.Cleanup(s.Close)
	return s
}

// TestSlow checks that the server gives up on a client that does not send its body, or does not
// read the answer.
func TestSlow(t *testing.T) {
	writeTime, bodyTime = 200*time.Millisecond, 200*time.Millisecond
	defer func() { writeTime, bodyTime = 30*time.Second, 30*time.Second }()
	s := testServer(t)
	ended := make(chan error, 1)
	s.routes["POST /flood"] = post(func(x *exchange, _ *struct{}) (_ *struct{}, err error) {
		x.stream = true
		for text := strings.Repeat("x", 1<<16); err == nil; {
			err = x.send(text)
		}
		ended <- err
		return nil, err
	})
	h := httptest.NewServer(s.Handler())
	defer h.Close()
	for _, c := range []struct{ head, want string }{
		{"POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "408"},
		{"POST /flood HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", "200"},
	} {
		conn := reftest.Must(net.Dial("tcp", h.Listener.Addr().String()))(t)
		defer conn.Close()
		reftest.OK(t, reftest.Err(io.WriteString(conn, c.head)))
		begun := make([]byte, 12)
		if _, err := io.ReadFull(conn, begun); err != nil || string(begun) != "HTTP/1.1 "+c.want {
			t.Errorf("%q: %q, %v", c.head, begun, err)
		}
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("it writes on to a client that does not read")
	}
}

// panicking is a method that panics.
type panicking struct{}

func (panicking) Start(*samplers.Canvas, *draw.Numbers) (samplers.Decoder, error) { panic("no") }

// TestPanic checks that a panicking sampler fails only its own request.
func TestPanic(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	fhs := reftest.Must(catalog.New(catalog.Options{}, s.Model.Spec()))(t)
	canvas := slices.Repeat([]int{s.Model.Facts().MaskID}, 3)
	for _, broken := range []bool{true, false} {
		j := samplers.Job{Canvas: canvas, Method: fhs}
		if broken {
			j.Method = panicking{}
		}
		failed := s.steps(t.Context(), j, func(samplers.Step) error { return nil })
		if (failed != nil) != broken || broken && refusal(failed).status != http.StatusInternalServerError {
			t.Errorf("%v", failed)
		}
	}
}

// TestBusyConnections checks that each new connection is closed if all others are in use, however late
// the server learns that those before it are closed, and that one whose request is not complete is not
// in use.
func TestBusyConnections(t *testing.T) {
	all := &connections{most: 1, idle: make(map[net.Conn]time.Time)}
	busy, _ := net.Pipe()
	all.note(busy, http.StateNew)
	all.note(busy, http.StateActive)
	all.context(t.Context(), busy).Value(received{}).(func())()
	for i := range 2 {
		conn, _ := net.Pipe()
		all.note(conn, http.StateNew)
		_ = conn.SetWriteDeadline(time.Now()) // Nobody reads.
		if _, err := conn.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("new connection %d: %v, want closed", i, err)
		}
	}
	all.note(busy, http.StateActive) // Its next request arrives.
	all.note(nil, http.StateNew)
	if _, err := busy.Write(nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the connection of an incomplete request: %v, want closed", err)
	}
}
