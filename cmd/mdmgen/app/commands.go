package app

import (
	"mdmgen/cmd/mdmgen/internal/bench"
	"mdmgen/cmd/mdmgen/internal/bound"
	"mdmgen/cmd/mdmgen/internal/chat"
	"mdmgen/cmd/mdmgen/internal/generate"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/models"
	"mdmgen/cmd/mdmgen/internal/read"
	"mdmgen/cmd/mdmgen/internal/replay"
	"mdmgen/cmd/mdmgen/internal/schedule"
	"mdmgen/cmd/mdmgen/internal/score"
	"mdmgen/cmd/mdmgen/internal/serve"
	"mdmgen/cmd/mdmgen/internal/tools"
)

// commands lists the commands in the order of the help. A command has its name, its flags,
// which are parsed into a struct of its own, and its action.
var commands = []func() *kit.Command{
	generate.Command,
	chat.Command,
	score.Command,
	read.Command,
	bound.Command,
	bench.Command,
	replay.Command,
	tools.Merge,
	serve.Command,
	schedule.Command,
	tools.Samplers,
	tools.Tokenize,
	models.Convert,
	models.Verify,
	models.Pull,
	models.List,
	models.Show,
	models.Remove,
	tools.Doctor,
	tools.Runtime,
	tools.Completion,
	tools.Man,
	tools.Version,
}
