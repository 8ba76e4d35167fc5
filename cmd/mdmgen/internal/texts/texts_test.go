package texts

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/reftest"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/tokenize"
)

// TestStrictLines checks that lines that two parsers would read differently are rejected.
func TestStrictLines(t *testing.T) {
	for line, want := range map[string]string{`{"text":"a","text":"b"}`: "twice", `{"text":"\ud83d"}`: `\ud83d`, `{"ids":[1],"context":"\udfff"}`: `\udfff`} {
		_, _, err := parseScoreLine([]byte(line))
		reftest.Fails(t, err, want, line)
	}
}

// TestBeginsWithMaskOfId0: what is given is not MASK, whatever its id.
func TestBeginsWithMaskOfId0(t *testing.T) {
	for mask := range 4 { // 3 is beside the columns
		spec := samplers.Spec{Vocabulary: draw.Vocabulary{Columns: 3, Mask: mask, Shift: true}}
		s := reftest.Must(catalog.New(catalog.Options{Sampler: "fhs"}, spec))(t)
		reftest.OK(t, Begins(s, spec, 4, []int{1, 2, 3}))
		reftest.Fails(t, Begins(s, spec, 4, []int{0, 1}), "position 0 is free", mask)
	}
}

// TestJoint checks that the blank at the end of a context is scored with the text, unless it is kept.
func TestJoint(t *testing.T) {
	words := reftest.Must(tokenize.Open(t.Context(), reftest.Builtin(t)))(t)
	for _, keep := range []bool{false, true} {
		r := &Reader{Tokenizer: words, Cutting: Cutting{KeepBlank: keep}, Streams: kit.Streams{Err: t.Output()}}
		d := reftest.Must(r.parse([]byte(`{"context":"There was a ","text":"king"}`)))(t)
		whole := reftest.Must(words.EncodePlain("There was a king"))(t)
		for ids := range d.ids {
			if joint := slices.Concat(d.context, ids); slices.Equal(joint, whole) == keep || r.told == keep {
				t.Errorf("kept %v: %v and %v, want %v", keep, d.context, ids, whole)
			}
		}
	}
}

// TestCutContext: a context loses its beginning where it does not fit, and all of it before a text that is
// longer than the canvas, which is cut into windows.
func TestCutContext(t *testing.T) {
	lines := `{"ids":[7,8],"context":[1,2,3,4]}` + "\n" + `{"ids":[7,8],"context":[1]}` + "\n" + `{"ids":[5,6,7,8,9,10],"context":[1]}`
	var told strings.Builder
	r := &Reader{Ctx: t.Context(), Cutting: Cutting{As: "jsonl", CutContext: true, Frame: "none", Tail: "keep"}, Facts: model.Facts{Length: 4},
		Streams: kit.Streams{In: strings.NewReader(lines), Err: &told}, Check: func(likelihood.Target) error { return nil }}
	var got [][]int
	for _, w := range reftest.Must(r.Read())(t) {
		got = append(got, w.IDs)
	}
	if want := [][]int{{3, 4, 7, 8}, {1, 7, 8}, {5, 6, 7, 8}, {9, 10}}; !reflect.DeepEqual(got, want) || !strings.Contains(told.String(), "2 contexts were cut on the left") {
		t.Errorf("windows %v, %q, want %v", got, told.String(), want)
	}
}

// TestByteOrderMark checks that the byte order mark of editors on Windows is skipped.
func TestByteOrderMark(t *testing.T) {
	d := reftest.Must(new(Reader).parse([]byte("\ufeff" + `{"ids":[5,7]}`)))(t)
	for ids := range d.ids {
		if !slices.Equal(ids, []int{5, 7}) {
			t.Errorf("ids are %v", ids)
		}
	}
}

// FuzzScoreLine checks that a line gives text or ids, or a one-line error.
func FuzzScoreLine(f *testing.F) {
	for _, seed := range []string{
		`{"text":"a"}`, `{"ids":[1,2]}`, `{"ids":[1,null]}`, `{"ids":[]}`, `{"ids":null}`, `{"text":"a","context":"b"}`,
		`{"ids":[1],"context":[2]}`, `{"ids":[1],"context":null}`, `{"text":"a","ids":[1]}`, `{"text":1}`, `[]`, `{} {}`, "{\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, context, err := parseScoreLine(line)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is not one line", err)
			}
			return
		}
		if (got.text == nil) == (got.ids == nil) || context.text != nil && context.ids != nil {
			t.Errorf("%q gives %+v after %+v", line, got, context)
		}
		// The other decoder accepts all of it, with the same result.
		var other struct {
			Text    *string
			IDs     []int
			Context any
		}
		if err := kit.DecodeObject(line, &other, ""); err != nil || !reflect.DeepEqual(other.Text, got.text) || len(other.IDs) != len(got.ids) || len(got.ids) > 0 && !slices.Equal(other.IDs, got.ids) {
			t.Errorf("%q gives %+v, to the other reader %+v, %v", line, got, other, err)
		}
	})
}

// TestSurvey checks that the windows from any number on equal those of the whole input.
func TestSurvey(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	var text strings.Builder
	for i := range 400 {
		ids := make([]string, 1+i%17)
		for j := range ids {
			ids[j] = strconv.Itoa((i + j) % 5)
		}
		fmt.Fprintf(&text, "{\"ids\":[%s]}\n\n", strings.Join(ids, ","))
	}
	reftest.OK(t, os.WriteFile(path, []byte(text.String()), 0o600))
	r := &Reader{Cutting: Cutting{Length: 4, Frame: "none", Tail: "keep"}, Ctx: t.Context(), Path: path, Command: "test", Facts: model.Facts{Length: 8, Columns: 5, MaskID: 5}, Check: func(likelihood.Target) error { return nil }}
	s := checkSurvey(t, r)
	var err error
	reftest.OK(t, os.WriteFile(path, []byte(text.String()+"\n"), 0o600))
	for _, err = range s.From(0) {
	}
	reftest.Fails(t, err, "was changed", "a file that was changed")
}

// checkSurvey reads the windows from several numbers on.
func checkSurvey(t *testing.T, r *Reader) *Survey {
	t.Helper()
	all := reftest.Must(r.Read())(t)
	s := reftest.Must(r.Survey())(t)
	if s.Windows != len(all) || s.Digest != Digest(all) {
		t.Fatalf("%d windows, %s; want %d, %s", s.Windows, s.Digest, len(all), Digest(all))
	}
	for _, first := range []int{0, 1, 2, len(all) / 3, len(all) / 2, len(all) - 1} {
		i := first
		for w, err := range s.From(first) {
			if err != nil || !reflect.DeepEqual(w, all[i]) {
				t.Fatalf("window %d from %d: %+v, %v, want %+v", i, first, w, err, all[i])
			}
			i++
		}
		if i != len(all) {
			t.Errorf("from %d: %d windows", first, i-first)
		}
	}
	return s
}

// TestSurveyRunning checks the same for a running text, single or joined from lines.
func TestSurveyRunning(t *testing.T) {
	t.Parallel()
	words := reftest.Must(tokenize.Open(t.Context(), filepath.Join("..", "..", "..", "..", "testdata", "tokenizers", "gpt2.tokenizer.json")))(t)
	path := filepath.Join(t.TempDir(), "text.txt")
	var text strings.Builder
	for i := range 14_000 {
		text.WriteString([]string{"once upon ", "a time  ", "the king said, ", "é\n"}[i%11%4])
	}
	reftest.OK(t, os.WriteFile(path, []byte(text.String()), 0o600))
	for _, cut := range []Cutting{{Length: 500, Frame: "none", Tail: "keep"}, {Length: 300, Stride: 100, Context: 50, Frame: "none", Tail: "drop", Limit: 3000}, {As: "lines", Join: true, Length: 500, Frame: "none", Tail: "keep"}, {Join: true, Length: 500, Frame: "none", Tail: "keep"}} {
		r := &Reader{Cutting: cut, Ctx: t.Context(), Path: path, Command: "test", Tokenizer: words, Facts: model.Facts{Length: 1000, Columns: 500, MaskID: 500}, Check: func(likelihood.Target) error { return nil }}
		checkSurvey(t, r)
	}
}
