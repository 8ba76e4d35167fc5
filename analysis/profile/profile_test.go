package profile

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mdmgen/analysis/interaction"
	"mdmgen/internal/reftest"
	"mdmgen/samplers/schedule"
	"mdmgen/samplers/spread"
)

// truth returns a decreasing loss.
func truth(d int) []float64 {
	c := make([]float64, d)
	for j := range c {
		c[j] = 20 + 3*math.Exp(-4*float64(j)/float64(d))
	}
	return c
}

// drawn returns a profile of n windows with draws at random counts.
func drawn(t testing.TB, r *rand.Rand, c []float64, n, draws int) *Profile {
	t.Helper()
	var windows []Window
	for w := range n {
		counts, sums := make([]int, len(c)), make([]float64, len(c))
		level := r.NormFloat64() // the text's level, the same at all counts
		for i := range draws {
			j := (i*len(c) + r.IntN(len(c))) / draws
			counts[j]++
			sums[j] += c[j] + level + 0.3*r.NormFloat64()
		}
		windows = append(windows, Window{w, NewTerms(counts, sums)})
	}
	return reftest.Must(New(len(c), false, windows))(t)
}

// numbered returns consecutive windows.
func numbered(terms ...Terms) (out []Window) {
	for i, t := range terms {
		out = append(out, Window{i, t})
	}
	return out
}

// TestDocumentsAreUnits checks that the summed windows of a document count as one: with five copies
// of each window, losses equal those of one.
func TestDocumentsAreUnits(t *testing.T) {
	p := drawn(t, rand.New(rand.NewPCG(5, 5)), truth(12), 12, 8)
	var five []Window
	for _, w := range p.Windows {
		sum := w
		for range 4 {
			sum.Terms = sum.Plus(w.Terms)
		}
		five = append(five, sum)
	}
	got := reftest.Must(New(12, false, five))(t).All().Means()
	for j, want := range p.All().Means() {
		if math.Abs(got[j]-want) > 1e-6 {
			t.Errorf("loss %v with %d visible, want %v", got[j], j, want)
		}
	}
}

// TestKnown checks that windows with equal exact losses have these as their profile, without
// smoothing.
func TestKnown(t *testing.T) {
	c := []float64{4, 2.5, 2, 1.75}
	one := NewTerms([]int{1, 1, 1, 1}, c)
	p := reftest.Must(New(4, true, numbered(one, one, one, one)))(t)
	if !slices.Equal(p.All().Means(), c) || !slices.Equal(p.NonIncreasing(), c) {
		t.Errorf("means %v, falling %v, want %v", p.All().Means(), p.NonIncreasing(), c)
	}
}

// TestMissing checks that counts without a draw are interpolated linearly between their neighbours.
func TestMissing(t *testing.T) {
	one := NewTerms([]int{0, 2, 0, 0, 1, 0}, []float64{0, 8, 0, 0, 1, 0})
	s := reftest.Must(New(6, false, numbered(one, one, one, one)))(t).All()
	if got, want := s.Means(), []float64{4, 4, 3, 2, 1, 1}; !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("means %v, want %v", got, want)
	}
}

// TestRoundTrip checks that a file stores the profile to the bit.
func TestRoundTrip(t *testing.T) {
	p := drawn(t, rand.New(rand.NewPCG(1, 9)), truth(12), 9, 5)
	var b bytes.Buffer
	reftest.OK(t, (File{Profile: p, Settings: map[string]int{"draws": 5}, LeftOut: 2}).Write(&b))
	f := reftest.Must(Read(bytes.NewReader(b.Bytes())))(t)
	if !reflect.DeepEqual(f.Profile, p) || f.LeftOut != 2 {
		t.Errorf("read %+v, want %+v", f.Profile, p)
	}
	var again bytes.Buffer
	if err := f.Write(&again); err != nil || again.String() != b.String() {
		t.Errorf("written again: %v\n%s\n%s", err, again.String(), b.String())
	}
}

// TestReadRefuses checks that errors name the fault.
func TestReadRefuses(t *testing.T) {
	p := drawn(t, rand.New(rand.NewPCG(1, 9)), truth(3), 4, 6)
	var b bytes.Buffer
	reftest.OK(t, (File{Profile: p}).Write(&b))
	good := b.String()
	for want, text := range map[string]string{
		"ends too early":          good[:40],
		"schema":                  strings.Replace(good, Schema, "mdmgen.score/1", 1),
		"free positions":          strings.Replace(good, `"d":3`, `"d":99999999`, 1),
		"0 free positions":        strings.Replace(good, `"d":3`, `"d":0`, 1),
		"window 1 after 9":        strings.Replace(good, `"window":0`, `"window":9`, 1),
		"must rise":               strings.Replace(good, `"sums":`, `"visible":[0,2,1],"sums":`, 1),
		"left out":                strings.Replace(good, `"d":3`, `"d":3,"left_out":-4`, 1),
		"must be at least 4":      `{"schema":"mdmgen.profile/1","d":3}`,
		"the same number of each": strings.Replace(good, `"draws":[`, `"draws":[1,`, 1),
		"field \"d\": text":       strings.Replace(good, `"d":3`, `"d":"3"`, 1),
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than a line", err)
		}
	}
}

// TestInteractions checks that a file stores interactions with and without a loss, and that a loss
// alone has the layout without interactions.
func TestInteractions(t *testing.T) {
	in := &interaction.Profile{Interactions: *spread.Assumed, From: interaction.FromText, Positions: 9, Sequences: 3, Calls: 9}
	p := drawn(t, rand.New(rand.NewPCG(1, 9)), truth(3), 4, 6)
	for _, f := range []File{{Profile: p}, {Profile: p, Interactions: in}, {Interactions: in}} {
		var b bytes.Buffer
		reftest.OK(t, f.Write(&b))
		if old := strings.Contains(b.String(), Schema+`"`); old != (f.Interactions == nil) {
			t.Errorf("the layout of a file before interactions: %t", old)
		}
		got, err := Read(&b)
		if err != nil || !reflect.DeepEqual(got, f) {
			t.Errorf("read %+v, %v, want %+v", got, err, f)
		}
	}
	in = &interaction.Profile{Interactions: spread.Interactions{Lambda: []float64{1}, Distance: []float64{1}, Nats: [][]float64{{-1}}}}
	var b bytes.Buffer
	reftest.OK(t, (File{Interactions: in}).Write(&b))
	reftest.Fails(t, reftest.Err(Read(&b)), "at least 0", "a negative interaction")
}

// FuzzRead checks that a file that was read can be used and written, and reads the same again.
func FuzzRead(f *testing.F) {
	p := drawn(f, rand.New(rand.NewPCG(1, 9)), truth(3), 4, 6)
	var b bytes.Buffer
	reftest.OK(f, (File{Profile: p, Provenance: "x"}).Write(&b))
	f.Add(b.Bytes())
	f.Add([]byte(`{"schema":"mdmgen.profile/1","d":2,"terms":[{"visible":0,"nats":{"mean":1}},{"visible":1}],"windows":[{"half":0,"sums":[1]},{"window":1,"half":1,"sums":[1]},{"window":2,"half":0,"sums":[1]},{"window":3,"half":1,"visible":[0],"draws":[1],"sums":[1]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if got.Profile == nil {
			return
		}
		c := got.NonIncreasing()
		for j := 1; j < len(c); j++ {
			if !(c[j] <= c[j-1]) {
				t.Fatalf("rises: %v", c)
			}
		}
		sizes, cost := schedule.BestSizes(c, 2)
		if math.IsNaN(cost) || len(sizes) != min(2, got.D) {
			t.Fatalf("sizes %v at %v", sizes, cost)
		}
		var b bytes.Buffer
		reftest.OK(t, got.Write(&b))
		again, err := Read(&b)
		if err != nil || !reflect.DeepEqual(again.Profile, got.Profile) {
			t.Fatalf("read again: %v", err)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	one := NewTerms([]int{1}, []float64{1})
	for want, make := range map[string]func() (*Profile, error){
		"3 windows":     func() (*Profile, error) { return New(1, true, numbered(one, one, one)) },
		"must be in 1.": func() (*Profile, error) { return New(0, true, nil) },
		"no count was drawn in two": func() (*Profile, error) {
			return New(1, true, numbered(one, one, one, Terms{}))
		},
		"must be finite": func() (*Profile, error) {
			return New(1, true, numbered(one, one, one, NewTerms([]int{1}, []float64{math.Inf(1)})))
		},
	} {
		reftest.Fails(t, reftest.Err(make()), want)
	}
}
