package bench

import "encoding/json"

// Log holds the records of a run.
type Log struct {
	Repetitions []Repetition
	Errors      []ErrorSample
	Certified   []CertifiedRun
	// Quality holds the parts that were measured cell by cell.
	Quality []Quality
}

// Restore adds a record of an earlier run, in the order in which they were made.
func (l *Log) Restore(record json.RawMessage) error {
	var of struct{ Kind string }
	if err := json.Unmarshal(record, &of); err != nil {
		return err
	}
	switch of.Kind {
	case KindRepetition:
		return restore(record, &l.Repetitions)
	case KindError:
		return restore(record, &l.Errors)
	case KindCertificate:
		return restore(record, &l.Certified)
	}
	return restore(record, &l.Quality)
}

func restore[R any](record json.RawMessage, all *[]R) error {
	var r R
	err := json.Unmarshal(record, &r)
	*all = append(*all, r)
	return err
}
