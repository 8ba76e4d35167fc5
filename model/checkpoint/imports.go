package checkpoint

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"mdmgen/model/internal/pickle"
)

// storages maps torch's storage classes to their element types. An untyped storage holds bytes,
// whose type is in the tensor.
var storages = map[string]Dtype{
	"torch.FloatStorage": F32, "torch.HalfStorage": F16, "torch.BFloat16Storage": BF16, "torch.DoubleStorage": F64,
	"torch.LongStorage": I64, "torch.IntStorage": I32, "torch.ShortStorage": I16, "torch.CharStorage": I8,
	"torch.ByteStorage": U8, "torch.BoolStorage": Bool, "torch.storage.UntypedStorage": U8,
}

// dtypes are the element types of torch that a tensor may name.
var dtypes = map[string]Dtype{
	"torch.float32": F32, "torch.float16": F16, "torch.bfloat16": BF16, "torch.float64": F64,
	"torch.int64": I64, "torch.int32": I32, "torch.int16": I16, "torch.int8": I8, "torch.uint8": U8, "torch.bool": Bool,
	"torch.float8_e4m3fn": F8E4M3, "torch.float8_e5m2": F8E5M2,
}

// oddTensor matches torch's functions and classes that make tensors of any kind. Tensors that are
// not plain arrays of numbers (sparse, quantized, complex, without data) become stand-ins: no
// network uses them.
var oddTensor = regexp.MustCompile(`^torch\._utils\._rebuild_\w+$|^torch\.\w+Storage$|^torch\.(per_\w+|sparse_\w+|strided|u?int\d+|(complex|float|bfloat|q?u?int)\w*|serialization\._get_layout)$`)

// standIns are the classes and functions that occur in training files. A pickle may name them and
// keep their arguments, which are used only in the config of a [pickle.Object]. A name that ends
// with a dot stands for a package with all its members.
var standIns = []string{
	"collections.defaultdict", "_codecs.encode", "pathlib.PosixPath", "argparse.Namespace", "typing.Any",
	"__builtin__.dict", "__builtin__.list", "__builtin__.set", "__builtin__.frozenset", "__builtin__.tuple", "__builtin__.int", "__builtin__.long",
	"__builtin__.str", "__builtin__.unicode", "__builtin__.bytes", "__builtin__.bytearray", "__builtin__.bool", "__builtin__.float",
	"builtins.dict", "builtins.list", "builtins.set", "builtins.frozenset", "builtins.tuple", "builtins.int",
	"builtins.str", "builtins.bytes", "builtins.bytearray", "builtins.complex", "builtins.slice", "builtins.bool", "builtins.float",
	"numpy.core.multiarray.scalar", "numpy._core.multiarray.scalar", "numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct",
	"numpy.core.numeric._frombuffer", "numpy._core.numeric._frombuffer", "numpy.ndarray", "numpy.dtype", "torch.Size", "torch.device",
	"omegaconf.", "tokenizers.", "transformers.", "lightning.", "lightning_fabric.", "pytorch_lightning.",
}

// rebuildType is torch's function that makes a tensor of a subclass, or one with attributes.
const rebuildType = "torch._tensor._rebuild_from_type_v2"

// Import accepts the names in torch's files, and stand-ins. Any other name must be the class of a
// tensor, which is known only once the tensor is made: see [torchFile.load].
func (t *torchFile) Import(g pickle.Global) error {
	name := g.String()
	if name == "collections.OrderedDict" || name == rebuildType || storages[name] != "" || dtypes[name] != "" || oddTensor.MatchString(name) {
		return nil
	}
	for _, s := range standIns {
		if name == s || strings.HasSuffix(s, ".") && strings.HasPrefix(name, s) {
			return nil
		}
	}
	if _, seen := t.classes[name]; !seen {
		t.classes[name] = false
	}
	return nil
}

// load reads a pickle, and rejects names that are neither known nor classes of tensors.
func (t *torchFile) load(data []byte) (value any, size int, err error) {
	t.classes = make(map[string]bool)
	value, size, err = pickle.Load(data, t)
	for _, name := range slices.Sorted(maps.Keys(t.classes)) {
		if err == nil && !t.classes[name] {
			err = unknown(name)
		}
	}
	return value, size, err
}

func unknown(name string) error {
	return fmt.Errorf("the pickle names %s, which neither tensors nor known training state need, so it is not loaded: save only the state_dict", quoteName(name))
}

// Call makes a tensor or an empty dict; any other class becomes a stand-in.
func (t *torchFile) Call(f pickle.Global, args pickle.Tuple) (any, error) {
	if _, ok := t.classes[f.String()]; ok {
		return nil, unknown(f.String())
	}
	switch f.String() {
	case "collections.OrderedDict":
		if len(args) > 0 { // Old protocols call it with a list of pairs.
			if list, ok := args[0].(*pickle.List); !ok || len(list.Items) > 0 {
				return nil, fmt.Errorf("collections.OrderedDict is called with items: pickles of protocol 2 to 5 add them afterwards")
			}
		}
		return &pickle.Dict{}, nil
	case rebuildType: // (function, class, its arguments, attributes)
		if len(args) > 2 {
			function, ok := args[0].(pickle.Global)
			class, ok2 := args[1].(pickle.Global)
			its, ok3 := args[2].(pickle.Tuple)
			if ok && ok2 && ok3 && function.String() != rebuildType {
				if _, ok := t.classes[class.String()]; ok {
					t.classes[class.String()] = true
				}
				return t.Call(function, its)
			}
		}
	case "torch._utils._rebuild_tensor_v2":
		x, err := rebuild(args, 6, nil)
		if err == nil && x.from != nil && len(args) > 6 && args[6] != nil {
			return &rebuilt{dtype: Negated}, nil
		}
		return x, err
	case "torch._utils._rebuild_tensor_v3":
		if len(args) > 6 {
			return rebuild(args, 7, args[6])
		}
	case "torch._utils._rebuild_parameter", "torch._utils._rebuild_parameter_with_state":
		if len(args) > 0 {
			if _, ok := args[0].(*rebuilt); ok {
				return args[0], nil
			}
		}
	default:
		if strings.HasPrefix(f.String(), "torch._utils._rebuild_") {
			return odd, nil
		}
		return &pickle.Object{Class: f, Args: args}, nil
	}
	return nil, fmt.Errorf("%s has arguments that torch does not give it", f)
}
