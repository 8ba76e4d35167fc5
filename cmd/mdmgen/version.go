package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"mdmgen/model/ort"
)

func versionCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version, and what it was built with and from",
		Description: "Prints the program's version, the Go version and platform that it was built with and for, the version of ONNX\nRuntime that it fetches when it finds none, and the commit that it was built from.",
		Flags:       []cli.Flag{&cli.BoolFlag{Name: "json", Category: catOutput, Usage: "print JSON"}},
		Action:      func(c *cli.Context) error { return printVersion(c, s) },
	}
}

// versions is what the command version prints.
type versions struct {
	Schema   string `json:"schema"`
	Program  string `json:"program"`
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	// Runtime is the version of ONNX Runtime that is fetched; another that is found may run.
	Runtime string `json:"onnxruntime"`
	// Commit is empty where the build does not know it; Modified says that files were changed
	// since.
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
}

func printVersion(c *cli.Context, s streams) error {
	if err := noArguments(c); err != nil {
		return err
	}
	v := versions{
		Schema: "mdmgen.version/1", Program: "mdmgen", Version: version(), Go: runtime.Version(),
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
	if c.Bool("json") {
		enc := json.NewEncoder(s.out)
		enc.SetIndent("", "  ")
		return enc.Encode(v)
	}
	commit := or(v.Commit, "not known to this build")
	if v.Modified {
		commit += ", with changes"
	}
	_, err := fmt.Fprintf(s.out, "mdmgen %s\n%s %s\nONNX Runtime %s, fetched when none is found\ncommit %s\n", v.Version, v.Go, v.Platform, v.Runtime, commit)
	return err
}

// version is the module's version as the build recorded it, with the revision
// where the build knows one.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				v += "+" + s.Value[:12]
			}
		}
	}
	return v
}
