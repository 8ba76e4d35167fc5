package serve

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections limits the open connections of a server: a new one beyond the limit closes the one that
// has been idle longest, or itself if all are in use. A connection whose request is not complete is
// idle.
type connections struct {
	most int

	mu   sync.Mutex
	open int
	idle map[net.Conn]time.Time // since when
}

// note is a hook for [http.Server.ConnState].
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.idle[conn] = time.Now()
		if c.open++; c.open > c.most {
			c.closeIdle()
		}
	case http.StateIdle, http.StateActive: // Active is one whose header has arrived.
		c.idle[conn] = time.Now()
	default:
		delete(c.idle, conn)
		c.open--
	}
}

// received is the key of a context's function to be called when the request is complete.
type received struct{}

// context is a hook for [http.Server.ConnContext].
func (c *connections) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, received{}, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.idle, conn)
	})
}

// closeIdle closes the connection that has been idle longest. There is one: the new one.
func (c *connections) closeIdle() {
	var oldest net.Conn
	for conn, t := range c.idle {
		if oldest == nil || t.Before(c.idle[oldest]) {
			oldest = conn
		}
	}
	delete(c.idle, oldest)
	_ = oldest.Close() // Its own goroutine reports nothing to anyone.
}
