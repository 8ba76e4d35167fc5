package setup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"mdmgen/analysis/profile"
	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/schedule"
)

// Profile is what --profile names, read once.
type Profile struct {
	Path string
	read *ReadProfile
}

// Flag is for commands that choose a sampler.
func (p *Profile) Flag() *flags.Flag {
	return flags.Name(&p.Path, "name a file", flags.Flag{Name: "profile", Category: flags.CatSample, Rare: true, Usage: "`FILE` with the loss and interactions that --grid profile, --sizes profile and the sampler spread choose by, from mdmgen score --write-profile; canvases of other lengths use the loss by the fraction that is visible"})
}

// ReadProfile is a profile's file as it was read.
type ReadProfile struct {
	profile.File
	// Digest is "sha256:…" of the file.
	Digest string
}

// OpenProfile reads the file of --profile.
func OpenProfile(ctx context.Context, path string) (*ReadProfile, error) {
	f, err := plainfile.OpenNamed(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("--profile %s: %w", path, err)
	}
	defer f.Close()
	sum := sha256.New()
	file, err := profile.Read(io.TeeReader(f, sum))
	if err != nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("--profile %s: %s; `mdmgen score TEXT --write-profile FILE` writes a profile", path, fault.Plain(plainfile.Cause(err))))
	}
	return &ReadProfile{file, fmt.Sprintf("sha256:%x", sum.Sum(nil))}, nil
}

// Open reads the file, once.
func (p *Profile) Open(ctx context.Context) (_ *ReadProfile, err error) {
	if p.read == nil {
		p.read, err = OpenProfile(ctx, p.Path)
	}
	return p.read, err
}

// Use puts the profile into a sampler's options: the loss where --grid or --sizes asks for it, made to
// fall, as `mdmgen schedule` chooses by, and the interactions where the sampler is spread. One
// without the other is a usage error, but spread does without.
func (p *Profile) Use(ctx context.Context, all flags.Set, o *catalog.Options) error {
	wants := func(flag string) bool { return all.Text(flag) == string(schedule.GridProfile) }
	asked := wants("grid") || wants("sizes")
	switch {
	case !asked && !o.Spreads():
		if p.Path == "" {
			return nil
		}
		return all.LeaveOut(exit.Usagef("--profile: only --grid profile, --sizes profile and --sampler spread read it; `mdmgen score --write-profile` writes one"), "profile")
	case asked && p.Path == "":
		return exit.Usagef("--grid profile and --sizes profile need the network's loss profile: give it with --set profile=FILE, as `mdmgen score TEXT --write-profile FILE` writes it")
	}
	return p.Fill(ctx, o)
}

// Fill puts into options what they use of the profile.
func (p *Profile) Fill(ctx context.Context, o *catalog.Options) error {
	if p.Path == "" || !o.ByProfile() && !o.Spreads() {
		return nil
	}
	if o.Spreads() {
		in, err := p.interactions(ctx)
		if err == nil {
			o.Interactions = &in.Interactions
		}
		return err
	}
	read, err := p.Open(ctx)
	if err == nil {
		o.Profile, err = read.Losses(p.Path)
	}
	return err
}

// Losses is the loss made to fall, of a file that has one.
func (p *ReadProfile) Losses(path string) ([]float64, error) {
	if p.Profile == nil {
		return nil, exit.Usagef("--profile %s: has interactions, and no loss: `mdmgen score TEXT --write-profile FILE` measures both", path)
	}
	return p.Falling(), nil
}

// Digest is what a record keeps of the profile that was used, "" where none was.
func (p *Profile) Digest() string {
	if p.read == nil {
		return ""
	}
	return p.read.Digest
}

// Model is the network that was measured, empty where the file does not name it.
func (p *ReadProfile) Model() model.Origin {
	var from struct{ Model model.Origin }
	raw, ok := p.Provenance.(json.RawMessage)
	if !ok || json.Unmarshal(raw, &from) != nil {
		return model.Origin{}
	}
	return from.Model
}
