package interaction

import (
	"encoding/json"
	"io"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainjson"
)

// FileSchema names the layout of a file of interactions.
const FileSchema = "mdmgen.profile/2"

// maxBytes bounds a file's size.
const maxBytes = 1 << 28

// File is a file of interactions. Provenance is a JSON object from the program that made it: its
// version and model.
type File struct {
	Schema       string   `json:"schema"`
	Provenance   any      `json:"provenance,omitempty"`
	Interactions *Profile `json:"interactions"`
}

// Write writes interactions as a file.
func (p *Profile) Write(w io.Writer, provenance any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(File{FileSchema, provenance, p})
}

// Read reads the interactions of a file. Errors are one line.
func Read(r io.Reader) (*Profile, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxBytes {
		return nil, fault.Errorf("interaction", "more than %d bytes", maxBytes)
	}
	var in File
	if err := plainjson.Unmarshal(data, &in); err != nil {
		return nil, fault.Errorf("interaction", "%w", err)
	}
	if in.Schema != FileSchema || in.Interactions == nil {
		return nil, fault.Errorf("interaction", "schema %.40q: must be %s, with interactions", in.Schema, FileSchema)
	}
	if err := in.Interactions.Check(); err != nil {
		return nil, err
	}
	return in.Interactions, nil
}
