package app

import (
	"github.com/urfave/cli/v2"

	"mdmgen/cmd/mdmgen/internal/bench"
	"mdmgen/cmd/mdmgen/internal/bound"
	"mdmgen/cmd/mdmgen/internal/completion"
	"mdmgen/cmd/mdmgen/internal/convert"
	"mdmgen/cmd/mdmgen/internal/doctor"
	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/list"
	"mdmgen/cmd/mdmgen/internal/man"
	"mdmgen/cmd/mdmgen/internal/merge"
	"mdmgen/cmd/mdmgen/internal/pull"
	"mdmgen/cmd/mdmgen/internal/read"
	"mdmgen/cmd/mdmgen/internal/remove"
	"mdmgen/cmd/mdmgen/internal/replay"
	"mdmgen/cmd/mdmgen/internal/runtime"
	"mdmgen/cmd/mdmgen/internal/samplers"
	"mdmgen/cmd/mdmgen/internal/schedule"
	"mdmgen/cmd/mdmgen/internal/score"
	"mdmgen/cmd/mdmgen/internal/serve"
	"mdmgen/cmd/mdmgen/internal/show"
	"mdmgen/cmd/mdmgen/internal/tokenize"
	"mdmgen/cmd/mdmgen/internal/verify"
	"mdmgen/cmd/mdmgen/internal/version"
)

// commands lists the commands in the order of the help. A command is a package: its name, its
// flags, which it parses into its own struct, and its action.
var commands = []func(kit.Streams) *cli.Command{
	generate.Command,
	score.Command,
	read.Command,
	bound.Command,
	bench.Command,
	replay.Command,
	merge.Command,
	serve.Command,
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
	completion.Command,
	man.Command,
	version.Command,
}
