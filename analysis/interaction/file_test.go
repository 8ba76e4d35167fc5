package interaction

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/spread"
)

// written returns a file of assumed interactions.
func written(t testing.TB) (*Profile, string) {
	t.Helper()
	in := &Profile{Interactions: *spread.Assumed, From: FromText, Positions: 9, Sequences: 3, Calls: 9}
	var b bytes.Buffer
	reftest.OK(t, in.Write(&b, map[string]int{"x": 1}))
	return in, b.String()
}

// TestFile checks that a file stores interactions to the bit, and that errors name the fault.
func TestFile(t *testing.T) {
	in, good := written(t)
	if got, err := Read(strings.NewReader(good)); err != nil || !reflect.DeepEqual(got, in) {
		t.Errorf("read %+v, %v, want %+v", got, err, in)
	}
	for want, text := range map[string]string{
		"ends too early":    good[:40],
		"schema":            strings.Replace(good, FileSchema, "mdmgen.score/1", 1),
		"with interactions": `{"schema":"mdmgen.profile/2"}`,
		"at least 0":        strings.Replace(good, `"nats":[[`, `"nats":[[-1,`, 1),
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("want an error of one line with %q, got %v", want, err)
		}
	}
}

// FuzzRead checks that a file that was read can be written, and reads the same again.
func FuzzRead(f *testing.F) {
	_, good := written(f)
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		reftest.OK(t, got.Write(&b, nil))
		if again, err := Read(&b); err != nil || !reflect.DeepEqual(again.Nats, got.Nats) {
			t.Fatalf("read again: %v", err)
		}
	})
}
