package requests

import (
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/samplers/catalog"
)

// TestDecoder checks that messages are answered by the sampler of the network's facts unless another is
// named, that options given replace its settings, and that an answer ends with the template's last token.
func TestDecoder(t *testing.T) {
	l := layout(t, 12)
	words := reftest.Must(l.Words.Tokenizer())(t)
	reftest.OK(t, os.WriteFile(filepath.Join(words.Folder(), "tokenizer_config.json"), []byte(`{"eos_token":"!"}`), 0o644))
	f := l.Facts
	f.BlockSize, f.Decoder = 4, "llada2 threshold=0.95 steps=32 temperature=0"
	o := reftest.Must(Decoder(f, l.Words, catalog.Options{}))(t)
	if o.Sampler != "llada2" || o.Threshold != 0.95 || o.Steps != 32 || *o.Temperature != 0 || o.BlockLength != 4 || o.End() != '!' {
		t.Errorf("%+v", o)
	}
	given := catalog.Options{Steps: 8}
	given.TopK = 3
	o = reftest.Must(Decoder(f, l.Words, given))(t)
	if o.Steps != 8 || o.TopK != 3 || o.Threshold != 0.95 || *o.Temperature != 0 {
		t.Errorf("%+v", o)
	}
	named := catalog.Options{Sampler: "fhs"}
	if o = reftest.Must(Decoder(f, l.Words, named))(t); o.Sampler != "fhs" || o.Stop != nil || o.Temperature != nil {
		t.Errorf("%+v", o)
	}
	f.Decoder = ""
	if o = reftest.Must(Decoder(f, l.Words, catalog.Options{}))(t); o.Sampler != "" || o.Stop != nil {
		t.Errorf("%+v", o)
	}
	for _, wrong := range []string{"llada2 threshold", "llada2 threshold=high", "llada2 speed=9"} {
		f.Decoder = wrong
		reftest.Fails(t, reftest.Err(Decoder(f, l.Words, catalog.Options{})), "fact decoder is")
	}
}
