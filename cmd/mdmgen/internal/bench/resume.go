package bench

import (
	"encoding/json"
	"fmt"

	"mdmgen/analysis/bench"
	"mdmgen/cmd/mdmgen/internal/chunks"
	"mdmgen/cmd/mdmgen/internal/kit"
)

// Schema names the layout of the file of bench's --resume: one chunk, whose pieces are the records.
const Schema = "mdmgen.bench-resume/1"

// resume opens the file of --resume, and restores its records.
func (r *benching) resume() (err error) {
	decides := struct {
		bench.RunSettings
		// Cells holds the cells' values by key, so that a message names the key.
		Cells map[string][]string `json:"cells"`
	}{r.settings, make(map[string][]string)}
	decides.MaxSeconds = 0 // A run may be given more time.
	for i, c := range bench.Summarise(r.cells, nil, r.settings, r.threads).Cells {
		decides.Cells["id"] = append(decides.Cells["id"], c.ID)
		for _, key := range c.Settings.Keys() {
			decides.Cells[key] = append(decides.Cells[key], fmt.Sprintf("%d %s", i, c.Settings.Get(key)))
		}
	}
	made := kit.NewProvenance(r.cells[0].Model, r.words)
	r.kept, err = r.chunks.Open(r.streams, chunks.Header{
		Identity: kit.NewIdentity(Schema, made, r.settings.Seed, decides), Chunks: 1, Part: chunks.Part{Provenance: made},
	}, "")
	if err == nil {
		err = r.kept.Pieces(0, r)
	}
	return err
}

// Restore adds and prints a kept record. What was measured of a cell without all its repetitions,
// for lack of time, is measured again.
func (r *benching) Restore(record json.RawMessage) error {
	n := len(r.log.Quality)
	if err := r.log.Restore(record); err != nil {
		return err
	}
	if len(r.log.Quality) > n && r.repeated(&bench.Cell{ID: r.log.Quality[n].Cell}) < r.settings.Repetitions {
		r.log.Quality = r.log.Quality[:n]
		return nil
	}
	return r.print(record)
}
