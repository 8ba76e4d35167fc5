package cli

import (
	"github.com/urfave/cli/v2"

	"mdmgen/internal/cli/bench"
	"mdmgen/internal/cli/bound"
	"mdmgen/internal/cli/completion"
	"mdmgen/internal/cli/config"
	"mdmgen/internal/cli/convert"
	"mdmgen/internal/cli/doctor"
	"mdmgen/internal/cli/generate"
	"mdmgen/internal/cli/kit"
	"mdmgen/internal/cli/list"
	"mdmgen/internal/cli/man"
	"mdmgen/internal/cli/merge"
	"mdmgen/internal/cli/pull"
	"mdmgen/internal/cli/remove"
	"mdmgen/internal/cli/runtime"
	"mdmgen/internal/cli/samplers"
	"mdmgen/internal/cli/schedule"
	"mdmgen/internal/cli/score"
	"mdmgen/internal/cli/show"
	"mdmgen/internal/cli/tokenize"
	"mdmgen/internal/cli/verify"
	"mdmgen/internal/cli/version"
)

// commands are the program's, in the order of its help. A command is a package: what it is
// called, its flags, which it reads into a struct of its own, and what it does.
var commands = []func(kit.Streams) *cli.Command{
	generate.Command,
	score.Command,
	bound.Command,
	bench.Command,
	merge.Command,
	schedule.Command,
	samplers.Command,
	tokenize.Command,
	convert.Command,
	verify.Command,
	pull.Command,
	list.Command,
	show.Command,
	remove.Command,
	doctor.Command,
	runtime.Command,
	config.Command,
	completion.Command,
	man.Command,
	version.Command,
}
