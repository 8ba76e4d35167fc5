package bench

// Log holds the records of a run.
type Log struct {
	Repetitions []Repetition
	Errors      []ErrorSample
	Certified   []CertifiedRun
	// Quality holds the parts that were measured cell by cell.
	Quality []Quality
}
