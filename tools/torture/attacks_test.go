//go:build unix

package torture

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"mdmgen/internal/reftest"
)

var attacked = flag.Bool("attacks", false, "attack a server")

// The goals of each attack: the delay of an ordinary request in multiples of its time alone, the
// server's peak memory in MiB, and the share of their speed alone that long requests keep beside it.
const (
	maxDelay = 4
	maxPeak  = 400
	minShare = 0.9
)

// attack is what a client does besides an ordinary one until its context ends.
type attack struct {
	name string
	do   func(ctx context.Context, v *victim)
	long bool // whether its requests are ordinary long ones, whose speed matters
}

// ordinary is the request whose delay is measured.
const ordinary = `{"prompt":"Once upon a time","max_tokens":16,"seed":7}`

func attacks() []attack {
	text := strings.Repeat("a king and a queen who had a daughter ", 8)
	read := `{"infill":"Once upon a time{{1}} a king{{64}}.","gap":1,"candidates":["` + strings.Join(strings.Fields(strings.Repeat("queen king bird tree ", 8)), `","`) + `"]}`
	fill, pad, rest := `{"length":64,"n":128,"seed":1}`, 4<<20-64, `{"prompt":"a","n":128,"max_tokens":64,"stream":true,"diffusing":true}`
	pattern := func(i int, each, between string) string {
		var parts []string
		for j := range 250 {
			parts = append(parts, fmt.Sprintf(each, 1000*i+j, 5+j%30))
		}
		return strings.Join(parts, between)
	}
	type do = func(context.Context, *victim)
	flood := func(n int, path string, body func(int) string) do {
		return func(ctx context.Context, v *victim) { v.flood(ctx, n, path, body) }
	}
	same := func(n int, path, body string) do { return flood(n, path, func(int) string { return body }) }
	connect := func(n int, send string, half bool) do {
		return func(ctx context.Context, v *victim) { v.connect(ctx, n, send, half) }
	}
	return []attack{
		{"4 scores of 1024 draws", same(4, "/v1/score", fmt.Sprintf(`{"text":%q,"draws":1024}`, text)), true},
		{"4 reads", same(4, "/v1/read", read), true},
		{"4 of n = 128", same(4, "/v1/generate", fill), true},
		{"8 of 2^24 steps", same(8, "/v1/generate", `{"length":8,"sampler":"euler","steps":16777216}`), false},
		{"8 of most steps", same(8, "/v1/generate", `{"length":8,"sampler":"euler","steps":65536}`), false},
		{"66 regular expressions", flood(66, "/v1/generate", func(i int) string { return `{"length":16,"regex":"` + pattern(i, "w%dx[a-z]{%d}", "|") + `"}` }), false},
		{"66 schemas", flood(66, "/v1/generate", func(i int) string {
			return `{"length":16,"json_schema":{"type":"object","properties":{` + pattern(i, `"k%d":{"type":"string","maxLength":%d}`, ",") + `}}}`
		}), false},
		{"24 bodies, key unknown", same(24, "/v1/completions", `{"aaa":"`+strings.Repeat("x", pad)+`"}`), false},
		{"24 bodies of small values", same(24, "/v1/completions", `{"aaa":[`+strings.Repeat("[],", pad/3)+`0]}`), false},
		{"24 bodies, valid", same(24, "/tokenize", `{"content":"`+strings.Repeat("x", pad)+`"}`), false},
		{"24 bodies of ids", same(24, "/v1/completions", `{"prompt":[`+strings.Repeat("1,", pad/2)+`1]}`), false},
		{"24 bodies of texts", same(24, "/v1/completions", `{"prompt":[`+strings.Repeat(`"",`, pad/3)+`""]}`), false},
		{"800 idle connections", connect(800, "", false), false},
		{"4000 half-sent bodies", connect(4000, head(1<<20)+`{"prompt":"`+strings.Repeat("x", 1<<16), false), false},
		{"64 half-closing", connect(64, head(len(ordinary))+ordinary, true), false},
		{"64 slow readers", connect(64, head(len(rest))+rest, false), false},
	}
}

// head is the beginning of a request for a completion with a body of some length.
func head(length int) string {
	return fmt.Sprintf("POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", length)
}

// victim is a server under attack, and counts the answers to its requests by status.
type victim struct {
	address string
	process *os.Process
	answers [600]atomic.Int64
}

// dialer connects from another address of this machine than the ordinary client's, and other is its
// client.
var (
	dialer = net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	other  = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100}}
)

// flood sends requests from several connections, without a pause except after a refusal.
func (v *victim) flood(ctx context.Context, connections int, path string, body func(int) string) {
	var all sync.WaitGroup
	for c := range connections {
		all.Go(func() {
			for i := c; ctx.Err() == nil; i++ {
				status := v.ask(ctx, other, path, body(i%connections))
				if v.answers[status].Add(1); status != http.StatusOK {
					time.Sleep(50 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
}

// ask sends a request and returns the status of its answer, 0 for none.
func (v *victim) ask(ctx context.Context, client *http.Client, path, body string) int {
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	return answer.StatusCode
}

// connect holds connections open after sending something on each, and reads nothing. If half is set,
// it also closes their sending sides, waits for the end and, after a pause, begins again.
func (v *victim) connect(ctx context.Context, n int, send string, half bool) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := dialer.DialContext(ctx, "tcp", v.address)
				if err != nil {
					continue
				}
				_, _ = io.WriteString(conn, send)
				if half {
					_ = conn.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, conn)
					time.Sleep(50 * time.Millisecond)
				} else {
					<-ctx.Done()
				}
				conn.Close()
			}
		})
	}
	all.Wait()
}

// median returns the median seconds of 20 ordinary requests; a pause after each leaves most of the
// time to others.
func (v *victim) median(t *testing.T) float64 {
	var seconds []float64
	for range 20 {
		begin := time.Now()
		if status := v.ask(t.Context(), http.DefaultClient, "/v1/completions", ordinary); status != http.StatusOK {
			t.Errorf("an ordinary request has status %d", status)
		}
		seconds = append(seconds, time.Since(begin).Seconds())
		time.Sleep(500 * time.Millisecond)
	}
	slices.Sort(seconds)
	return (seconds[9] + seconds[10]) / 2
}

// number returns the number that a pattern finds in a text, NaN for none.
func number(text []byte, pattern string) float64 {
	if at := regexp.MustCompile(pattern).FindSubmatch(text); at != nil {
		x, _ := strconv.ParseFloat(string(at[1]), 64)
		return x
	}
	return math.NaN()
}

// speed returns the positions per second that the network computes during a function.
func (v *victim) speed(t *testing.T, during func()) float64 {
	count := func() float64 {
		answer := reftest.Must(http.Get("http://" + v.address + "/metrics"))(t)
		defer answer.Body.Close()
		return number(reftest.Must(io.ReadAll(answer.Body))(t), `(?m)^mdmgen_network_positions_total (\S+)`)
	}
	before, begin := count(), time.Now()
	during()
	return (count() - before) / time.Since(begin).Seconds()
}

// peak returns the greatest memory of the server in MiB, where the system tells.
func (v *victim) peak() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.process.Pid))
	return number(text, `VmHWM:\s+(\d+) kB`) / 1024
}

// startVictim starts a server.
func startVictim(t *testing.T, program string) *victim {
	cmd := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0")
	said := reftest.Must(cmd.StderrPipe())(t)
	reftest.OK(t, cmd.Start())
	v := &victim{process: cmd.Process}
	t.Cleanup(func() { _ = v.process.Signal(syscall.SIGKILL); _ = cmd.Wait() })
	lines := bufio.NewScanner(said)
	for v.address == "" && lines.Scan() {
		_, v.address, _ = strings.Cut(lines.Text(), " on http://")
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // The log must not fill the pipe.
	return v
}

// TestAttacks measures what one client can do to another and to the server's memory.
func TestAttacks(t *testing.T) {
	if !*attacked {
		t.Skip("takes minutes: run with -attacks")
	}
	program := filepath.Join(t.TempDir(), "mdmgen")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join("..", ".."), "-o", program, "./cmd/mdmgen").CombinedOutput()
	reftest.OK(t, err, string(out))
	for _, a := range attacks() {
		if !strings.Contains(a.name, *only) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			v := startVictim(t, program)
			alone := v.median(t)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			over := make(chan struct{})
			go func() { defer close(over); a.do(ctx, v) }()
			time.Sleep(2 * time.Second) // until it is under way
			pause := func() { time.Sleep(4 * time.Second) }
			before, delayed := v.speed(t, pause), 0.0
			beside := v.speed(t, func() { delayed = v.median(t) })
			kept := 2 * beside / (before + v.speed(t, pause))
			stop()
			<-over
			delay, peak, answers, report := delayed/min(alone, v.median(t)), v.peak(), "", t.Logf
			for status := range v.answers {
				if n := v.answers[status].Load(); n > 0 {
					answers += fmt.Sprintf(", %d answers %d", n, status)
				}
			}
			if delay > maxDelay || peak > maxPeak || a.long && kept < minShare {
				report = t.Errorf
			}
			report("%s: delay %.1f, peak %.0f MiB, speed kept %.2f%s", a.name, delay, peak, kept, answers)
		})
	}
}
