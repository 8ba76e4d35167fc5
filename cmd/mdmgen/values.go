package main

import (
	"regexp"
	"slices"

	"github.com/urfave/cli/v2"

	"mdmgen/analysis/bench"
	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/profile"
	"mdmgen/analysis/quality"
	"mdmgen/samplers"
)

// flagValues are the words that a flag of a command takes, nil where it takes anything. Some
// take more than words: a list of times as a grid, say.
func flagValues(command, flag string) []string {
	for _, o := range samplers.AllOptions() {
		if o.Name == flag {
			return o.Words
		}
	}
	switch flag {
	case "sampler":
		return samplers.Names()
	case "as":
		return inputKinds
	case "frame":
		return []string{"none", "bos-eos"}
	case "tail":
		return []string{"keep", "drop"}
	case "estimator":
		return words(likelihood.Forms())
	case "protocol":
		return words(likelihood.Protocols())
	case "q0":
		return []string{"chain", "own"}
	case "quality":
		return bench.Parts()
	case "evaluator-bos":
		return []string{quality.BOSEOS, quality.BOSNone}
	case "oe":
		return benchFormats
	case "kind":
		return words(profile.Kinds())
	case "device":
		return []string{"cpu", "cuda", "auto"}
	case "model":
		return []string{builtinName}
	case "format":
		return map[string][]string{"generate": formats, "score": scoreFormats, "bench": benchFormats}[command]
	}
	return nil
}

func words[T ~string](list []T) []string {
	var out []string
	for _, x := range list {
		out = append(out, string(x))
	}
	return out
}

// argumentValues are the words that a command takes as arguments.
func argumentValues(commands []*cli.Command, command string) []string {
	switch command {
	case "samplers":
		return samplers.Names()
	case "completion":
		return shells
	case "man", "config", "help":
		var names []string
		for _, c := range commands {
			names = append(names, c.Name)
		}
		return names
	}
	return nil
}

// flagsOf are a command's flags, but for --help, which the library gives to the one that runs.
func flagsOf(c *cli.Command) []cli.Flag {
	return slices.DeleteFunc(slices.Clone(c.Flags), func(f cli.Flag) bool { return f == cli.HelpFlag })
}

// inHelp finds what a flag's help calls its value.
var inHelp = regexp.MustCompile("`([^`]*)`")

// valueName is what a flag's help calls its value: FILE, N, LIST.
func valueName(f cli.Flag) string {
	if m := inHelp.FindStringSubmatch(f.(cli.DocGenerationFlag).GetUsage()); m != nil {
		return m[1]
	}
	return ""
}

// takesPath says that a flag's value is a file or a folder.
func takesPath(f cli.Flag) bool {
	return slices.Contains([]string{"FILE", "PATH", "FOLDER", "DIR", "REF", "OLD.json"}, valueName(f))
}

// writesFile says that a flag of a command names what is written.
func writesFile(command, flag string) bool {
	return slices.Contains([]string{"output", "resume", "html", "plots"}, flag) || command == "score" && flag == "profile"
}

// takesValue says that a flag has a value, as all have but those that are on or off.
func takesValue(f cli.Flag) bool { return f.(cli.DocGenerationFlag).TakesValue() }
