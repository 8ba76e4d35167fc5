// Package version is the command that prints the program's version.
package version

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/model/ort"
)

// Command is the command version.
func Command(s kit.Streams) *cli.Command {
	format := ""
	return &cli.Command{
		Name:  "version",
		Usage: "print the version and build information",
		Description: "Prints the versions of the program and of Go, the platform, the version of ONNX Runtime that is fetched if none\n" +
			"is found, and the commit.",
		Flags:  kit.Format(&format, "text", "json").CLI(),
		Action: kit.Do(func(_ context.Context, args []string) error { return print(s, args, format) }),
	}
}

// Versions is the output of the command version.
type Versions struct {
	Schema   string `json:"schema"`
	Program  string `json:"program"`
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Runtime is the version of ONNX Runtime that is fetched; a found library may have another.
	Runtime string `json:"onnxruntime"`
	// Commit is empty if the build does not record it; Modified is set if the build had uncommitted
	// changes.
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
}

func print(s kit.Streams, args []string, format string) error {
	if err := kit.NoArguments("version", args); err != nil {
		return err
	}
	v := Versions{
		Schema: "mdmgen.version/1", Program: "mdmgen", Version: kit.Version(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Runtime: ort.Version,
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	commit := cmp.Or(v.Commit, "not known to this build")
	if v.Modified {
		commit += ", with changes"
	}
	return kit.Print(s.Out, format, v, fmt.Sprintf("mdmgen %s\n%s %s\nONNX Runtime %s, fetched if the machine has none\ncommit %s\n", v.Version, v.Go, v.Platform, v.Runtime, commit))
}
