// Package runtime is the command that fetches ONNX Runtime before it is needed.
package runtime

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

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
	set := append(kit.Set{
		kit.Bool(&cuda, kit.Flag{Name: "cuda", Category: kit.CatGeneral, Usage: "install the build for NVIDIA GPUs, about 300 MB on disk"}),
	}, runtime.OfflineFlag())
	return &cli.Command{
		Name:      "runtime",
		Usage:     "install ONNX Runtime in advance, or its build for GPUs",
		ArgsUsage: "install",
		Description: "Fetches the version of ONNX Runtime that the first use would fetch, and prints the path of the library. With\n" +
			"--cuda it fetches the CUDA build, for Linux on x86-64, and names the CUDA and cuDNN libraries that neither the\n" +
			"system's folders nor the nvidia-* packages of the active Python environment have.",
		Flags: set.CLI(),
		Action: kit.Do(func(ctx context.Context, args []string) error {
			if len(args) != 1 || args[0] != "install" {
				return exit.Usagef("runtime: name a task: mdmgen runtime install")
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
