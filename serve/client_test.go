package serve

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"mdmgen/internal/reftest"
)

// TestClientsHold checks that a client holds only its own places of a limit: another one's pattern is
// compiled at once, whatever waits, and who gives up waiting holds nothing.
func TestClientsHold(t *testing.T) {
	t.Parallel()
	s := testServer(t)
	ask := func(ctx context.Context, address string) (func(), error) {
		x := &exchange{s: s, client: s.client(address), r: httptest.NewRequestWithContext(ctx, "POST", "/", nil)}
		return compile(context.WithValue(ctx, asking{}, x))
	}
	free := reftest.Must(ask(t.Context(), "192.0.2.1:1"))(t)
	ctx, leave := context.WithCancel(t.Context())
	waiting := make(chan error)
	for i := range 8 {
		go func() {
			free, err := ask(ctx, "192.0.2.1:"+string(rune('2'+i)))
			if err == nil {
				free()
			}
			waiting <- err
		}()
	}
	for range 3 {
		reftest.Must(ask(t.Context(), "[2001:db8::1]:1"))(t)()
	}
	leave()
	for range 8 {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("a client that left while it waited: %v", err)
		}
	}
	free()
	reftest.Must(ask(t.Context(), "192.0.2.1:1"))(t)()
	known := s.client("192.0.2.1:1")
	for i := range maxClients + 100 {
		s.client("192.0.2." + string(rune('a'+i)) + ":1")
		if s.client("192.0.2.1:2") != known {
			t.Fatalf("a client that keeps asking is forgotten after %d others", i)
		}
	}
	if n := len(s.clients); n != maxClients {
		t.Errorf("%d clients are remembered, want %d", n, maxClients)
	}
}
