// Package facts holds the properties of a masked diffusion language model that a program needs
// before it can use the rows: the mask's id, which columns are tokens, the maximum length of a
// canvas, the kind of output. None of them is hard-coded elsewhere: facts come from a checkpoint's
// config.json, are stored in the metadata of a converted ONNX file, and can be overridden by a
// sidecar file or by flags.
package facts

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"mdmgen/internal/fault"
)

// Schema is the name of the layout of the JSON form of [Facts]: the value of the metadata key
// "mdmgen" in an ONNX file and the content of a sidecar file.
const Schema = "mdmgen.model/1"

// Output is the kind of a network's rows.
type Output string

const (
	// Logits are unnormalised log-probabilities of the clean token.
	Logits Output = "logits"
	// LogScore rows are logits of a score-entropy network: up to a constant of the row they are log
	// s(a), s the ratio q_t(y)/q_t(x). Their softmax over the clean tokens is the renormalised
	// denoiser; the mass of the row itself is not 1.
	LogScore Output = "log_score"
)

// noises are the names of schedules that package samplers reads.
var noises = []string{"exp", "loglinear", "linear", "cosine", "geometric"}

// Unknown represents a number that a foreign file does not state; [Facts.Validate] reports it as
// missing.
const Unknown = math.MinInt

// Limits on facts, so that a file cannot cause excessive memory or arithmetic. Published
// vocabularies have up to 2^18 tokens and canvases up to 2^20 positions; a row of MaxColumns is 64
// MB of float32.
const (
	MaxColumns = 1 << 24 // of a row
	MaxLength  = 1 << 20 // of a canvas
	// MaxRows bounds the values in the rows of one call, the positions of all canvases times
	// columns: 32 GB of float32.
	MaxRows = 1 << 33
	// maxParameters is the number of parameters in a network of 2^42 bytes.
	maxParameters = 1 << 40
	// maxText is the maximum length of a text, in bytes.
	maxText = 200
)

// digestForm matches a digest.
var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Facts describes a network. All ids and counts are in tokens.
type Facts struct {
	Schema string `json:"schema"`
	Name   string `json:"name,omitempty"`
	// Family is the checkpoint's family, such as mdlm; otherwise world, or onnx (another tool's
	// file).
	Family string `json:"family"`
	// Columns is the length of a row: clean tokens, mask and padding rows.
	Columns int `json:"columns"`
	// MaskID is the id of MASK on the canvas. It equals Columns if the network has no column for
	// it.
	MaskID int `json:"mask_id"`
	// Padding lists the columns that are neither tokens of texts nor MASK, such as padding and special
	// tokens; their probability is always 0. Canvases may contain them.
	Padding []int `json:"padding,omitempty"`
	// Frame holds the id that stands before every text and the one after it (BERT's [CLS] and [SEP]);
	// nil if there are none.
	Frame []int `json:"frame,omitempty"`
	// Length is the canvas length that the network was trained for, and the maximum that it
	// accepts.
	Length int `json:"length"`
	// FixedLength means that no other length is possible (worlds, foreign graphs
	// with static shapes).
	FixedLength bool `json:"fixed_length,omitempty"`
	// TimeConditioned means that rows depend on σ = −log α, which must be passed.
	TimeConditioned bool `json:"time_conditioned"`
	// Output is the kind of the rows.
	Output Output `json:"output"`
	// ScaleBySigma means that log-scores are logits − log(expm1 σ) − log(V−1), V counting MASK
	// (SEDD). It does not change the softmax.
	ScaleBySigma bool `json:"scale_by_sigma,omitempty"`
	// Shift means that position i predicts token i+1 (Dream).
	Shift bool `json:"shift,omitempty"`
	// BlockSize is the length of blocks, from position 0 on, whose rows see no later block
	// (BD3-LM); 0 if every row sees all.
	BlockSize int `json:"block_size,omitempty"`
	// Causal means that the rows of a block see all before its end, and those before it are causal: see
	// [samplers.Spec]. BlockSize is then the length that the network was trained with.
	Causal bool `json:"causal,omitempty"`
	// Decoder is the sampler, with settings as NAME=VALUE, by which the network's authors answer
	// messages; "" if none is known.
	Decoder string `json:"decoder,omitempty"`
	// Noise names the schedule that the network was trained with: exp,
	// loglinear, linear, cosine, geometric.
	Noise string `json:"noise"`
	// Parameters is the number of the checkpoint's parameters, buffers excluded; 0 if unknown.
	Parameters int64 `json:"parameters,omitempty"`
	// Dtype is the type of the weights on disk: F32, F16, BF16, F64, or the type they were
	// converted to: fp16, int8, int4.
	Dtype string `json:"dtype,omitempty"`
	// Weights names the set of weights from a trainer's file that has two: ema or raw; "" if there
	// was only one.
	Weights string `json:"weights,omitempty"`
	// Input is the name of the canvas input in an ONNX file of another tool; "" means the input
	// that is found by its name or its type.
	Input string `json:"input,omitempty"`
	// Digest is "sha256:…" of the content that the model was opened from.
	Digest string `json:"digest,omitempty"`
	// Unstated holds the facts, by JSON name, that the files do not state and a user must give, each
	// with an explanation.
	Unstated map[string]error `json:"-"`
}

// Digested returns "sha256:…" of the JSON form of all facts in force except the name: two runs with
// the same value had the same network, used in the same way, whatever its name.
func (f Facts) Digested() string {
	f.Schema, f.Name = Schema, ""
	f.Padding = slices.Compact(slices.Sorted(slices.Values(f.Padding)))
	// Marshalling numbers, strings and a list of numbers cannot fail.
	data, _ := json.Marshal(f)
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

// Excluded returns the columns whose probability is always 0, ascending: MASK, if it has a column,
// and the padding.
func (f Facts) Excluded() []int {
	x := slices.Clone(f.Padding)
	if f.MaskID < f.Columns {
		x = append(x, f.MaskID)
	}
	slices.Sort(x)
	return slices.Compact(x)
}

// NeedsFirst reports whether the first token must be known: a row is about the token after it, or those
// before a block are causal.
func (f Facts) NeedsFirst() bool { return f.Shift || f.Causal }

// Framed returns ids with the frame around them, ids itself if there is none.
func (f Facts) Framed(ids []int) []int {
	if f.Frame == nil {
		return ids
	}
	return slices.Concat(f.Frame[:1], ids, f.Frame[1:])
}

// Plain turns any text into a name: one line of at most 200 bytes.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	for len(s) > maxText {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// Validate reports all inconsistencies together.
func (f Facts) Validate() error {
	var faults fault.List
	columns := f.Columns >= 1 && f.Columns <= MaxColumns
	faults.If(f.Columns == Unknown, "columns is missing: the length of a row of logits")
	faults.If(f.Columns != Unknown && !columns, "columns is %d: must be in 1..%d", f.Columns, MaxColumns)
	for _, key := range slices.Sorted(maps.Keys(f.Unstated)) {
		faults = append(faults, fault.Advise("%s is unknown: %w", key, f.Unstated[key]))
	}
	faults.If(f.MaskID == Unknown && f.Unstated["mask_id"] == nil, "mask_id is missing: the id of MASK")
	faults.If(f.MaskID != Unknown && columns && (f.MaskID < 0 || f.MaskID > f.Columns), "mask_id is %d: must be in 0..%d", f.MaskID, f.Columns)
	faults.If(f.Length == Unknown, "length is missing: the greatest canvas length")
	faults.If(f.Length != Unknown && (f.Length < 1 || f.Length > MaxLength), "length is %d: must be in 1..%d", f.Length, MaxLength)
	faults.If(f.BlockSize < 0 || f.BlockSize > MaxLength, "block_size is %d: must be in 0..%d", f.BlockSize, MaxLength)
	faults.If(f.Causal && f.BlockSize == 0, "block_size is missing: a network with causal rows was trained in blocks")
	faults.If(len(f.Padding) > MaxColumns, "padding lists %d columns: at most %d", len(f.Padding), MaxColumns)
	faults.If(f.Parameters < 0 || f.Parameters > maxParameters, "parameters is %d: must be in 0..%d", f.Parameters, int64(maxParameters))
	for _, t := range []struct{ key, text string }{{"name", f.Name}, {"family", f.Family}, {"dtype", f.Dtype}, {"weights", f.Weights}, {"input", f.Input}, {"decoder", f.Decoder}} {
		faults.If(t.text != Plain(t.text), "%s is %.50q: must be at most %d bytes of text on one line", t.key, t.text, maxText)
	}
	faults.If(f.Digest != "" && !digestForm.MatchString(f.Digest), "digest is %.80q: must be sha256: and 64 hexadecimal digits", f.Digest)
	if i := slices.IndexFunc(f.Padding, func(p int) bool { return p < 0 || p >= f.Columns }); i >= 0 {
		faults = append(faults, fault.Advise("padding column %d: must be in 0..%d", f.Padding[i], f.Columns-1))
	}
	framed := len(f.Frame) == 0 || len(f.Frame) == 2 && !slices.ContainsFunc(f.Frame, func(id int) bool { return id < 0 || id >= f.Columns || id == f.MaskID })
	faults.If(!framed, "frame is %.60v: must be two ids in 0..%d, not the mask's", fmt.Sprint(f.Frame), f.Columns-1)
	faults.If(!slices.Contains(noises, f.Noise), "noise is %q: must be one of %s", f.Noise, strings.Join(noises, ", "))
	faults.If(f.Output != Logits && f.Output != LogScore, "output is %q: must be %q or %q", f.Output, Logits, LogScore)
	faults.If(len(faults) == 0 && len(f.Excluded()) >= f.Columns, "no clean token is left of %d columns", f.Columns)
	return faults.Err()
}

// Fits returns an error that lists all facts that contradict own, the facts of the network itself,
// whose Length is the maximum that it accepts.
func (f Facts) Fits(own Facts) error {
	var faults fault.List
	faults.If(f.Columns != own.Columns, "columns is %d, but the network has %d", f.Columns, own.Columns)
	faults.If(f.MaskID >= own.Columns, "mask_id is %d: must be in 0..%d, the network's ids", f.MaskID, own.Columns-1)
	faults.If(f.Length > own.Length, "length is %d, but the network takes at most %d positions", f.Length, own.Length)
	faults.If(f.TimeConditioned != own.TimeConditioned, "time_conditioned is %t, but the network has %t", f.TimeConditioned, own.TimeConditioned)
	faults.If(f.BlockSize != own.BlockSize, "block_size is %d, but the network has %d", f.BlockSize, own.BlockSize)
	faults.If(f.Causal != own.Causal, "causal is %t, but the network has %t", f.Causal, own.Causal)
	faults.If(f.Input != "", "input is %q: only ONNX files of other tools have inputs of other names", f.Input)
	return faults.Err()
}
