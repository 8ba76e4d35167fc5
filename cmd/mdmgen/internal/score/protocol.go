package score

import (
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/cmd/mdmgen/internal/windows"
)

// framed are the projects that join all texts, an end token behind each, and cut them into windows
// of the model's length, the rest dropped; MDLM puts a token at each window's beginning and end.
var framed = map[likelihood.Form]string{likelihood.MDLM: "bos-eos", likelihood.RADD: "none", likelihood.SEDD: "none"}

// follow cuts texts as the protocol does, but where flags have it otherwise. Without tokens for a
// text's ends none are put, and texts are not joined.
func (r *scoring) follow() {
	frame, joins := framed[r.protocol]
	if !joins {
		return
	}
	ends := false
	if r.words != nil {
		_, _, err := r.words.Frame()
		ends = err == nil
	}
	if !r.all.IsSet("join") {
		r.cut.Join = ends
	}
	if !r.all.IsSet("frame") && ends {
		r.cut.Frame = frame
	}
	if !r.all.IsSet("tail") && r.cut.Join {
		r.cut.Tail = "drop"
	}
}

// differences are what the windows have otherwise than the protocol.
func (r *scoring) differences() (out []string) {
	differs := func(is bool, what string) {
		if is {
			out = append(out, what)
		}
	}
	frame, joins := framed[r.protocol]
	switch c := r.cut; {
	case joins:
		differs(!c.Join, "texts are not joined with an end token behind each (--join)")
		differs(c.Frame != frame, "the frame of windows is "+c.Frame+" (--frame "+frame+")")
		differs(c.Tail != "drop", "shorter windows are kept (--tail drop)")
		differs(c.Context > 0, "a part of each window is given (--context 0)")
		differs(r.settings.Stride > 0 && r.overlaps, "windows overlap (--stride)")
		differs(r.settings.Length != r.facts.Length, "windows are not of the model's length (--length)")
	case r.protocol == likelihood.LLaDA:
		differs(slices.ContainsFunc(r.survey.Shapes, func(s windows.Shape) bool { return s.From == 0 }),
			`windows have no prompt (JSON lines {"context":…,"text":…})`)
	}
	return out
}
