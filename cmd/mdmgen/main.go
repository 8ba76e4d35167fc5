// Command mdmgen generates text from masked diffusion language models, and
// measures what their samplers cost and how far their laws are from exact.
//
//	mdmgen generate                 text from the built-in model, by First-Hitting
//	mdmgen generate --model DIR     text from the folder of a published checkpoint
//	mdmgen score FILE               how likely a text is, with intervals or exactly
//	mdmgen bench                    what samplers cost, and what their steps buy
//	mdmgen samplers                 the samplers, their laws, costs and flags
//	mdmgen verify DIR --golden F    a model's rows against reference values
//
// Results go to standard output, everything else to standard error. The exit
// status is 0 for success, 2 for a usage error, 3 for a failed validation, 4
// for a missing model, tokenizer or library, 130 for an interrupt, 141 for a
// reader that went away and 1 for any other failure.
package main

import (
	"os"

	"mdmgen/cmd/mdmgen/app"
)

func main() { os.Exit(app.Main()) }
