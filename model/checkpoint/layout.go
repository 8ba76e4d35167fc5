package checkpoint

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Spec is a tensor that a network's config requires.
type Spec struct {
	// Name is the name without the prefixes that wrappers add: "backbone.", "model.", "module.",
	// "_orig_mod.".
	Name  string
	Shape []int
	// Across is that of [Tensor].
	Across bool
}

// layout are the tensors of a network.
type layout []Spec

func (l *layout) add(name string, shape ...int) { *l = append(*l, Spec{Name: name, Shape: shape}) }

// linear adds a linear layer, in torch's order: [out, in].
func (l *layout) linear(name string, out, in int, bias bool) {
	l.add(name+".weight", out, in)
	if bias {
		l.add(name+".bias", out)
	}
}

// norm adds the weights of a norm, and its bias if it has one.
func (l *layout) norm(name string, size int, bias bool) {
	l.add(name+".weight", size)
	if bias {
		l.add(name+".bias", size)
	}
}

// Parameters returns the number of parameters, buffers excluded.
func (c Config) Parameters() int64 {
	var n int64
	for s := range c.Tensors() {
		p := int64(1)
		for _, d := range s.Shape {
			p *= int64(d)
		}
		n += p
	}
	return n
}

// plainName strips what wrappers add to a parameter's name: those of compiled modules, of
// distributed training, and of classes that contain the network.
func plainName(name string) string {
	name = strings.ReplaceAll(name, "_orig_mod.", "")
	for _, wrapper := range []string{"module.", "model.", "backbone.", denoiser} {
		name = strings.TrimPrefix(name, wrapper)
	}
	modern := strings.HasPrefix(name, "embeddings.tok_embeddings.") || strings.HasPrefix(name, "embeddings.norm.")
	if strings.HasPrefix(name, "embeddings.") && !modern || strings.HasPrefix(name, "encoder.layer.") || strings.HasPrefix(name, "pooler.") {
		name = "bert." + name // a class that is BERT, not one that contains it
	}
	// The parameters of LayerNorm in files converted from TensorFlow.
	for old, now := range map[string]string{".LayerNorm.gamma": ".LayerNorm.weight", ".LayerNorm.beta": ".LayerNorm.bias"} {
		if stem, ok := strings.CutSuffix(name, old); ok {
			return stem + now
		}
	}
	return name
}

// ours reports whether the tensor with a plain name is in a part of the network: if the config does
// not require it, the network is another. A tied head may be stored nevertheless, and so may tables
// of rotary frequencies, which follow from the config.
func (c Config) ours(name string) bool {
	f := c.family()
	if _, ok := c.extra()[name]; ok || f.Network != DDiT && strings.HasSuffix(name, "."+rotaryTable) {
		return false
	}
	return slices.ContainsFunc(f.parts, func(part string) bool { return strings.HasPrefix(name+".", part+".") })
}

// extra returns the tensors in the network's parts that files may hold in addition to its
// parameters: copies, each with the parameter that it must equal, or "" for a tensor that is not
// used.
func (c Config) extra() map[string]string {
	f := c.family()
	if !c.Tied || f.names.Head == "" {
		return f.extra
	}
	extra := map[string]string{f.names.Head + ".weight": f.embedding}
	maps.Copy(extra, f.extra)
	return extra
}

// RotaryFrequencies returns ω_j = base^(−2j/RotarySize), j < RotarySize/2, of a block, in radians per
// position. For a [DDiT] it returns the table saved with the weights, if any, which upstream loads with
// them in whatever precision it has. Otherwise it computes the formula as upstream does, in float64 for
// a [DDiT] and in float32 for others.
func (c *Checkpoint) RotaryFrequencies(block int) []float32 {
	if t, ok := c.tensors[rotaryTable]; ok && c.Config.Network() == DDiT {
		v := make([]float32, t.Len())
		t.Widen(v, 0)
		return v
	}
	v, base := make([]float32, c.Config.RotarySize()/2), c.Config.rotaryBase()
	if c.Config.Local.In[block] {
		base = c.Config.Local.RotaryBase
	}
	for j := range v {
		if v[j] = float32(c.Config.frequency(j)); c.Config.Network() != DDiT {
			exponent := float32(2*j) / float32(c.Config.RotarySize())
			v[j] = float32(c.Config.stretched(j, float64(1/float32(math.Pow(base, float64(exponent))))))
		}
	}
	return v
}

func (c Config) frequency(j int) float64 {
	return math.Pow(c.rotaryBase(), -2*float64(j)/float64(c.RotarySize()))
}

// rotaryBase returns the base of the rotary frequencies.
func (c Config) rotaryBase() float64 { return cmp.Or(c.RotaryBase, 10000) }

// rotaryTable is the plain name of the only buffer that is saved with the parameters, although it
// follows from the config.
const rotaryTable = "rotary_emb.inv_freq"

// checkTensors compares the tensors of a checkpoint, by plain name, with the config. The error
// lists all differences in one line, the first three of each kind by name. A tensor outside the
// network's parts is allowed and not used.
func (c Config) checkTensors(tensors map[string]Tensor) error {
	var missing, unexpected, others, wrong []string
	asked := map[string]bool{}
	for s := range c.Tensors() {
		asked[s.Name] = true
		t, ok := tensors[s.Name]
		switch {
		case !ok:
			missing = append(missing, s.Name)
		case !t.Dtype.Float():
			wrong = append(wrong, fmt.Sprintf("%s is %s: must be F32, F16, BF16 or F64", s.Name, t.Dtype))
		case !slices.Equal(t.Shape, s.Shape):
			wrong = append(wrong, fmt.Sprintf("%s has shape %v: the config asks for %v", s.Name, t.Shape, s.Shape))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		switch {
		case name == rotaryTable:
			if err := c.checkRotary(tensors[name]); err != nil {
				wrong = append(wrong, err.Error())
			}
		case !asked[name] && slices.Contains(tensors[name].Shape, 0): // a layer of no width
		case c.ours(name) && !asked[name]:
			unexpected = append(unexpected, quoteName(name))
		case !asked[name]:
			others = append(others, quoteName(name))
		}
	}
	if missing != nil {
		unexpected = append(unexpected, others...)
	}
	var faults []string
	for _, f := range []struct {
		what, between string
		names         []string
	}{{"missing: ", ", ", missing}, {"unexpected for " + c.Family + ": ", ", ", unexpected}, {"", "; ", wrong}} {
		if len(f.names) == 0 {
			continue
		}
		text := f.what + strings.Join(f.names[:min(3, len(f.names))], f.between)
		if more := len(f.names) - 3; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		faults = append(faults, text)
	}
	if faults != nil {
		return fmt.Errorf("tensors do not fit the config: %s", strings.Join(faults, "; "))
	}
	return nil
}

// checkRotary compares a saved table of rotary frequencies with the network's own, as closely as
// BF16 allows.
func (c Config) checkRotary(t Tensor) error {
	half := c.RotarySize() / 2
	if !slices.Equal(t.Shape, []int{half}) {
		return fmt.Errorf("%s has shape %v: heads of %d numbers have [%d]", t.Name, t.Shape, c.HeadSize(), half)
	}
	got, err := t.Float64s()
	if err != nil {
		return err
	}
	for j, g := range got {
		want := c.stretched(j, c.frequency(j))
		if !(math.Abs(g-want) <= 0.01*want) {
			return fmt.Errorf("%s[%d] is %.4g: base %.0f gives %.4g", t.Name, j, g, c.rotaryBase(), want)
		}
	}
	return nil
}
