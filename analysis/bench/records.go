package bench

import (
	"encoding/json"
	"errors"
	"fmt"

	"mdmgen/internal/fault"
)

// Log holds what a run has finished, as its records say.
type Log struct {
	Repetitions []Repetition
	Errors      []ErrorSample
	Certified   []CertifiedRun
	// Quality are parts that were worked out cell by cell.
	Quality []Quality
}

// Read adds a record, one line of JSON. It is an error where the line is not a record, or not
// one that a run could have made.
func (l *Log) Read(line []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return fault.Errorf("bench", "is not a record")
	}
	switch head.Kind {
	case KindRepetition:
		var r Repetition
		if err := json.Unmarshal(line, &r); err != nil || r.check() != nil {
			return errors.Join(fault.Errorf("bench", "is not a repetition"), r.check())
		}
		l.Repetitions = append(l.Repetitions, r)
	case KindError:
		var s ErrorSample
		if err := json.Unmarshal(line, &s); err != nil || s.Group < 0 || s.Target < 0 || len(s.Sample.NegLog) == 0 {
			return fault.Errorf("bench", "is not a sample")
		}
		l.Errors = append(l.Errors, s)
	case KindCertificate:
		var c CertifiedRun
		if err := json.Unmarshal(line, &c); err != nil || c.Group < 0 || len(c.Run.Log) == 0 {
			return fault.Errorf("bench", "is not a run of a certificate")
		}
		l.Certified = append(l.Certified, c)
	case KindQuality:
		var q Quality
		if err := json.Unmarshal(line, &q); err != nil || q.Cell == "" || q.Part == "" {
			return fault.Errorf("bench", "is not a part of quality")
		}
		l.Quality = append(l.Quality, q)
	default:
		return fault.Errorf("bench", "a record of the kind %.40q is not known", head.Kind)
	}
	return nil
}

// check refuses sums that no run has.
func (r *Repetition) check() error {
	for _, n := range []int{r.Round, r.Calls, r.CallsSquared, r.FinishCalls, r.Left, r.Events, r.NetworkCalls, r.Rows, r.Positions, r.Tokens} {
		if n < 0 {
			return fault.Errorf("bench", "a count is below 0")
		}
	}
	if r.Cell == "" || r.Sequences < 1 || r.IDs != nil && len(r.IDs) != r.Sequences || !(r.EventsSquared >= 0) {
		return fault.Errorf("bench", "%d sequences of %q", r.Sequences, r.Cell)
	}
	s := r.Seconds
	for _, x := range []float64{s.Network, s.Sampling, s.Total} {
		if !(x >= 0) {
			return fault.Errorf("bench", "a time is below 0")
		}
	}
	return nil
}

// Check refuses records that are of another run: of cells that it has not, or rounds,
// numbers of sequences and windows that are not its own, and records that come twice.
func (l *Log) Check(cells []Cell, s RunSettings, groups *Errors, targets int, certificates *Certificates) error {
	known := make(map[string]bool)
	for i := range cells {
		known[cells[i].ID] = true
	}
	seen := make(map[string]bool)
	once := func(key string) error {
		if seen[key] {
			return fault.Errorf("bench", "%s is there twice", key)
		}
		seen[key] = true
		return nil
	}
	for _, r := range l.Repetitions {
		if !known[r.Cell] || r.Round >= s.Repetitions || r.Sequences != s.Sequences {
			return fault.Errorf("bench", "round %d of %.60q is of another run", r.Round, r.Cell)
		}
		if err := once(fmt.Sprintf("round %d of %s", r.Round, r.Cell)); err != nil {
			return err
		}
	}
	for _, e := range l.Errors {
		if groups == nil || e.Group >= len(groups.groups) || e.Target >= targets || len(e.Sample.NegLog) != len(groups.groups[e.Group].cells) || len(e.Sample.Tokens) != groups.d {
			return fault.Errorf("bench", "sample %d of group %d is of another run", e.Sample.Index, e.Group)
		}
		if err := once(fmt.Sprintf("sample %d of group %d, window %d", e.Sample.Index, e.Group, e.Target)); err != nil {
			return err
		}
	}
	for _, c := range l.Certified {
		if certificates == nil || c.Group >= len(certificates.groups) || len(c.Run.Log) != len(certificates.groups[c.Group].cells) {
			return fault.Errorf("bench", "run %d of certificates %d is of another run", c.Run.Index, c.Group)
		}
		if err := once(fmt.Sprintf("run %d of certificates %d", c.Run.Index, c.Group)); err != nil {
			return err
		}
	}
	for _, q := range l.Quality {
		if !known[q.Cell] {
			return fault.Errorf("bench", "%.60q is of another run", q.Cell)
		}
		if err := once(q.Part + " of " + q.Cell); err != nil {
			return err
		}
	}
	return nil
}
