package serve

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/serve"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// begin starts the command with flags, and returns where it serves; end stops it.
func begin(t *testing.T, given map[string]string) (url string) {
	t.Helper()
	o := &options{}
	all := o.flags()
	for name, text := range given {
		reftest.OK(t, all.Find(name).Set(text), "--", name, text)
	}
	for name, text := range map[string]string{"listen": "127.0.0.1:0", "model": reftest.Law(t, "xor3-mixed")} {
		reftest.OK(t, all.Find(name).Set(text))
	}
	ctx, stop := context.WithCancel(context.Background())
	from, to := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- o.run(ctx, kit.Streams{Err: to, Verbosity: &kit.Verbosity{}, Network: model.Open}, nil)
		to.Close()
	}()
	t.Cleanup(func() {
		stop()
		reftest.OK(t, <-ended)
	})
	log := bufio.NewScanner(from)
	for log.Scan() {
		if m := address.FindStringSubmatch(log.Text()); m != nil {
			go io.Copy(io.Discard, from)
			return m[1]
		}
	}
	t.Fatal("the server does not begin")
	return ""
}

var address = regexp.MustCompile(`serving \S+ on (\S+)$`)

// TestMain runs the command itself if a test starts it as a process.
func TestMain(m *testing.M) {
	socket, folder := os.Getenv("TEST_SERVE_SOCKET"), os.Getenv("TEST_SERVE_MODEL")
	if socket == "" {
		os.Exit(m.Run())
	}
	o := &options{}
	all := o.flags()
	for name, text := range map[string]string{"listen": "unix:" + socket, "model": folder} {
		if err := all.Find(name).Set(text); err != nil {
			panic(err)
		}
	}
	if err := o.run(context.Background(), kit.Streams{Err: os.Stderr, Verbosity: &kit.Verbosity{}, Network: model.Open}, nil); err != nil {
		panic(err)
	}
}

// TestOrigins checks that origins that no browser sends are refused.
func TestOrigins(t *testing.T) {
	t.Parallel()
	for origin, ok := range map[string]bool{
		"*": true, "https://a.de": true, "http://localhost:3000": true, "https://[::1]:8": true, "https://xn--bcher-kva.de": true, "http://a.de:443": true, "chrome-extension://abc": true,
		"https://bücher.de": false, "https://user@a.de": false, "http://a.de:080": false, "https://a.de:99999": false, "https://*.a.de": false, "https://A.de": false, "https://a.de/": false, "https://a.de:443": false, "http://a.de:80": false, "null": false, "a.de": false,
	} {
		if err := (&options{Config: serve.Config{Origins: []string{origin}}}).check(); (err == nil) != ok {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

// TestTLS checks that a server with a certificate only speaks TLS, and one with a key file needs the
// key.
func TestTLS(t *testing.T) {
	t.Parallel()
	key := reftest.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	cert := reftest.Must(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	private := reftest.Must(x509.MarshalPKCS8PrivateKey(key))(t)
	dir := t.TempDir()
	for name, b := range map[string]*pem.Block{"cert": {Type: "CERTIFICATE", Bytes: cert}, "key": {Type: "PRIVATE KEY", Bytes: private}} {
		reftest.OK(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600))
	}
	file := filepath.Join(dir, "password")
	reftest.OK(t, os.WriteFile(file, []byte("  open sesame\n"), 0o600))
	url := begin(t, map[string]string{"tls-cert": filepath.Join(dir, "cert"), "tls-key": filepath.Join(dir, "key"), "key-file": file})
	reftest.Fails(t, reftest.Err(http.Get(url+"/health")), "", "any certificate is taken")
	known, _ := x509.ParseCertificate(cert)
	pool := x509.NewCertPool()
	pool.AddCert(known)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	for key, want := range map[string]int{"Bearer open": 401, "Bearer open sesame": 200} {
		req, _ := http.NewRequest(http.MethodGet, url+"/v1/models", nil)
		req.Header.Set("Authorization", key)
		resp := reftest.Must(client.Do(req))(t)
		if resp.Body.Close(); resp.StatusCode != want || !strings.HasPrefix(url, "https") {
			t.Errorf("%s with %q: %s, want %d", url, key, resp.Status, want)
		}
	}
}

// TestFlags checks that invalid flags are rejected before a model is opened, and that --listen
// does not remove a file that is not a socket.
func TestFlags(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	reftest.OK(t, os.WriteFile(empty, nil, 0o600))
	for want, o := range map[string]options{
		"given together": {cert: "a"}, "SCHEME": {Config: serve.Config{Origins: []string{"friend.example"}}}, "the file is empty": {keyFile: empty}, "no such file": {keyFile: empty + "s"},
		"HOST:PORT": {listen: "8080"}, "or unix:PATH": {listen: "unix:"}, "--listen": {listen: "127.0.0.1:70000"}, "listen unix": {listen: "unix:" + empty},
	} {
		err := o.check()
		if err == nil {
			_, err = o.open(t.Context())
		}
		reftest.Fails(t, err, want)
	}
	if _, err := os.Stat(empty); err != nil {
		t.Error(err)
	}
}

// TestKilled checks that the next server takes over the socket of a killed server, and not that of
// a running one.
func TestKilled(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "s")
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	for range 2 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TEST_SERVE_SOCKET="+socket, "TEST_SERVE_MODEL="+reftest.Law(t, "xor3-mixed"))
		reftest.OK(t, cmd.Start())
		var resp *http.Response
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			var err error
			if resp, err = client.Post("http://localhost/v1/generate", "application/json", strings.NewReader(`{"length":3}`)); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Error(resp.Status)
		}
		if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		o := options{listen: "unix:" + socket}
		if _, err := o.open(t.Context()); err == nil {
			t.Error("a socket that is in use was taken")
		}
		reftest.OK(t, cmd.Process.Kill())
		_ = cmd.Wait() // It was killed.
		client.CloseIdleConnections()
	}
}

// TestEveryFlag checks that each flag of the command has a test that fails if the flag has no
// effect. Exempt are the flags that open a model and its tokenizer: all commands share them, and
// TestEveryFlagHasAnEffect of cmd/mdmgen/app sets them in others.
func TestEveryFlag(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"listen": "TestKilled", "attached": "TestAttached", "queue": "TestFull", "connections": "TestConnections", "positions": "TestFull", "deadline": "TestDeadline", "key-file": "TestTLS", "tls-cert": "TestTLS", "tls-key": "TestTLS",
		"cors": "TestSites", "batch": "TestRoom", "cache": "TestRoom", "cache-memory": "TestRoom", "keep": "TestSharing", "keep-apart": "TestSharing", "model": "TestScore", "tokenizer": "FuzzBody",
	}
	for _, name := range new(setup.Model).Flags().Names() {
		if tests[name] == "" {
			tests[name] = "of how a model is opened"
		}
	}
	all := new(options).flags().Names()
	for _, name := range all {
		if tests[name] == "" {
			t.Errorf("--%s has no test of its effect", name)
		}
	}
	for name := range tests {
		if !slices.Contains(all, name) {
			t.Errorf("there is no --%s", name)
		}
	}
}
