package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"

	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
	"mdmgen/internal/stamp"
)

// ManifestFile lists the content of a written model's files, so that any change is noticed.
const ManifestFile = "mdmgen.manifest.json"

// maxManifest bounds its size in bytes; it has a few lines for each of a handful of files.
const maxManifest = 1 << 20

// manifestSchema is the name of its layout.
const manifestSchema = "mdmgen.manifest/1"

// manifest is the content of ManifestFile.
type manifest struct {
	Schema string             `json:"schema"`
	Files  map[string]fileSum `json:"files"`

	progress func(bytes int64) // called as files are written
}

// fileSum is the content of a file: its size in bytes, and their SHA-256 in hexadecimal.
type fileSum struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// write writes the manifest itself.
func (m manifest) write(ctx context.Context, dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	// It does not list itself.
	return manifest{Files: map[string]fileSum{}}.create(ctx, dir, ManifestFile, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// DamagedError reports that a file has changed since it was written.
type DamagedError struct {
	// File is the name of the file, Reason is what is wrong with it.
	File, Reason string
}

// Error implements error.
func (e *DamagedError) Error() string { return e.File + ": " + e.Reason }

// Check compares files of a folder that [Write] made with its manifest, reading only those that
// stamps does not remember. listed is false if the folder has no manifest, or one that does not
// list the first file: then nothing is known. The error is a [*DamagedError] if a file is missing
// or differs from the one written.
func Check(ctx context.Context, stamps stamp.Store, dir string, names ...string) (listed bool, err error) {
	m, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, ok := m.Files[names[0]]; !ok {
		return false, nil
	}
	for _, name := range names {
		if err := m.check(ctx, stamps, dir, name); err != nil {
			return true, err
		}
	}
	return true, nil
}

// CheckAll is [Check] for all files that the manifest lists, including the model's own.
func CheckAll(ctx context.Context, stamps stamp.Store, dir string) error {
	m, err := readManifest(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return &DamagedError{ManifestFile, "it is missing"}
	}
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(m.Files))
	for _, name := range append(names, ModelFile, DataFile) {
		if err := m.check(ctx, stamps, dir, name); err != nil {
			return err
		}
	}
	return nil
}

func (m manifest) check(ctx context.Context, stamps stamp.Store, dir, name string) error {
	want, ok := m.Files[name]
	if !ok {
		return &DamagedError{name, "it was not written with the other files"}
	}
	path, err := plainfile.Inside(dir, name)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(path)
	}
	if err == nil && info.Size() != want.Size {
		return &DamagedError{name, fmt.Sprintf("it has %d bytes, but was written with %d", info.Size(), want.Size)}
	}
	sum := ""
	if err == nil {
		sum, err = stamps.SHA256(ctx, path)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return &DamagedError{name, "it is missing"}
	case err != nil:
		return &DamagedError{name, plainfile.Cause(err).Error()}
	case sum != want.SHA256:
		return &DamagedError{name, "it was changed since it was written"}
	}
	return nil
}

func readManifest(dir string) (manifest, error) {
	var m manifest
	text, err := plainfile.ReadFS(plainfile.Folder(dir), ManifestFile, maxManifest)
	if err == nil {
		err = plainjson.Unmarshal(text, &m)
	}
	if err == nil && m.Schema != manifestSchema {
		err = fmt.Errorf("schema is %.40q: this version reads %q", m.Schema, manifestSchema)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, err
	case err != nil:
		return m, &DamagedError{ManifestFile, err.Error()}
	}
	return m, nil
}
