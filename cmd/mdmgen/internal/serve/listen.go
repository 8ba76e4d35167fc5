package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"mdmgen/internal/exit"
	"mdmgen/internal/plainfile"
)

// browsers matches origins in the form in which browsers send them, if they leave out the port of the
// scheme.
var browsers = regexp.MustCompile(`^([a-z][a-z0-9+.-]*)://(?:\[[0-9a-f:]+\]|[a-z0-9._-]+)(:[1-9][0-9]{0,3}|:[1-5][0-9]{4}|:6[0-5][0-9]{3})?$`)

// check checks the flags and reads the key.
func (o *options) check() error {
	if (o.cert == "") != (o.key == "") {
		return exit.Usagef("--tls-cert and --tls-key must be given together")
	}
	for _, origin := range o.Origins {
		m := browsers.FindStringSubmatch(origin)
		if origin != "*" && (m == nil || slices.Contains([]string{"http:80", "https:443"}, m[1]+m[2])) {
			return exit.Usagef("--cors %s: must be SCHEME://HOST[:PORT] as browsers send it, or *", origin)
		}
	}
	if o.keyFile == "" {
		return nil
	}
	text, err := plainfile.Read(o.keyFile, 4<<10)
	if err != nil {
		return fmt.Errorf("--key-file %s: %w", o.keyFile, plainfile.Cause(err))
	}
	if o.Key = strings.TrimSpace(string(text)); o.Key == "" {
		return exit.Usagef("--key-file %s: the file is empty", o.keyFile)
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r < ' ' || r > '~' }) {
		return exit.Usagef("--key-file %s: the key must be one line of printable ASCII, which a header can hold", o.keyFile)
	}
	return nil
}

// open opens --listen, and replaces the socket of a server that was killed. If the server listens only on the
// loopback interface, its hosts are this machine's names for itself.
func (o *options) open(ctx context.Context) (l net.Listener, err error) {
	host, port, err := net.SplitHostPort(o.listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	network, address := "tcp", o.listen
	if path, ok := strings.CutPrefix(o.listen, "unix:"); ok && path != "" {
		network, address = "unix", path
		if conn, err := net.Dial("unix", path); err == nil {
			conn.Close()
		} else if info, _ := os.Lstat(path); errors.Is(err, syscall.ECONNREFUSED) && info != nil && info.Mode().Type() == fs.ModeSocket {
			_ = os.Remove(path) // If this fails, listening reports why. A regular file refuses connections too.
		}
	} else if ok || err != nil {
		return nil, exit.Usagef("--listen %s: must be HOST:PORT or unix:PATH, with a port in 0..65535", o.listen)
	}
	if ip := net.ParseIP(host); network == "tcp" && ip.To4() != nil {
		network = "tcp4" // 0.0.0.0 is not [::]
	}
	if l, err = new(net.ListenConfig).Listen(ctx, network, address); err == nil && network == "unix" {
		err = os.Chmod(address, 0o600)
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("--listen %s: another program listens there: end it, or name another address", o.listen)
	case err != nil:
		return nil, fmt.Errorf("--listen %s: %w", o.listen, cmp.Or(errors.Unwrap(err), err))
	case network == "unix":
		return l, nil
	}
	if l.Addr().(*net.TCPAddr).IP.IsLoopback() {
		o.Hosts = []string{"localhost", "127.0.0.1", "::1", strings.ToLower(host)}
	}
	if o.cert == "" {
		return l, nil
	}
	pair, err := tls.LoadX509KeyPair(o.cert, o.key)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--tls-cert %s: %w", o.cert, err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

// where returns an address as a client writes it.
func (o *options) where(a net.Addr) string {
	switch {
	case a.Network() == "unix":
		return "unix:" + a.String()
	case o.cert != "":
		return "https://" + a.String()
	}
	return "http://" + a.String()
}
