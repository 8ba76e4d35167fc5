// Package models implements the commands about models: those that fetch, list and remove the hub's, and
// those that convert, describe and compare any.
package models

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

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

// pulling holds the flags of pull.
type pulling struct {
	runtime setup.Runtime
	setup.PullOptions
	format string
}

// Pull returns the command pull.
func Pull() *kit.Command {
	o := &pulling{}
	set := append(kit.Set{
		o.runtime.OfflineFlag(),
		kit.Bool(&o.Force, kit.Flag{Name: "force", Category: kit.CatGeneral, Usage: "fetch even models that do not fit on this machine or that no command can read"}),
		kit.Bool(&o.Verify, kit.Flag{Name: "verify-digest", Category: kit.CatGeneral, Usage: "check the files that are present, and fetch damaged ones again"}),
	}, kit.Format(&o.format, "text", "json")...)
	return &kit.Command{
		Name:      "pull",
		Usage:     "fetch models from the hub, or update them",
		Arguments: "OWNER/NAME[@REVISION][:FILE] ...",
		Description: "Fetches the missing files of a branch, tag or commit (default: main) of each repository: config, weights and\n" +
			"tokenizer. FILE is an ONNX file of the repository. An interrupted fetch resumes, and every file is checked\n" +
			"against the hub's digest. The cache is Hugging Face's, and HF_HUB_CACHE, HF_HOME, HF_ENDPOINT, HF_TOKEN and\n" +
			"HF_HUB_OFFLINE have their usual meaning. Other commands fetch a model once and do not update it.",
		Flags: set,
		Run:   o.run,
	}
}

func (o *pulling) run(ctx context.Context, s kit.Streams, args []string) error {
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
		found, err := setup.Pull(ctx, s, client, n, o.PullOptions)
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

// List returns the command list.
func List() *kit.Command {
	var known bool
	var format string
	set := append(kit.Set{
		kit.Bool(&known, kit.Flag{Name: "known", Category: kit.CatGeneral, Usage: "list the repositories that this program knows, fetched or not"}),
	}, kit.Format(&format, "text", "json")...)
	return &kit.Command{
		Name:  "list",
		Usage: "list the models in the cache, or all known ones",
		Description: "Prints a line for each revision in the cache: name, branches and tags, size, last use, and whether it is\n" +
			"complete. --known lists published models, the commands that work, and how that was checked, on a terminal as\n" +
			"much as a line has room for; the published weights were not run.",
		Flags: set,
		Run: func(_ context.Context, s kit.Streams, _ []string) error {
			if known {
				return printKnown(s, format)
			}
			cache, err := hub.OpenCache()
			if err != nil {
				return fault.WithoutName(err)
			}
			return printKept(s, cache, format)
		},
	}
}

func printKept(s kit.Streams, cache hub.Cache, format string) error {
	kept, err := cache.List()
	if err != nil {
		return fault.WithoutName(err)
	}
	if len(kept) == 0 && format != "json" {
		s.Notice("no models in " + cache.Dir + "; `mdmgen pull` fetches one, and `mdmgen list --known` names some")
		return nil
	}
	t := kit.NewTable(false)
	fmt.Fprintln(t, "NAME\tREVISION\tCOMMIT\tSIZE\tLAST USED\tWHOLE")
	for _, k := range kept {
		revisions := cmp.Or(strings.Join(k.Revisions, ", "), "-")
		fmt.Fprintf(t, "%s\t%s\t%.12s\t%s\t%s\t%t\n", printable.String(k.Repo), printable.String(revisions), printable.String(k.Commit), humanize.Bytes(uint64(k.Bytes)), k.Used.Format("2006-01-02 15:04"), k.Whole)
	}
	return kit.Print(s.Out, format, map[string]any{"schema": "mdmgen.list/1", "cache": cache.Dir, "models": append([]hub.Kept{}, kept...)}, t.String())
}

func printKnown(s kit.Streams, format string) error {
	t := kit.NewTable(false)
	fmt.Fprintln(t, "NAME\tSHORT\tFAMILY\tPARAMETERS\tTOKENIZER\tWORKS\tCHECKED HOW")
	for _, k := range hub.KnownList() {
		parameters := "-"
		if k.Parameters > 0 {
			parameters = humanize.Comma(k.Parameters)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Repo, cmp.Or(k.Short(), "-"), k.Family, parameters, cmp.Or(k.Tokenizer, "its own"), k.Works, k.Checked)
	}
	text := t.String()
	if columns, _ := kit.Size(s.Out); columns > 0 {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = ansi.Truncate(line, columns, "…")
		}
		text = strings.Join(lines, "\n")
	}
	return kit.Print(s.Out, format, map[string]any{"schema": "mdmgen.known/1", "models": hub.KnownList()}, text)
}

// Remove returns the command remove.
func Remove() *kit.Command {
	var format string
	return &kit.Command{
		Name:      "remove",
		Usage:     "remove a model of the hub from the cache",
		Arguments: "OWNER/NAME[@REVISION]",
		Description: "Removes the repository, or with @REVISION that branch, tag or commit and the files that no other revision uses,\n" +
			"without asking, from the cache shared with other programs. It fails while the repository is being fetched.",
		Flags: kit.Format(&format, "text", "json"),
		Run: func(_ context.Context, s kit.Streams, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("remove: expected one name, got %d arguments", len(args))
			}
			n, ok := hub.Parse(args[0])
			if !ok || n.File != "" {
				return exit.Usagef("remove %s: must be OWNER/NAME or OWNER/NAME@REVISION", args[0])
			}
			cache, err := hub.OpenCache()
			if err != nil {
				return fault.WithoutName(err)
			}
			freed, err := cache.Remove(n)
			if err != nil {
				return fault.WithoutName(err)
			}
			record := struct {
				Schema string `json:"schema"`
				hub.Freed
			}{"mdmgen.remove/1", freed}
			return kit.Print(s.Out, format, record, fmt.Sprintf("%s: removed %s, %s freed\n", printable.String(n.String()), english.Plural(len(freed.Commits), "revision", ""), humanize.Bytes(uint64(freed.Bytes))))
		},
	}
}
