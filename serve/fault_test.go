package serve_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/reftest"
	"mdmgen/serve"
)

const long = `{"length":128,"n":16,"stream":true,"diffusing":true}`

// idle waits until no request is running except its own.
func (r *running) idle(t *testing.T) {
	t.Helper()
	text := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if text = r.get(t, "/metrics"); strings.Contains(text, "mdmgen_num_requests_running 1\n") && strings.Contains(text, "mdmgen_num_requests_waiting 0\n") {
			return
		}
	}
	t.Errorf("requests are under way still:\n%.3000s", text)
}

// TestVanishing checks that requests of disconnected clients end, waiting ones included, and that
// others are answered.
func TestVanishing(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Positions: 1000})
	var clients sync.WaitGroup
	for i := range 60 {
		clients.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+i*10)*time.Millisecond)
			defer cancel()
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/generate", strings.NewReader(long))
			req.Header.Set("Content-Type", "application/json")
			if resp, err := r.client.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	clients.Wait()
	r.idle(t)
	r.must(t, 200, "/v1/generate", `{"length":8}`, nil)
}

// TestGarbage checks that invalid requests are rejected or time out, and that others are answered.
func TestGarbage(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	at, _ := url.Parse(r.url)
	numbers := rand.New(rand.NewPCG(1, 2))
	for i := range 50 {
		conn := reftest.Must(net.Dial("tcp", at.Host))(t)
		defer conn.Close()
		noise := make([]byte, 300)
		for j := range noise {
			noise[j] = byte(numbers.Uint32())
		}
		begun := []string{"", "POST /v1/generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n", "GET / HTTP/1.1\r\nX: ", "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"}[i%4]
		if _, err := conn.Write(append([]byte(begun), noise...)); err != nil {
			t.Log(err) // The server has closed it.
		}
	}
	r.must(t, 200, "/v1/generate", `{"length":8}`, nil)
}

// TestSlowReaders checks that clients that read a byte now and then do not block others.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	for range 8 {
		resp := reftest.Must(r.client.Post(r.url+"/v1/generate", "application/json", strings.NewReader(`{"length":16,"stream":true,"diffusing":true}`)))(t)
		defer resp.Body.Close()
		_, _ = resp.Body.Read(make([]byte, 1))
	}
	r.must(t, 200, "/v1/generate", `{"length":8}`, nil)
	r.idle(t) // Their requests have ended, and the answers are in the connections.
}

// TestTurns checks that a short request ends before long ones that came earlier.
func TestTurns(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{})
	resp := reftest.Must(r.client.Post(r.url+"/v1/generate", "application/json", strings.NewReader(long)))(t)
	defer resp.Body.Close()
	r.must(t, 200, "/v1/generate", `{"length":4}`, nil)
	if text := r.get(t, "/metrics"); !strings.Contains(text, "mdmgen_num_requests_running 2\n") {
		t.Errorf("the long request was first: %.2000s", text)
	}
}

// TestFull checks that requests beyond the queue are rejected with Retry-After, and that a waiting
// client can leave.
func TestFull(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Positions: 128, Queue: 1})
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	clients.Go(func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/generate", strings.NewReader(long))
		req.Header.Set("Content-Type", "application/json")
		if resp, err := r.client.Do(req); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	})
	for !strings.Contains(r.get(t, "/metrics"), "mdmgen_num_requests_waiting 1\n") {
		time.Sleep(time.Millisecond)
	}
	resp, err := r.client.Post(r.url+"/v1/generate", "application/json", strings.NewReader(`{"length":4}`))
	if err != nil || resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("%+v %v", resp, err)
	}
	resp.Body.Close()
	cancel()
	r.idle(t)
	r.must(t, 200, "/v1/generate", `{"length":4}`, nil)
}

// TestDeadline checks that a request that takes too long ends with an error: with a status of its
// own before a stream has begun, as an event after that.
func TestDeadline(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Deadline: 200 * time.Millisecond})
	r.must(t, http.StatusGatewayTimeout, "/v1/generate", `{"length":128,"n":16}`, nil)
	for range 60 { // On a busy machine the first call may take as long.
		status, data := r.ask("/v1/generate", `{"length":128,"n":16,"stream":true,"diffusing":true}`)
		if status == http.StatusGatewayTimeout {
			continue
		}
		if text := string(data); status != http.StatusOK || !strings.Contains(text, "deadline") {
			t.Errorf("%d ...%s", status, text[max(0, len(text)-500):])
		}
		r.idle(t)
		return
	}
	t.Error("no stream begins")
}

// TestDrain checks that on a signal accepted requests are answered, and the command then ends
// without an error.
func TestDrain(t *testing.T) {
	t.Parallel()
	r := begin(t, "", serve.Config{Positions: 500})
	var clients sync.WaitGroup
	for i := range 12 {
		clients.Go(func() {
			// So long that none is answered before the last has come.
			status, data := r.ask("/v1/generate", fmt.Sprintf(`{"length":96,"seed":%d}`, i))
			if status != http.StatusOK {
				t.Errorf("request %d: %d %s", i, status, data)
			}
		})
	}
	for !strings.Contains(r.get(t, "/metrics"), "mdmgen_num_requests_running 13\n") {
		time.Sleep(time.Millisecond)
	}
	r.stop()
	clients.Wait()
	reftest.OK(t, <-r.ended)
	if resp, err := r.client.Get(r.url + "/health"); err == nil {
		resp.Body.Close()
		t.Error("it answers behind its end")
	}
	r.ended = nil
}
