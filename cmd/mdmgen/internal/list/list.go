// Package list is the command that lists the hub's models.
package list

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/printable"
	"mdmgen/model/hub"
)

// Command is the command list.
func Command(s kit.Streams) *cli.Command {
	var known bool
	var format string
	set := append(kit.Set{
		kit.Bool(&known, kit.Flag{Name: "known", Category: kit.CatGeneral, Usage: "list the repositories that this program knows, fetched or not"}),
	}, kit.Format(&format, "text", "json", "markdown")...)
	return &cli.Command{
		Name:  "list",
		Usage: "list the models in the cache, or all known ones",
		Description: "Prints a line for each revision in the cache: name, branches and tags, size, last use, and whether it is\n" +
			"complete. --known lists published models: family, parameters, tokenizer, the commands that work, and how that\n" +
			"was checked; the published weights were not run.",
		Flags: set.CLI(),
		Action: kit.Do(func(_ context.Context, args []string) error {
			if err := kit.NoArguments("list", args); err != nil {
				return err
			}
			if known {
				return printKnown(s, format)
			}
			if format == "markdown" {
				return exit.Usagef("list: --format markdown is for --known")
			}
			cache, err := hub.OpenCache()
			if err != nil {
				return fault.WithoutName(err)
			}
			return printKept(s, cache, format)
		}),
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
	if format == "markdown" {
		return hub.WriteKnown(s.Out)
	}
	t := kit.NewTable(false)
	fmt.Fprintln(t, "NAME\tFAMILY\tPARAMETERS\tTOKENIZER\tWORKS\tCHECKED HOW")
	for _, k := range hub.KnownList() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", k.Repo, k.Family, humanize.Comma(k.Parameters), cmp.Or(k.Tokenizer, "its own"), k.Works, k.Checked)
	}
	return kit.Print(s.Out, format, map[string]any{"schema": "mdmgen.known/1", "models": hub.KnownList()}, t.String())
}
