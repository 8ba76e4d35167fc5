package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"mdmgen/internal/exit"
)

// listen opens --listen. A socket that a killed server left is taken over.
func listen(ctx context.Context, address string) (net.Listener, error) {
	network := "tcp"
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		network, address = "unix", path
		if conn, err := net.Dial(network, path); err == nil {
			conn.Close()
		} else if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(path) // If it stays, listening names the reason.
		}
	} else if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, exit.Usagef("--listen %s: must be HOST:PORT or unix:PATH", address)
	}
	l, err := new(net.ListenConfig).Listen(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	if network == "unix" {
		err = os.Chmod(address, 0o600)
	}
	return l, err
}

// where is an address as a client writes it.
func where(a net.Addr) string {
	if a.Network() == "unix" {
		return "unix:" + a.String()
	}
	return "http://" + a.String()
}
