package bench

import (
	"encoding/json"
	"fmt"

	"mdmgen/internal/fault"
)

// Log holds the records of a run.
type Log struct {
	Repetitions []Repetition
	Errors      []ErrorSample
	Certified   []CertifiedRun
	// Quality are parts that were measured cell by cell.
	Quality []Quality
}

// Read adds a record, one line of JSON. A line that is none is an error.
func (l *Log) Read(line []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fault.Errorf("bench", "is not a record")
	}
	var ok bool
	switch head.Kind {
	case KindRepetition:
		ok = read(line, &l.Repetitions, func(r Repetition) bool {
			return r.Cell != "" && r.Sequences > 0 && r.Round >= 0 && (r.IDs == nil || len(r.IDs) == r.Sequences)
		})
	case KindError:
		ok = read(line, &l.Errors, func(s ErrorSample) bool { return s.Group >= 0 && len(s.Sample.NegLog) > 0 })
	case KindCertificate:
		ok = read(line, &l.Certified, func(c CertifiedRun) bool { return c.Group >= 0 && len(c.Run.Log) > 0 })
	case KindQuality:
		ok = read(line, &l.Quality, func(q Quality) bool { return q.Cell != "" && q.Part != "" })
	}
	if !ok {
		return fault.Errorf("bench", "is not a record of bench, of the kind %.40q", head.Kind)
	}
	return nil
}

// read appends a record to a list, and reports whether it is valid.
func read[T any](line []byte, to *[]T, valid func(T) bool) bool {
	var x T
	if json.Unmarshal(line, &x) != nil || !valid(x) {
		return false
	}
	*to = append(*to, x)
	return true
}

// Check refuses records of another run: of cells, rounds, numbers of sequences or groups that
// it does not have, and records that appear twice.
func (l *Log) Check(cells []Cell, s RunSettings, groups *Errors, certificates *Certificates) error {
	known, seen := make(map[string]bool), make(map[string]bool)
	for i := range cells {
		known[cells[i].ID] = true
	}
	var err error
	check := func(own bool, format string, args ...any) {
		what := fmt.Sprintf(format, args...)
		switch {
		case err != nil:
		case !own:
			err = fault.Errorf("bench", "%.100s is of another run", what)
		case seen[what]:
			err = fault.Errorf("bench", "%s appears twice", what)
		}
		seen[what] = true
	}
	for _, r := range l.Repetitions {
		check(known[r.Cell] && r.Round < s.Repetitions && r.Sequences == s.Sequences, "round %d of %s", r.Round, r.Cell)
	}
	for _, e := range l.Errors {
		own := groups != nil && e.Group < len(groups.groups) && len(e.Sample.NegLog) == len(groups.groups[e.Group].cells) && len(e.Sample.Tokens) == groups.d
		check(own, "sample %d of group %d", e.Sample.Index, e.Group)
	}
	for _, c := range l.Certified {
		own := certificates != nil && c.Group < len(certificates.groups) && len(c.Run.Log) == len(certificates.groups[c.Group].cells)
		check(own, "run %d of certificates %d", c.Run.Index, c.Group)
	}
	for _, q := range l.Quality {
		check(known[q.Cell], "%s of %s", q.Part, q.Cell)
	}
	return err
}
