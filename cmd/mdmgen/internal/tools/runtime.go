package tools

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/printable"
	"mdmgen/model/ort/library"
)

// Runtime returns the command runtime.
func Runtime() *kit.Command {
	var runtime setup.Runtime
	var cuda bool
	set := append(kit.Set{
		kit.Bool(&cuda, kit.Flag{Name: "cuda", Category: kit.CatGeneral, Usage: "install the build for NVIDIA GPUs, about 300 MB on disk"}),
	}, runtime.OfflineFlag())
	return &kit.Command{
		Name:      "runtime",
		Usage:     "install ONNX Runtime in advance, or its build for GPUs",
		Arguments: "install",
		Description: "Fetches the version of ONNX Runtime that the first use would fetch, and prints the path of the library. With\n" +
			"--cuda it fetches the CUDA build, for Linux on x86-64, and names the CUDA and cuDNN libraries that are missing.",
		Flags: set,
		Run: func(ctx context.Context, s kit.Streams, args []string) error {
			if len(args) != 1 || args[0] != "install" {
				return exit.Usagef("runtime: name a task: mdmgen runtime install")
			}
			search, err := runtime.Fetching(s, set)
			if err != nil {
				return err
			}
			l, has, err := search.Install(ctx, cuda)
			if err != nil {
				return err
			}
			if has != nil {
				for _, lack := range has.Lacks {
					s.Notice("for --device cuda: " + printable.String(lack))
				}
			}
			_, err = fmt.Fprintln(s.Out, printable.String(l.Path))
			return err
		},
	}
}

// Version returns the command version.
func Version() *kit.Command {
	format := ""
	return &kit.Command{
		Name:  "version",
		Usage: "print the version and build information",
		Description: "Prints the versions of the program and of Go, the platform, the version of ONNX Runtime that is fetched if none\n" +
			"is found, and the commit.",
		Flags: kit.Format(&format, "text", "json"),
		Run:   func(_ context.Context, s kit.Streams, _ []string) error { return printVersions(s, format) },
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

func printVersions(s kit.Streams, format string) error {
	v := Versions{
		Schema: "mdmgen.version/1", Program: "mdmgen", Version: kit.Version(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Runtime: library.Version,
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
