package checkpoint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mdmgen/model/internal/pickle"
)

// torchFile reads a file from torch.save: a pickle, followed by the storages that it refers to.
type torchFile struct {
	data map[string]span // bytes of storages by key
	// legacy holds the storages by key if their bytes follow the pickle and are not located yet.
	legacy map[string]*storage
	// classes holds the unknown names of a pickle, and whether each turned out to be a tensor's
	// class.
	classes map[string]bool
}

// storage is the target of a persistent identifier.
type storage struct {
	dtype Dtype // "" for elements that no network here uses, such as complex numbers
	count int64 // of elements
	data  span
}

// rebuilt is a tensor of a pickle.
type rebuilt struct {
	from    *storage // nil for [Odd] and [Negated] tensors
	dtype   Dtype
	shape   []int
	first   int64   // element of the storage
	strides []int64 // of a view whose elements are not contiguous, else nil
}

// Persistent finds the storage of ("storage", class, key, location, elements).
func (t *torchFile) Persistent(id any) (any, error) {
	p, _ := id.(pickle.Tuple)
	if len(p) < 5 || p[0] != "storage" {
		return nil, errors.New("the pickle refers to something other than a torch storage")
	}
	class, isClass := p[1].(pickle.Global)
	key, isKey := p[2].(string)
	count, isCount := p[4].(int64)
	dtype := storages[class.String()]
	if !isClass || !isKey || !isCount || count < 0 || count > 1<<50 {
		return nil, errors.New("the pickle refers to a malformed storage")
	}
	s := &storage{dtype: dtype, count: count}
	if t.legacy != nil {
		if have := t.legacy[key]; have != nil {
			s = have
		}
		t.legacy[key] = s
		if s.dtype != dtype || s.count != count || len(p) > 5 && p[5] != nil {
			return nil, fmt.Errorf("storage %s is a view of another: save the weights again", quoteName(key))
		}
		return s, nil
	}
	var ok bool
	if s.data, ok = t.data[key]; !ok {
		return nil, fmt.Errorf("storage %s is not in the file", quoteName(key))
	}
	if want := uint64(count) * uint64(dtype.Size()); dtype != "" && s.data.size != want {
		return nil, fmt.Errorf("storage %s has %d bytes: %d elements of %s take %d", quoteName(key), s.data.size, count, dtype, want)
	}
	return s, nil
}

// odd represents a tensor that is not a plain array of numbers: sparse, quantized, complex, without
// data. No network here has one, and an unused one does no harm.
var odd = &rebuilt{dtype: Odd}

// rebuild makes the tensor of (storage, offset, shape, strides, …), at least n arguments; dtype is
// its element type if the storage is untyped.
func rebuild(args pickle.Tuple, n int, dtype any) (*rebuilt, error) {
	fault := errors.New("a tensor of the pickle is malformed")
	if len(args) < n {
		return nil, fault
	}
	s, ok := args[0].(*storage)
	first, ok2 := args[1].(int64)
	size, ok3 := args[2].(pickle.Tuple)
	stride, ok4 := args[3].(pickle.Tuple)
	if !ok || !ok2 || !ok3 || !ok4 || len(size) != len(stride) || len(size) > maxRank {
		return nil, fault
	}
	if s.dtype == "" {
		return odd, nil
	}
	x := &rebuilt{from: s, dtype: s.dtype, first: first}
	room := s.count
	if dtype != nil {
		g, _ := dtype.(pickle.Global)
		if x.dtype = dtypes[g.String()]; x.dtype == "" {
			return odd, nil
		}
		if s.dtype.Size() != 1 {
			return nil, fault
		}
		room /= int64(x.dtype.Size())
	}
	shape, strides := make([]int64, len(size)), make([]int64, len(size))
	for i := range size {
		d, ok := size[i].(int64)
		w, ok2 := stride[i].(int64)
		if !ok || !ok2 {
			return nil, fault
		}
		shape[i], strides[i] = d, w
	}
	var count int64
	var err error
	if x.shape, count, err = elements(x.dtype, shape); err != nil {
		return nil, fmt.Errorf("a tensor of the pickle: %w", err)
	}
	last, ordered := first, true // last is the farthest element
	step := int64(1)
	for i := len(shape) - 1; i >= 0 && count > 0; i-- {
		if strides[i] < 0 || shape[i] > 1 && strides[i] > room/(shape[i]-1) {
			last = room
			break
		}
		last += strides[i] * (shape[i] - 1)
		ordered = ordered && (shape[i] == 1 || strides[i] == step)
		step *= shape[i]
	}
	if first < 0 || first > room || last > room || count > 0 && last >= room {
		return nil, fmt.Errorf("a tensor of the pickle: %d elements of shape %v from %d on are not in a storage of %d", count, shape, first, room)
	}
	if !ordered {
		x.strides = strides
	}
	return x, nil
}

// tensor returns the tensor with a name.
func (x *rebuilt) tensor(name string, f *File) (Tensor, error) {
	t := Tensor{Name: name, Dtype: x.dtype, Shape: x.shape, Path: f.path}
	if x.from == nil {
		return t, nil
	}
	size := uint64(t.Dtype.Size())
	if x.strides != nil {
		// An expanded view may be larger than its storage, so the total of a file's copies is
		// bounded.
		if f.copied += uint64(t.Len()) * size; f.copied > uint64(f.size)+maxCopied {
			return Tensor{}, fmt.Errorf("tensor %s: views take %d bytes, more than the file: save them with .contiguous()", quoteName(name), f.copied)
		}
		t.Path, t.Data = "", x.gather(x.from.data.bytes(f.bytes), int(size))
		return t, nil
	}
	at := span{x.from.data.begin + uint64(x.first)*size, uint64(t.Len()) * size}
	t.Data, t.Offset = at.bytes(f.bytes), int64(at.begin)
	return t, nil
}

// maxCopied is how much the copies of views may exceed the size of their file, in bytes.
const maxCopied = 16 << 20

// gather copies the elements of a view from its storage's bytes, in row-major order.
func (x *rebuilt) gather(data []byte, size int) []byte {
	var out []byte
	var visit func(axis int, at int64)
	visit = func(axis int, at int64) {
		if axis == len(x.shape) {
			out = append(out, data[at*int64(size):(at+1)*int64(size)]...)
			return
		}
		for i := range int64(x.shape[axis]) {
			visit(axis+1, at+i*x.strides[axis])
		}
	}
	visit(0, x.first)
	return out
}

// zipped reads the pickle of a file that is a zip archive.
func (s *File) zipped() (any, error) {
	spans, sums, err := zipSpans(s.bytes)
	if err != nil {
		return nil, err
	}
	s.spans, s.sums = spans, sums
	b := s.bytes
	top := ""
	for name := range spans {
		if dir, ok := strings.CutSuffix(name, "data.pkl"); ok && strings.Count(name, "/") == 1 && strings.HasSuffix(dir, "/") {
			if top != "" {
				return nil, errors.New("the zip archive holds two files data.pkl")
			}
			top = dir
		}
	}
	if top == "" {
		return nil, errors.New("the zip archive has no NAME/data.pkl: not a file that torch.save wrote")
	}
	if s, ok := spans[top+"byteorder"]; ok && string(s.bytes(b)) != "little" {
		return nil, errors.New("its numbers are big-endian: save the weights on a little-endian machine")
	}
	t := &torchFile{data: map[string]span{}}
	for name, s := range spans {
		if key, ok := strings.CutPrefix(name, top+"data/"); ok {
			t.data[key] = s
		}
	}
	v, _, err := t.load(spans[top+"data.pkl"].bytes(b))
	return v, err
}

// indexTorch finds the tensors in the value that torch.save wrote: a state_dict, or a trainer's
// dict around one.
func (s *File) indexTorch(v any) error {
	top, ok := v.(*pickle.Dict)
	if !ok {
		return errors.New("torch.save wrote no dict: save the state_dict")
	}
	state := top
	// A trainer's dict may contain another: Lightning calls it state_dict, torch's tutorials
	// model_state_dict, the trainers of RADD and SEDD model, DeepSpeed module.
	for range 2 {
		for _, key := range []string{"state_dict", "model_state_dict", "model", "module"} {
			if d, ok := state.Get(key).(*pickle.Dict); ok {
				state = d
				break
			}
		}
	}
	s.tensors = map[string]Tensor{}
	for i, k := range state.Keys {
		name, text := k.(string)
		x, tensor := state.Values[i].(*rebuilt)
		if !text || !tensor {
			continue
		}
		t, err := x.tensor(name, s)
		if err != nil {
			return err
		}
		s.tensors[name] = t
		s.names, s.order = append(s.names, name), append(s.order, name)
	}
	if len(s.names) == 0 {
		return errors.New("torch.save wrote no state_dict: no tensor has a name")
	}
	slices.Sort(s.names)
	if state != top {
		s.training = &training{config: at(top, "hyper_parameters", "config")}
		return s.readEMA(at(top, "ema", "shadow_params"))
	}
	return nil
}

// readEMA reads the list of averages, if there is one.
func (s *File) readEMA(v any) error {
	list, ok := v.(*pickle.List)
	if !ok {
		return nil
	}
	for i, v := range list.Items {
		x, ok := v.(*rebuilt)
		if !ok {
			return fmt.Errorf("ema.shadow_params[%d] is not a tensor", i)
		}
		t, err := x.tensor(fmt.Sprintf("ema.shadow_params[%d]", i), s)
		if err != nil {
			return err
		}
		s.training.ema = append(s.training.ema, t)
	}
	return nil
}
