package serve

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Limits of connections: the time in which a header must come, and its bytes; how long one may be idle.
const (
	headerTime = 10 * time.Second
	maxHeader  = 64 << 10
	idleTime   = 2 * time.Minute
)

// Serve answers until the context ends. What is under way then is answered, and no new connection accepted.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.Handler(), ReadHeaderTimeout: headerTime, MaxHeaderBytes: maxHeader, IdleTimeout: idleTime}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		s.draining.Store(true)
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Deadline)
	defer cancel()
	if err := server.Shutdown(drain); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
