package checkpoint

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/edsrzf/mmap-go"

	"mdmgen/internal/plainfile"
)

// File is an open weight file, in safetensors or from torch.save. It may be shared by goroutines
// until it is closed.
type File struct {
	// Metadata is the file's __metadata__, nil if it has none.
	Metadata map[string]string

	path    string
	size    int64
	mapped  mmap.MMap // nil if the bytes were passed in
	bytes   []byte
	names   []string
	tensors map[string]Tensor

	order    []string  // names in torch's order, nil for safetensors
	training *training // what a trainer's file adds to a state_dict, else nil
	copied   uint64    // bytes in copies of views

	// spans and sums are the entries of a zip archive with their CRC-32, by name.
	spans map[string]span
	sums  map[string]uint32
}

// OpenFile maps the weight file at path and checks its header or pickle. The caller must close it;
// tensors and their data must not be used afterwards. The file must not shrink while it is open.
func OpenFile(path string) (*File, error) {
	// Graphs may refer to weights by file name: use the name without symbolic links.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, plainfile.Cause(err))
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f, err := plainfile.Open(real)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, plainfile.Cause(err))
	}
	defer f.Close() // the mapping outlives the descriptor
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, plainfile.Cause(err))
	}
	if info.Size() < 8 {
		return nil, fmt.Errorf("%s: %d bytes: too short for a safetensors file", path, info.Size())
	}
	m, err := mmap.Map(f, mmap.RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be mapped: %w", path, err)
	}
	s := &File{path: real, size: info.Size(), mapped: m, bytes: m}
	if err := s.index(); err != nil {
		m.Unmap()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// FileOf checks the header or pickle of a weight file in memory. It keeps b, which must not change.
func FileOf(b []byte) (*File, error) {
	s := &File{size: int64(len(b)), bytes: b}
	if err := s.index(); err != nil {
		return nil, err
	}
	return s, nil
}

// index reads the header or pickle; the first bytes of the file tell which.
func (s *File) index() error {
	var v any
	var err error
	switch {
	case bytes.HasPrefix(s.bytes, []byte(zipLocal)):
		v, err = s.zipped()
	case isLegacy(s.bytes):
		v, err = legacy(s.bytes)
	default:
		return s.indexSafetensors()
	}
	if err != nil {
		return err
	}
	return s.indexTorch(v)
}

// indexSafetensors reads the header of a safetensors file.
func (s *File) indexSafetensors() error {
	h, err := parseHeader(s.bytes, s.size)
	if err != nil {
		return err
	}
	s.Metadata = h.metadata
	s.tensors = make(map[string]Tensor, len(h.entries))
	for _, e := range h.entries {
		s.names = append(s.names, e.name)
		s.tensors[e.name] = Tensor{
			Name: e.name, Dtype: e.dtype, Shape: e.shape,
			Data: s.bytes[h.data+e.begin : h.data+e.end : h.data+e.end],
			Path: s.path, Offset: h.data + e.begin,
		}
	}
	// torch's save_model omits tied tensors and names their twins in the metadata.
	stored := maps.Clone(s.tensors)
	for name, twin := range h.metadata {
		t, ok := stored[twin]
		if _, taken := stored[name]; ok && !taken {
			t.Name = name
			s.tensors[name], s.names = t, append(s.names, name)
		}
	}
	slices.Sort(s.names)
	return nil
}

// Names returns the tensors' names, sorted.
func (s *File) Names() []string { return slices.Clone(s.names) }

// Tensor returns the tensor with the given name.
func (s *File) Tensor(name string) (Tensor, bool) {
	t, ok := s.tensors[name]
	return t, ok
}

// Close unmaps the file. It is safe to call twice.
func (s *File) Close() error {
	m := s.mapped
	s.mapped, s.bytes, s.tensors, s.names = nil, nil, nil, nil
	if m == nil {
		return nil
	}
	return m.Unmap()
}
