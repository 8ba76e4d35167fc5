package windows

import (
	"encoding/json"
	"fmt"
	"os"

	"mdmgen/internal/stamp"
	"mdmgen/model/ort"
)

// surveyedFrom is the size from which a survey is remembered, in bytes: that of a shorter text
// takes no second.
var surveyedFrom = int64(16 << 20)

// remembered is a survey as it is kept beside the digests of files.
type remembered struct {
	Windows int               `json:"windows"`
	Digest  string            `json:"digest"`
	Shapes  []rememberedShape `json:"shapes"`
	Places  []place           `json:"places"`
	Every   int               `json:"every"`
}

// rememberedShape is a shape whose free positions are From..Length.
type rememberedShape struct {
	From    int `json:"from"`
	Length  int `json:"length"`
	Windows int `json:"windows"`
	First   int `json:"first"`
}

// key names the survey of a text by all that it depends on: the text's digest, the tokenizer's,
// how it is cut for which network, and the program itself; "" where it is not to be remembered.
func (s *Survey) key(store stamp.Store) string {
	r := s.reader
	if s.file == nil || s.file.Size() < surveyedFrom || store.Dir == "" {
		return ""
	}
	text, err := store.SHA256(r.Ctx, r.Path)
	if err != nil {
		return ""
	}
	program, err := os.Executable()
	if err == nil {
		program, err = store.SHA256(r.Ctx, program)
	}
	if err != nil {
		return ""
	}
	tokenizer := ""
	if r.Tokenizer != nil {
		tokenizer = r.Tokenizer.Digest()
	}
	key, err := json.Marshal([]any{"windows", text, tokenizer, r.Kind(), r.Cutting, r.cutting, r.eos, r.Facts, program})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("survey %s", key)
}

// recall fills in what was found when the text was read before, and says whether it was. save
// keeps what is found now.
func (s *Survey) recall() (known bool, save func()) {
	store := ort.Stamps(false)
	key := s.key(store)
	var was remembered
	if key == "" {
		return false, func() {}
	}
	if store.Load(key, &was) && was.Windows > 0 {
		s.Windows, s.Digest, s.places, s.every = was.Windows, was.Digest, was.Places, was.Every
		for _, x := range was.Shapes {
			s.Shapes = append(s.Shapes, Shape{Free: positions(x.From, x.Length), Length: x.Length, Windows: x.Windows, First: x.First})
		}
		return true, nil
	}
	return false, func() {
		now := remembered{Windows: s.Windows, Digest: s.Digest, Places: s.places, Every: s.every}
		for _, x := range s.Shapes {
			now.Shapes = append(now.Shapes, rememberedShape{x.Free[0], x.Length, x.Windows, x.First})
		}
		store.Save(key, now)
	}
}
