// Load asks a running `mdmgen serve` with many clients at once, and prints how long they waited and how full the calls
// of the network were.
//
//	go run ./tools/load -url http://127.0.0.1:8080 -clients 64 -for 60s -length 64
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	url     = flag.String("url", "http://127.0.0.1:8080", "the server's")
	clients = flag.Int("clients", 8, "how many ask at once")
	length  = flag.Int("length", 0, "positions of a canvas; 0 for mixed lengths and samplers")
	last    = flag.Duration("for", time.Minute, "how long")
)

// mixed are the settings of requests of mixed samplers.
var mixed = []string{`"sampler":"fhs"`, `"sampler":"tweedie","steps":16`, `"sampler":"confidence","steps":16`, `"sampler":"remdm","steps":16`, `"sampler":"ordered","temperature":0.8`, `"sampler":"spread","steps":8`}

// answer is how long a request took to its first frame and to its end.
type answer struct{ first, end time.Duration }

// ask streams one request.
func ask(client *http.Client, seed int) (a answer, err error) {
	n, sampler := *length, mixed[0]
	if n == 0 {
		n, sampler = 16+seed*7%97, mixed[seed%len(mixed)]
	}
	begin := time.Now()
	body := fmt.Sprintf(`{"length":%d,"seed":%d,%s,"stream":true,"diffusing":true}`, n, seed, sampler)
	resp, err := client.Post(*url+"/v1/generate", "application/json", strings.NewReader(body))
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	text := bufio.NewReader(resp.Body)
	line := ""
	for line != "data: [DONE]\n" {
		if line, err = text.ReadString('\n'); err != nil {
			return a, fmt.Errorf("%s: the stream ended: %w", resp.Status, err)
		}
		if strings.HasPrefix(line, `data: {"error"`) {
			return a, fmt.Errorf("%s", line)
		}
		if a.first == 0 {
			a.first = time.Since(begin)
		}
	}
	a.end = time.Since(begin)
	return a, nil
}

// counters are the server's metrics that have no labels.
func counters() map[string]float64 {
	resp, err := http.Get(*url + "/metrics")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	out := make(map[string]float64)
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			out[name], _ = strconv.ParseFloat(value, 64) // 0 for comments
		}
	}
	return out
}

func main() {
	flag.Parse()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *clients}}
	before, begin := counters(), time.Now()
	var mu sync.Mutex
	var all []answer
	failed := 0
	var running sync.WaitGroup
	for i := range *clients {
		running.Go(func() {
			for seed := i; time.Since(begin) < *last; seed += *clients {
				a, err := ask(client, seed)
				mu.Lock()
				if all = append(all, a); err != nil {
					failed++
					log.Print(err)
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	seconds, after := time.Since(begin).Seconds(), counters()
	of := func(name string) float64 { return after[name] - before[name] }
	at := func(p float64, get func(answer) time.Duration) float64 {
		slices.SortFunc(all, func(a, b answer) int { return int(get(a) - get(b)) })
		return get(all[int(p*float64(len(all)-1))]).Seconds()
	}
	first, end := func(a answer) time.Duration { return a.first }, func(a answer) time.Duration { return a.end }
	fmt.Printf("clients %d, requests %d, errors %d, first p50 %.3f p99 %.3f s, end p50 %.3f p99 %.3f s, %.0f tokens/s, %.1f positions/s in the network, %.2f rows/call, %.1f ms/call, network %.0f %% of the time, %.0f MB\n",
		*clients, len(all), failed, at(0.5, first), at(0.99, first), at(0.5, end), at(0.99, end), of("mdmgen_generation_tokens_total")/seconds,
		of("mdmgen_network_positions_total")/of("mdmgen_network_call_seconds_total"), of("mdmgen_network_rows_total")/of("mdmgen_network_calls_total"),
		1e3*of("mdmgen_network_call_seconds_total")/of("mdmgen_network_calls_total"), 100*of("mdmgen_network_call_seconds_total")/seconds, after["process_resident_memory_bytes"]/1e6)
}
