package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"mdmgen/model/facts"
	"mdmgen/model/ort"
)

// MetadataKey is the key under which an ONNX file carries the JSON of its facts.
const MetadataKey = "mdmgen"

// openONNX opens an .onnx file: one of ours, with facts in its metadata and an
// input for the wanted positions, or another tool's, which returns the rows of
// every position.
func openONNX(ctx context.Context, ref, path string, opts Options) (_ Model, err error) {
	s, err := ort.Open(ctx, ort.Source{Path: path}, opts.Runtime)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	f, own, err := graphFacts(s)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", ref, err)
	}
	sidecar := opts.Sidecar
	if sidecar == "" {
		sidecar = besideONNX(path)
	}
	if f, err = facts.Apply(f, sidecar, opts.Override); err != nil {
		return nil, fmt.Errorf("model %s: %w%s", ref, err, hint(own))
	}
	if f.Digest == "" {
		if f.Digest, err = digest(path); err != nil {
			return nil, fmt.Errorf("model %s: %w", ref, err)
		}
	}
	if hasInput(s, "positions") {
		if err := checkGraph(s, f); err != nil {
			return nil, fmt.Errorf("model %s: %w", ref, err)
		}
		return &network{session: s, facts: f, ref: ref}, nil
	}
	return newForeign(s, f, ref)
}

// hint says how facts are given, where the file has none of ours.
func hint(own bool) string {
	if own {
		return ""
	}
	return " (this ONNX file carries no facts: give them in a sidecar NAME.mdmgen.json or with --fact KEY=VALUE)"
}

// besideONNX returns the sidecar of an ONNX file: NAME.mdmgen.json beside
// NAME.onnx, or "" where there is none.
func besideONNX(path string) string {
	p := strings.TrimSuffix(path, ".onnx") + ".mdmgen.json"
	if _, err := os.Stat(p); err != nil {
		return ""
	}
	return p
}

// graphFacts reads what an open graph says about itself. own tells whether the
// facts are in its metadata; else they are what inputs and outputs show, with
// the mask's id left invalid.
func graphFacts(s *ort.Session) (f Facts, own bool, err error) {
	if text, ok := s.Metadata()[MetadataKey]; ok {
		err = f.Decode([]byte(text))
		return f, true, err
	}
	f = Facts{Schema: facts.Schema, Family: "onnx", Output: facts.Logits, Noise: "loglinear", MaskID: facts.Unknown, Length: facts.Unknown}
	if out := logitsOutput(s); out != nil && len(out.Shape) > 0 {
		f.Columns = int(out.Shape[len(out.Shape)-1])
	}
	f.TimeConditioned = timeInput(s) != ""
	for _, in := range s.Inputs() {
		if in.Name == idsInput(s) && len(in.Shape) == 2 && in.Shape[1] > 0 {
			f.Length, f.FixedLength = int(in.Shape[1]), true
		}
	}
	return f, false, nil
}

func hasInput(s *ort.Session, name string) bool {
	return slices.ContainsFunc(s.Inputs(), func(io ort.IO) bool { return io.Name == name })
}

// checkGraph compares the inputs and outputs of one of our graphs with its facts.
func checkGraph(s *ort.Session, f Facts) error {
	var errs []error
	if !hasInput(s, "input_ids") {
		errs = append(errs, errors.New("input input_ids is missing"))
	}
	if has := hasInput(s, "sigma"); has != f.TimeConditioned {
		errs = append(errs, fmt.Errorf("time_conditioned is %t, but input sigma is %s", f.TimeConditioned, map[bool]string{true: "there", false: "missing"}[has]))
	}
	out := logitsOutput(s)
	if out == nil || out.Name != "logits" {
		errs = append(errs, errors.New("output logits is missing"))
	} else if n := out.Shape[len(out.Shape)-1]; n > 0 && int(n) != f.Columns {
		errs = append(errs, fmt.Errorf("columns is %d, but the output logits has %d", f.Columns, n))
	}
	return errors.Join(errs...)
}

// digest is the SHA-256 of an ONNX file and of the external data beside it
// under the names that exporters use.
func digest(path string) (string, error) {
	h := sha256.New()
	for _, p := range []string{path, path + "_data", path + ".data"} {
		f, err := os.Open(p)
		if errors.Is(err, fs.ErrNotExist) && p != path {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
