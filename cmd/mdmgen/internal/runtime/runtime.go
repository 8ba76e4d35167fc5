// Package runtime is the command that fetches ONNX Runtime before it is needed.
package runtime

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/exit"
	"mdmgen/internal/printable"
	"mdmgen/model/ort"
)

// Command is the command runtime.
func Command(s kit.Streams) *cli.Command {
	var runtime setup.Runtime
	var cuda bool
	set := append(flags.Set{
		flags.Bool(&cuda, flags.Flag{Name: "cuda", Category: flags.CatModel, Usage: "the build for NVIDIA's GPUs, some 300 MB on disk"}),
	}, runtime.OfflineFlag())
	return &cli.Command{
		Name:      "runtime",
		Usage:     "bring ONNX Runtime before it is needed, or its build for GPUs",
		ArgsUsage: "install",
		Description: "Fetches the version of ONNX Runtime that a first use would fetch, and prints the library. With --cuda it is the\n" +
			"build with CUDA, for Linux on x86-64; libraries of CUDA and cuDNN that are missing in the system's folders and in\n" +
			"the nvidia-* packages of the active Python environment are named.",
		Flags: set.CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error {
			if len(args) != 1 || args[0] != "install" {
				return exit.Usagef("runtime: say what to do: mdmgen runtime install")
			}
			cfg, err := runtime.Fetching(s, set)
			if err != nil {
				return err
			}
			l, has, err := ort.Install(ctx, cfg, cuda)
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
		}),
	}
}
