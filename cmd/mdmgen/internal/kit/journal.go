package kit

import (
	"encoding/json"
	"errors"
	"fmt"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
)

// Identity is all that decides the bits of a result: the header of a journal.
type Identity struct {
	Schema string `json:"schema"`
	// provenance is without the time at which the run began, and without the name by which
	// the user calls the model.
	Provenance
	Seed uint64 `json:"seed"`
	// Settings are the command's.
	Settings any `json:"settings"`
}

// NewIdentity is what a run is, by what its records say of it.
func NewIdentity(schema string, p Provenance, seed uint64, settings any) Identity {
	p.Started = ""
	if p.Model != nil {
		o := *p.Model
		o.Reference = ""
		p.Model = &o
	}
	return Identity{schema, p, seed, settings}
}

// ResumeFlag is the flag --resume.
func ResumeFlag(path *string, usage string) *flags.Flag {
	return flags.Name(path, "name a file", flags.Flag{Name: "resume", Category: flags.CatOutput, Writes: true, Usage: usage})
}

// OpenJournal opens the file of --resume.
func OpenJournal(path, schema string) (*journal.Journal, error) {
	j, err := journal.Open(path, schema)
	return j, ResumeError(err)
}

// ResumeError is JournalError of --resume.
func ResumeError(err error) error { return JournalError("--resume", err) }

// JournalError puts the flag before an error of the journal; a file that is another's is a
// command line that cannot be obeyed.
func JournalError(flag string, err error) error {
	var refused *journal.RefusedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return exit.Usagef("%s %w", flag, err)
	}
	return fmt.Errorf("%s %w", flag, err)
}

// SeedOf is the seed of a journal, false where it has none yet.
func SeedOf(j *journal.Journal) (uint64, bool) {
	var was struct{ Seed *uint64 }
	if json.Unmarshal(j.Header(), &was) != nil || was.Seed == nil {
		return 0, false
	}
	return *was.Seed, true
}
