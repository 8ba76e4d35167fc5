package serve

import (
	"context"
	"crypto/sha256"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"mdmgen/samplers"
)

// client is what the requests of one address share: a turn in the engine, and what they hold of
// each limit.
type client struct {
	turn samplers.Turn
	held map[*limit]*semaphore.Weighted
	used time.Time // last
}

// maxClients is the maximum number of clients that are remembered, those that asked last.
const maxClients = 1 << 12

// client returns the client of an address.
func (s *Server) client(address string) *client {
	host, _, _ := net.SplitHostPort(address) // All clients of a socket file are one.
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[host]
	if c == nil {
		if len(s.clients) >= maxClients {
			delete(s.clients, slices.MinFunc(slices.Collect(maps.Keys(s.clients)), func(a, b string) int { return s.clients[a].used.Compare(s.clients[b].used) }))
		}
		c = &client{held: make(map[*limit]*semaphore.Weighted)}
		for _, l := range []*limit{s.positions, s.bodies, s.readers, s.compilers} {
			c.held[l] = semaphore.NewWeighted(l.each)
		}
		s.clients[host] = c
	}
	c.used = time.Now()
	return c
}

// apart names the requests that share kept rows: all, or those of an address with the same key.
func (x *exchange) apart() string {
	if !x.s.KeepApart {
		return ""
	}
	host, _, _ := net.SplitHostPort(x.r.RemoteAddr)
	sum := sha256.Sum256([]byte(host + " " + x.r.Header.Get("Authorization")))
	return string(sum[:])
}

// limit bounds what requests hold together, and those of each client.
type limit struct {
	all  *semaphore.Weighted
	each int64
}

func newLimit(all, each int64) *limit { return &limit{semaphore.NewWeighted(all), each} }

// hold waits for n of a limit, first among the client's own requests.
func (x *exchange) hold(ctx context.Context, l *limit, n int64) (free func(), err error) {
	own, part := x.client.held[l], min(n, l.each)
	if err := own.Acquire(ctx, part); err != nil {
		return nil, err
	}
	if err := l.all.Acquire(ctx, n); err != nil {
		own.Release(part)
		return nil, err
	}
	return func() { l.all.Release(n); own.Release(part) }, nil
}

// asking is the key of a context's exchange.
type asking struct{}

// compile waits until the request of a context may compile a pattern, which may take seconds and 300 MiB.
func compile(ctx context.Context) (done func(), err error) {
	x := ctx.Value(asking{}).(*exchange)
	return x.hold(ctx, x.s.compilers, 1)
}

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
		if c.open++; c.open > c.most { // One is idle: the new one.
			oldest := slices.MinFunc(slices.Collect(maps.Keys(c.idle)), func(a, b net.Conn) int { return c.idle[a].Compare(c.idle[b]) })
			delete(c.idle, oldest)
			_ = oldest.Close() // Its own goroutine reports nothing to anyone.
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
