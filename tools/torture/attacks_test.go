//go:build unix

package torture

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
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
	"text/tabwriter"
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
	score := fmt.Sprintf(`{"text":%q,"draws":1024}`, text)
	read := `{"infill":"Once upon a time{{1}} a king{{64}}.","candidates":["` + strings.Join(strings.Fields(strings.Repeat("queen king bird tree ", 8)), `","`) + `"],"gap":1}`
	pad := strings.Repeat("x", 4<<20-64)
	pattern := func(i int) string {
		var words []string
		for j := range 250 {
			words = append(words, fmt.Sprintf("w%dx%d[a-z]{%d}", i, j, 5+j%30))
		}
		return strings.Join(words, "|")
	}
	schema := func(i int) string {
		var keys []string
		for j := range 100 {
			keys = append(keys, fmt.Sprintf(`"k%dx%d":{"type":"string","maxLength":9}`, i, j))
		}
		return `{"type":"object","properties":{` + strings.Join(keys, ",") + `}}`
	}
	same := func(path, body string, n int) func(context.Context, *victim) {
		return func(ctx context.Context, v *victim) { v.flood(ctx, n, n, path, func(int) string { return body }) }
	}
	return []attack{
		{"2 scores of 1024 draws", same("/v1/score", score, 2), true},
		{"4 scores of 1024 draws", same("/v1/score", score, 4), true},
		{"4 reads", same("/v1/read", read, 4), true},
		{"2 of n = 128", same("/v1/generate", `{"length":64,"n":128,"seed":1}`, 2), true},
		{"4 of n = 128", same("/v1/generate", `{"length":64,"n":128,"seed":1}`, 4), true},
		{"8 of 2^24 steps", same("/v1/generate", `{"length":8,"sampler":"euler","steps":16777216}`, 8), false},
		{"8 of most steps", same("/v1/generate", `{"length":8,"sampler":"euler","steps":65536}`, 8), false},
		{"66 regular expressions", func(ctx context.Context, v *victim) {
			v.flood(ctx, 66, 66, "/v1/generate", func(i int) string { return fmt.Sprintf(`{"length":16,"regex":%q}`, pattern(i)) })
		}, false},
		{"66 schemas", func(ctx context.Context, v *victim) {
			v.flood(ctx, 66, 66, "/v1/generate", func(i int) string { return `{"length":16,"json_schema":` + schema(i) + `}` })
		}, false},
		{"24 bodies, field unknown", same("/v1/completions", `{"aaa":"`+pad+`"}`, 24), false},
		{"24 bodies of small values", same("/v1/completions", `{"aaa":[`+strings.Repeat("[],", len(pad)/3)+`0]}`, 24), false},
		{"24 bodies, valid", same("/tokenize", `{"content":"`+pad+`"}`, 24), false},
		{"24 bodies of ids", same("/v1/completions", `{"prompt":[`+strings.Repeat("1,", len(pad)/2)+`1]}`, 24), false},
		{"24 bodies of texts", same("/v1/completions", `{"prompt":[`+strings.Repeat(`"",`, len(pad)/3)+`""]}`, 24), false},
		{"800 idle connections", func(ctx context.Context, v *victim) { v.connect(ctx, 800, "", false) }, false},
		{"4000 half-sent bodies", func(ctx context.Context, v *victim) {
			v.connect(ctx, 4000, head(1<<20)+`{"prompt":"`+strings.Repeat("x", 1<<16), false)
		}, false},
		{"64 half-closing", func(ctx context.Context, v *victim) {
			v.connect(ctx, 64, head(len(ordinary))+ordinary, true)
		}, false},
		{"64 slow readers", func(ctx context.Context, v *victim) {
			body := `{"prompt":"a","n":128,"max_tokens":64,"stream":true,"diffusing":true}`
			v.connect(ctx, 64, head(len(body))+body, false)
		}, false},
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
	rows    func() float64
	answers sync.Map
}

// dialer connects from another address of this machine than the ordinary client's, and other is its
// client.
var (
	dialer = net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	other  = &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 100}}
)

// flood sends requests from several connections, without a pause except after a refusal.
func (v *victim) flood(ctx context.Context, connections, kinds int, path string, body func(int) string) {
	var all sync.WaitGroup
	for c := range connections {
		all.Go(func() {
			for i := c; ctx.Err() == nil; i++ {
				status := v.ask(ctx, other, path, body(i%kinds))
				n, _ := v.answers.LoadOrStore(status, new(atomic.Int64))
				if n.(*atomic.Int64).Add(1); status != http.StatusOK {
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
// it also closes their sending sides, waits for the end and begins again.
func (v *victim) connect(ctx context.Context, n int, send string, half bool) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := dialer.DialContext(ctx, "tcp", v.address)
				if err != nil {
					time.Sleep(100 * time.Millisecond)
					continue
				}
				stop := context.AfterFunc(ctx, func() { conn.Close() })
				_, _ = io.WriteString(conn, send)
				if half {
					_ = conn.(*net.TCPConn).CloseWrite()
					_, _ = io.Copy(io.Discard, conn)
				} else {
					<-ctx.Done()
				}
				stop()
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

// speed returns the rows per second that the network computes during a function.
func (v *victim) speed(t *testing.T, during func()) float64 {
	before, begin := v.read(t, "/metrics", `(?m)^mdmgen_network_positions_total (\S+)`), time.Now()
	during()
	return (v.read(t, "/metrics", `(?m)^mdmgen_network_positions_total (\S+)`) - before) / time.Since(begin).Seconds()
}

// read returns the number that a pattern finds in the answer of a path.
func (v *victim) read(t *testing.T, path, pattern string) float64 {
	answer := reftest.Must(http.Get("http://" + v.address + path))(t)
	defer answer.Body.Close()
	text := reftest.Must(io.ReadAll(answer.Body))(t)
	return reftest.Must(strconv.ParseFloat(string(regexp.MustCompile(pattern).FindSubmatch(text)[1]), 64))(t)
}

// peak returns the greatest memory of the server in MiB, where the system tells.
func (v *victim) peak() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.process.Pid))
	if at := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text); at != nil {
		kb, _ := strconv.Atoi(string(at[1]))
		return float64(kb) / 1024
	}
	return 0
}

// startVictim starts a server.
func startVictim(t *testing.T, program string) *victim {
	cmd := exec.CommandContext(t.Context(), program, "serve", "--listen", "127.0.0.1:0")
	said := reftest.Must(cmd.StderrPipe())(t)
	reftest.OK(t, cmd.Start())
	v := &victim{process: cmd.Process}
	t.Cleanup(func() { _ = v.process.Signal(syscall.SIGKILL); _ = cmd.Wait() })
	lines := bufio.NewScanner(said)
	for lines.Scan() && v.address == "" {
		if _, at, ok := strings.Cut(lines.Text(), " on http://"); ok {
			v.address = at
			break
		}
	}
	go func() {
		for lines.Scan() { // The log must not fill the pipe.
		}
	}()
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
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "attack\tdelay\tpeak MiB\tspeed kept\tanswers")
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
			var before, beside, after float64
			if a.long {
				before = v.speed(t, func() { time.Sleep(4 * time.Second) })
			}
			var delayed float64
			beside = v.speed(t, func() { delayed = v.median(t) })
			share := "-"
			if a.long {
				after = v.speed(t, func() { time.Sleep(4 * time.Second) })
				share = fmt.Sprintf("%.2f", 2*beside/(before+after))
			}
			stop()
			<-over
			delay, peak := delayed/min(alone, v.median(t)), v.peak()
			var answers []string
			v.answers.Range(func(status, n any) bool {
				answers = append(answers, fmt.Sprintf("%d:%d", status, n.(*atomic.Int64).Load()))
				return true
			})
			slices.Sort(answers)
			fmt.Fprintf(w, "%s\t%.1f\t%.0f\t%s\t%s\n", a.name, delay, peak, share, cmp.Or(strings.Join(answers, " "), "-"))
			if delay > maxDelay || peak > maxPeak || a.long && 2*beside < minShare*(before+after) {
				t.Errorf("delay %.1f, peak %.0f MiB, speed kept %s: want at most %d and %d, and at least %.1f", delay, peak, share, maxDelay, maxPeak, minShare)
			}
		})
	}
	_ = w.Flush()
	t.Logf("\n%s", table.String())
}
