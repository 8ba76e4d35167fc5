// Package remove is the command that removes the hub's models from the cache.
package remove

import (
	"context"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/printable"
	"mdmgen/model/hub"
)

// Command is the command remove.
func Command(s kit.Streams) *cli.Command {
	var format string
	return &cli.Command{
		Name:      "remove",
		Usage:     "remove a model of the hub from the cache",
		ArgsUsage: "OWNER/NAME[@REVISION]",
		Description: "Removes the repository, or with @REVISION that branch, tag or commit and the files that no other revision uses,\n" +
			"without asking, from the cache shared with other programs. It fails while the repository is being fetched.",
		Flags: kit.Format(&format, "text", "json").CLI(),
		Action: kit.Do(func(_ context.Context, args []string) error {
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
		}),
	}
}
