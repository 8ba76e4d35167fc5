package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/profile"
	"mdmgen/internal/plainfile"
	"mdmgen/model"
	"mdmgen/samplers"
)

// profileFlag is for commands that choose a sampler and have a profile read.
func profileFlag() cli.Flag {
	return &cli.StringFlag{Name: "profile", Category: catSample, Usage: "`FILE` with the loss profile of --grid profile or --sizes profile, from `mdmgen score --profile`; for another number of positions it is taken by their visible fraction"}
}

// readProfile is a profile's file as it was read.
type readProfile struct {
	profile.File
	// digest is "sha256:…" of the file.
	digest string
}

// openProfile reads the file of a flag.
func openProfile(ctx context.Context, path string) (*readProfile, error) {
	if path == "" {
		return nil, usagef("--profile: name a file")
	}
	f, err := plainfile.OpenNamed(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("--profile %s: %w", path, err)
	}
	defer f.Close()
	sum := sha256.New()
	file, err := profile.Read(io.TeeReader(f, sum))
	if err != nil {
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("--profile %s: %s", path, bareProfile(err)))
	}
	return &readProfile{file, fmt.Sprintf("sha256:%x", sum.Sum(nil))}, nil
}

// bareProfile drops the package's name from a message.
func bareProfile(err error) string {
	return string(bytes.TrimPrefix([]byte(plainfile.Cause(err).Error()), []byte("profile: ")))
}

// wantsProfile says that a flag asks for a schedule by loss profile.
func wantsProfile(c *cli.Context) bool {
	return c.String("grid") == string(samplers.GridProfile) || c.String("sizes") == string(samplers.GridProfile)
}

// profileKey is where a run keeps the file, so that it is read once.
const profileKey = "profile"

// profileOf returns the profile of --profile where a grid or sizes want it, nil where
// none does. One without the other is a usage error.
func profileOf(c *cli.Context) (*readProfile, error) {
	set := c.IsSet("profile")
	switch {
	case !wantsProfile(c):
		if set && c.Command.Name != "score" {
			return nil, leaveOut(c, usagef("--profile: is read for --grid profile or --sizes profile only"), "profile")
		}
		return nil, nil // For score it is what is written.
	case !set:
		return nil, usagef("--grid profile and --sizes profile need the network's loss profile: give it with --profile FILE, as `mdmgen score TEXT --profile FILE` writes it")
	}
	if p, ok := c.App.Metadata[profileKey].(*readProfile); ok {
		return p, nil
	}
	p, err := openProfile(c.Context, c.String("profile"))
	if err != nil {
		return nil, err
	}
	c.App.Metadata[profileKey] = p
	return p, nil
}

// useProfile puts the profile into a sampler's options: made to fall, as `mdmgen schedule`
// chooses by.
func useProfile(c *cli.Context, o *samplers.Options) error {
	p, err := profileOf(c)
	if p != nil && o.ByProfile() {
		o.Profile = p.Falling()
	}
	return err
}

// profileDigest is what a record keeps of the profile that was used, "" where none was.
func profileDigest(c *cli.Context) string {
	if p, ok := c.App.Metadata[profileKey].(*readProfile); ok {
		return p.digest
	}
	return ""
}

// noticeProfile says when the profile is of another network than m.
func noticeProfile(c *cli.Context, s streams, m model.Model) {
	p, ok := c.App.Metadata[profileKey].(*readProfile)
	d, described := m.(model.Describer)
	if !ok || !described {
		return
	}
	of, is := p.model(), d.Origin()
	switch {
	case of.Digest != "" && of.Digest != is.Digest:
		s.notice(fmt.Sprintf("--profile %s: is the loss of another network; its schedule is right for any, and best for that one", c.String("profile")))
	case of.FactsDigest != "" && of.FactsDigest != is.FactsDigest:
		s.notice(fmt.Sprintf("--profile %s: is the loss of this network with other facts; its schedule is right for any, and best with those", c.String("profile")))
	}
}

// model is the network that was measured, empty where the file does not tell.
func (p *readProfile) model() model.Origin {
	var from struct{ Model model.Origin }
	raw, ok := p.Provenance.(json.RawMessage)
	if !ok || json.Unmarshal(raw, &from) != nil {
		return model.Origin{}
	}
	return from.Model
}
