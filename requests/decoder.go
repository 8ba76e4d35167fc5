package requests

import (
	"fmt"
	"strings"

	"mdmgen/model"
	"mdmgen/samplers/catalog"
)

// Decoder returns the options for answers to messages. If o names no sampler and the network's facts
// name a decoder, they are that with its settings, changed by what o gives. Sequences then end with the
// token that ends an answer, if the chat template has one.
func Decoder(f model.Facts, words *Words, o catalog.Options) (catalog.Options, error) {
	fields := strings.Fields(f.Decoder)
	if o.Sampler != "" || len(fields) == 0 {
		return o, nil
	}
	base := catalog.Options{Sampler: fields[0]}
	base.BlockLength = f.BlockSize
	for _, setting := range fields[1:] {
		name, value, _ := strings.Cut(setting, "=")
		if err := base.Set(name, value); err != nil {
			return o, wrong("", fmt.Errorf("the model's fact decoder is %q: %w", f.Decoder, err))
		}
	}
	if id, ok := words.End(); ok {
		base.Stop = &id
	}
	given := Request{Options: o}
	for _, p := range o.List() {
		if p.Get() != "" {
			given.Set = append(given.Set, p.Name)
		}
	}
	o, err := given.over(base)
	return o, wrong("", err)
}
