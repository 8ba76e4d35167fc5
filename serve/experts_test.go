package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"

	"mdmgen/internal/checkpointtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/model/graph"
	"mdmgen/requests"
	"mdmgen/samplers"
	"mdmgen/serve"
)

// TestExpertsInCompany checks for networks whose kernels round otherwise beside other rows, that ids of
// a seed are the same alone, in a call of eight, and in a server with eight requests at once.
func TestExpertsInCompany(t *testing.T) {
	t.Parallel()
	for family, dtype := range map[string]graph.Dtype{"llada2": graph.Float32, "llada-moe": graph.Int4, "sdar-moe": graph.Int4Exact} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			reftest.OK(t, os.CopyFS(dir, checkpointtest.ExpertFolder(family)))
			m, err := model.Open(t.Context(), dir, model.Options{Runtime: orttest.OneThread, Dtype: dtype})
			orttest.Opened(t, m, err)
			build := reftest.Must(requests.New(t.Context(), requests.Config{Network: m}))(t)
			want := map[string]string{}
			for i, settings := range []string{`"sampler":"fhs"`, `"sampler":"llada2","threshold":0.05`} {
				line := func(seed int) string { return fmt.Sprintf(`{"length":%d,"seed":%d,%s}`, 6+2*i, seed, settings) }
				j := reftest.Must(build.Job(t.Context(), reftest.Must(build.Parse([]byte(line(5))))(t, settings)))(t, settings)
				var ids [2][8][]int
				for i, batch := range []int{1, 8} {
					_, err := samplers.Sample(t.Context(), m, func(yield func(samplers.Sequence) bool) {
						for n := uint64(0); n < 8 && yield(samplers.Sequence{Index: n, Canvas: j.Tokens}); n++ {
						}
					}, samplers.Config{Method: j.Sampler, Seed: 5, Batch: batch}, func(r samplers.Result) error {
						ids[i][r.Index] = slices.Clone(r.IDs)
						return nil
					})
					reftest.OK(t, err)
				}
				if fmt.Sprint(ids[0]) != fmt.Sprint(ids[1]) {
					t.Errorf("%s, %s, %s: %v alone, %v together", family, dtype, settings, ids[0], ids[1])
				}
				for seed := range 4 {
					want[line(seed)] = fmt.Sprint(reftest.Must(samplers.Fill(t.Context(), m, j.Tokens, j.Sampler, uint64(seed)))(t))
				}
			}
			r := begin(t, dir, serve.Config{Model: m, Batch: 8, Store: samplers.NewStore(1 << 20)})
			var clients sync.WaitGroup
			for body, ids := range want {
				clients.Go(func() {
					var a sampled
					status, data := r.ask("/v1/generate", body)
					if err := json.Unmarshal(data, &a); err != nil || status != http.StatusOK {
						t.Errorf("%s: status %d: %s", body, status, data)
					} else if got := fmt.Sprint(a.Samples[0].IDs); got != ids {
						t.Errorf("%s, %s, %s: %s, want %s", family, dtype, body, got, ids)
					}
				})
			}
			clients.Wait()
		})
	}
}
