package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"mdmgen/internal/exit"
	"mdmgen/internal/lockfile"
)

// Address selects the server.
type Address struct {
	// URL is the address of a server with JetStream, such as tls://queue.example:4222. If it is "",
	// the server is that of this machine with its data in the folder Store, which is started if it
	// does not run.
	URL, Store string
	// Credentials, CA, Cert and Key are files, "" for none.
	Credentials, CA, Cert, Key string
	// Log, if not nil, is called with a line for each event. Calls may be concurrent.
	Log func(format string, args ...any)
}

// Queue is a connection to a server.
type Queue struct {
	nc  *nats.Conn
	js  jetstream.JetStream
	log func(format string, args ...any)
	// server and lock belong to a server started here.
	server *server.Server
	lock   *lockfile.Lock
	// open is the result of Open.
	open bool
}

// startTime is the time in which a server must start.
const startTime = 20 * time.Second

// Connect connects to a server.
func Connect(ctx context.Context, a Address) (_ *Queue, err error) {
	q := &Queue{log: a.Log}
	if q.log == nil {
		q.log = func(string, ...any) {}
	}
	defer func() {
		if err != nil {
			q.Close()
		}
	}()
	address, named, tries := a.URL, "", -1 // for ever: the server may be restarted
	if a.URL != "" {
		named, err = shown(address)
	} else {
		address, err = q.local(ctx, a.Store)
		named, tries = address, int(startTime/time.Second) // Another process starts one at another address.
	}
	if err != nil {
		return nil, err
	}
	options := []nats.Option{nats.Name("mdmgen-queue"), nats.MaxReconnects(tries), nats.ReconnectWait(time.Second), nats.Timeout(10 * time.Second)}
	if a.Credentials != "" {
		options = append(options, nats.UserCredentials(a.Credentials))
	}
	if a.CA != "" {
		options = append(options, nats.RootCAs(a.CA))
	}
	if a.Cert != "" || a.Key != "" {
		options = append(options, nats.ClientCert(a.Cert, a.Key))
	}
	if q.nc, err = nats.Connect(address, options...); err != nil {
		return nil, fmt.Errorf("%s: %w", named, err)
	}
	q.open = !q.nc.AuthRequired() && a.Cert == "" && !loopback(q.nc.ConnectedAddr())
	q.js, err = jetstream.New(q.nc)
	return q, err
}

// shown returns a list of addresses without passwords and tokens.
func shown(list string) (string, error) {
	var out []string
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil || strings.Contains(one, "@") && u.User == nil {
			// The error would include parts of a password.
			return "", exit.Usagef("--nats: not an address: write nats://HOST:4222 or tls://HOST:4222, and in a password / as %%2F and @ as %%40")
		}
		if u.User != nil {
			u.User = url.User("xxxxx")
		}
		out = append(out, u.String())
	}
	return strings.Join(out, ","), nil
}

// loopback reports whether other machines cannot reach an address with a port.
func loopback(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// Open reports whether other machines can reach the server and it requires no password.
func (q *Queue) Open() bool { return q.open }

// local returns the address of the server with its data in a folder. Of several processes, the one
// with the folder's lock runs it.
func (q *Queue) local(ctx context.Context, store string) (string, error) {
	if err := os.MkdirAll(store, 0o700); err != nil {
		return "", err
	}
	told := filepath.Join(store, "url")
	for end := time.Now().Add(startTime); ; {
		lock, err := lockfile.Try(filepath.Join(store, "server.lock"))
		if err == nil {
			q.lock = lock
			url, err := q.begin(store)
			if err != nil {
				return "", err
			}
			return url, os.WriteFile(told, []byte(url), 0o600)
		}
		if !errors.Is(err, lockfile.ErrHeld) {
			return "", err
		}
		if url, err := os.ReadFile(told); err == nil {
			if nc, err := nats.Connect(string(url)); err == nil {
				nc.Close()
				return string(url), nil
			}
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("%s: another process holds the folder, but its server does not answer", store)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// begin starts a server that only this machine can reach.
func (q *Queue) begin(store string) (string, error) {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: filepath.Join(store, "jetstream"),
		NoSigs: true, NoLog: true, MaxPayload: maxMessage,
		// An acknowledged result is on the disk.
		SyncAlways: true,
	})
	if err != nil {
		return "", err
	}
	q.server = s
	s.Start()
	if !s.ReadyForConnections(startTime) {
		return "", errors.New("the local server does not start")
	}
	return s.ClientURL(), nil
}

// Close closes the connection. It stops a server that runs here after other processes have seen
// that their job has ended, or after a moment.
func (q *Queue) Close() {
	if q.nc != nil {
		q.nc.Close()
	}
	if q.server != nil {
		for end := time.Now().Add(2 * idle); q.server.NumClients() > 0 && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		q.server.Shutdown()
		q.server.WaitForShutdown()
	}
	if q.lock != nil {
		_ = q.lock.Release()
	}
}

// retried calls f again while the server cannot be reached, as while it restarts.
func retried(ctx context.Context, f func() error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := f()
		if err == nil || !passing(err) || ctx.Err() != nil {
			return cmp.Or(ctx.Err(), err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// passing reports whether an error is one of the connection, and may be temporary.
func passing(err error) bool {
	for _, e := range []error{nats.ErrTimeout, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting, jetstream.ErrNoStreamResponse, jetstream.ErrNoHeartbeat, jetstream.ErrConsumerLeadershipChanged, jetstream.ErrServerShutdown, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == jetstream.ErrorCode(server.JSClusterNotAvailErr)
}
