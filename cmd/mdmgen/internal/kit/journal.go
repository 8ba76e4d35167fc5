package kit

import (
	"errors"
	"fmt"

	"mdmgen/internal/exit"
	"mdmgen/internal/journal"
)

// Identity is all that decides the bits of a result: the header of a journal.
type Identity struct {
	Schema string `json:"schema"`
	// Provenance has neither the time of the run nor the name by which the user calls the model.
	Provenance
	Seed uint64 `json:"seed"`
	// Executable is [Executable] where the run is kept: versions of builds are alike.
	Executable string `json:"executable,omitempty"`
	// Settings are the command's.
	Settings any `json:"settings"`
}

// NewIdentity returns the identity of a run, by the contents of its records.
func NewIdentity(schema string, p Provenance, seed uint64, settings any) Identity {
	p.Started = ""
	if p.Model != nil {
		o := *p.Model
		o.Reference = ""
		p.Model = &o
	}
	return Identity{Schema: schema, Provenance: p, Seed: seed, Settings: settings}
}

// JournalError puts the flag before an error of the journal. A file of another run is a usage error.
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
