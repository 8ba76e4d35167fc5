// Package pull is the command that fetches models from the hub.
package pull

import (
	"cmp"
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/printable"
	"mdmgen/model/hub"
)

// pulled is pull's output for a name.
type pulled struct {
	Schema string `json:"schema"`
	// Name includes the commit.
	Name string `json:"name"`
	Path string `json:"path"`
}

type options struct {
	runtime       setup.Runtime
	force, verify bool
	format        string
}

// Command is the command pull.
func Command(s kit.Streams) *cli.Command {
	o := &options{}
	set := append(kit.Set{
		o.runtime.OfflineFlag(),
		kit.Bool(&o.force, kit.Flag{Name: "force", Category: kit.CatGeneral, Usage: "fetch even models that do not fit on this machine or that no command can read"}),
		kit.Bool(&o.verify, kit.Flag{Name: "verify-digest", Category: kit.CatGeneral, Usage: "check the files that are present, and fetch damaged ones again"}),
	}, kit.Format(&o.format, "text", "json")...)
	return &cli.Command{
		Name:      "pull",
		Usage:     "fetch models from the hub, or update them",
		ArgsUsage: "OWNER/NAME[@REVISION][:FILE] ...",
		Description: "Fetches the missing files of a branch, tag or commit (default: main) of each repository: config, weights and\n" +
			"tokenizer. FILE is an ONNX file of the repository. An interrupted fetch resumes, and every file is checked\n" +
			"against the hub's digest. The cache is Hugging Face's, and HF_HUB_CACHE, HF_HOME, HF_ENDPOINT, HF_TOKEN and\n" +
			"HF_HUB_OFFLINE have their usual meaning. Other commands fetch a model named by --model once and do not update\n" +
			"it. Prints the name with its commit, and the path.",
		Flags:  set.CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error { return o.run(ctx, s, args) }),
	}
}

func (o *options) run(ctx context.Context, s kit.Streams, args []string) error {
	if len(args) == 0 {
		return exit.Usagef("pull: name a repository, as OWNER/NAME; `mdmgen list --known` has some")
	}
	var names []hub.Name
	for _, a := range args {
		n, ok := hub.Parse(a)
		if !ok {
			if known := hub.Closest(a); known != "" {
				return exit.Usagef("pull %s: must be OWNER/NAME; did you mean %s?", a, known)
			}
			return exit.Usagef("pull %s: must be OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:FILE", cmp.Or(a, `""`))
		}
		names = append(names, n)
	}
	if o.runtime.Offline() {
		return exit.Missingf("pull: fetching is forbidden (--offline, MDMGEN_OFFLINE or HF_HUB_OFFLINE)")
	}
	client, err := hub.Open()
	if err != nil {
		return fault.WithoutName(err)
	}
	for _, n := range names {
		found, err := setup.Pull(ctx, s, client, n, setup.PullOptions{Force: o.force, Verify: o.verify})
		if err != nil {
			return err
		}
		p := pulled{"mdmgen.pull/1", found.Name.String(), found.Path}
		if err := kit.Print(s.Out, o.format, p, fmt.Sprintf("%s\t%s\n", printable.String(p.Name), printable.String(p.Path))); err != nil {
			return err
		}
	}
	return nil
}
