package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/serve"
)

// inBlocks opens a small block-causal network.
func inBlocks(t *testing.T) model.Model {
	t.Helper()
	dir := t.TempDir()
	config := `{"architectures":["BD3LM"],"hidden_dim":8,"cond_dim":4,"n_blocks":2,"n_heads":2,"model_length":32,"vocab_size":7,"block_size":4}`
	reftest.OK(t, os.CopyFS(dir, checkpointtest.Folder(config, "backbone.", checkpoint.F32, 1)))
	m, err := model.Open(t.Context(), dir, model.Options{Runtime: orttest.OneThread})
	orttest.Opened(t, m, err)
	return m
}

// cached is the usage of an answer.
type cached struct {
	sampled
	Usage struct {
		PromptTokens int `json:"prompt_tokens"`
		Details      struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

// TestSharing checks that requests share what others computed, that the usage says so, and that nothing is
// shared between keys if they are kept apart, or without a store.
func TestSharing(t *testing.T) {
	t.Parallel()
	m := inBlocks(t)
	for _, c := range []struct {
		config      serve.Config
		same, other int // the cached tokens of a second request with the same key, and with another
	}{{serve.Config{}, 0, 0}, {serve.Config{Store: samplers.NewStore(1 << 20)}, 8, 8}, {serve.Config{Store: samplers.NewStore(1 << 20), KeepApart: true}, 8, 0}} {
		c.config.Model = m
		r := begin(t, "", c.config)
		ask := func(key string, n int) (a cached) {
			body := fmt.Sprintf(`{"ids":[1,2,3,4,5,0,1,2,3,null,null,null],"n":%d}`, n)
			q := reftest.Must(http.NewRequestWithContext(t.Context(), "POST", r.url+"/v1/generate", strings.NewReader(body)))(t)
			q.Header.Set("Content-Type", "application/json")
			q.Header.Set("Authorization", "Bearer "+key)
			resp := reftest.Must(r.client.Do(q))(t)
			defer resp.Body.Close()
			reftest.OK(t, json.Unmarshal(reftest.Must(io.ReadAll(resp.Body))(t), &a))
			return a
		}
		for i, want := range []int{0, c.same, c.other} {
			a := ask([]string{"a", "a", "b"}[i], 1+i)
			if got := a.Usage.Details.CachedTokens; got != want || a.Usage.PromptTokens != 9 {
				t.Errorf("apart %t, request %d: %d of %d tokens are cached, want %d of 9", c.config.KeepApart, i, got, a.Usage.PromptTokens, want)
			}
		}
	}
}

// TestSharedIDs checks that requests of many clients, some of which leave, have the ids that they have
// alone, with stores of any size.
func TestSharedIDs(t *testing.T) {
	t.Parallel()
	m := inBlocks(t)
	build := reftest.Must(requests.New(t.Context(), requests.Config{Network: m}))(t)
	rng := rand.New(rand.NewPCG(1, 2))
	lines, want := make([]string, 200), make([]string, 200)
	for i := range lines {
		ids := "1"
		for range rng.IntN(24) {
			ids += "," + string("1112"[rng.IntN(4)])
		}
		ids += strings.Repeat(",null", 1+rng.IntN(7))
		lines[i] = fmt.Sprintf(`{"ids":[%s],"seed":%d,"sampler":%q}`, ids, i, []string{"fhs", "threshold", "ordered", "confidence"}[i%4])
		j := reftest.Must(build.Job(t.Context(), reftest.Must(build.Parse([]byte(lines[i])))(t)))(t)
		want[i] = fmt.Sprint(reftest.Must(samplers.Fill(t.Context(), m, j.Tokens, j.Sampler, uint64(i)))(t))
	}
	for _, bytes := range []int64{10_000, 1 << 20} {
		r := begin(t, "", serve.Config{Model: m, Store: samplers.NewStore(bytes)})
		var clients sync.WaitGroup
		for i, line := range lines {
			clients.Go(func() {
				var a sampled
				if i%5 == 0 {
					ctx, leave := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond/10)
					defer leave()
					q := reftest.Must(http.NewRequestWithContext(ctx, "POST", r.url+"/v1/generate", strings.NewReader(line)))(t)
					q.Header.Set("Content-Type", "application/json")
					if resp, err := r.client.Do(q); err == nil {
						resp.Body.Close()
					}
					return
				}
				if r.must(t, 200, "/v1/generate", line, &a); fmt.Sprint(a.Samples[0].IDs) != want[i] {
					t.Errorf("%d bytes, %s: %v, want %s", bytes, line, a.Samples[0].IDs, want[i])
				}
			})
		}
		clients.Wait()
	}
}
