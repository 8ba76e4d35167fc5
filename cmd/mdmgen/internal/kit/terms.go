package kit

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/requests"
)

// commands maps what packages call their operations in errors to what a user types.
var commands = map[string]string{"library.Install": "`mdmgen runtime install --cuda`", "ort.Diagnose": "`mdmgen doctor --device cuda`"}

// Spell returns the flag or command line of a term: see [fault.Spell].
func (s Set) Spell(t fault.Term) string {
	f := s.Find(t.Name)
	switch {
	case f == nil:
		return cmp.Or(commands[t.Name], t.String())
	case t.Value == "":
		return f.Typed()
	}
	return f.with(t.Value)
}

// Refuse returns a usage error for an error of a request or of a sampler's options. Its message begins
// with the flag that err begins with, or whose field it carries; with the command if it is not given.
func (s Set) Refuse(command string, err error) error {
	text := fault.Plain(err)
	name := strings.ReplaceAll(text[:strings.IndexAny(text+" ", " :")], "_", "-")
	f := s.Find(name)
	if field, ok := errors.AsType[*requests.Error](err); ok && f == nil {
		f = s.Find(strings.Replace(strings.ReplaceAll(field.Field, "_", "-"), "messages", "chat", 1))
	}
	rest := text[len(name):]
	same := f != nil && name == f.Name && strings.HasSuffix(f.Typed(), name)
	switch {
	case f == nil || !f.given:
		text = command + ": " + text
	case same && strings.HasPrefix(rest, ":"):
		text = f.Typed() + rest
	case same && len(rest) > 1 && strings.IndexByte(`"+-0123456789`, rest[1]) >= 0: // a value
		text = f.with(rest[1:])
	default:
		text = f.Typed() + ": " + text
	}
	return &exit.Error{Code: exit.Usage, Err: fault.As(err, text)}
}

// foreignFlags maps flags of other programs, with - for _ and perhaps with a value, to the words that
// say the same here; %s is the value. Flags that say it with one flag of ours are in package suggest.
var foreignFlags = map[string]string{
	"remasking=low-confidence": "--sampler confidence", "remasking=random": "--sampler confidence --set score=random", // LLaDA
	"remasking":        "--sampler confidence, perhaps with --set score=random",
	"alg=maskgit-plus": "--sampler confidence --set rule=dream --set score=maskgit-plus", "alg=topk-margin": "--sampler confidence --set rule=dream --set score=margin", // Dream
	"alg=entropy": "--sampler confidence --set rule=dream --set score=entropy", "alg=origin": "--sampler tweedie",
	"alg":  "--sampler confidence --set rule=dream --set score=SCORE",
	"host": "--listen %s:PORT", // llama.cpp and vLLM
	"c":    "--length %s", "ctx-size": "--length %s", "max-model-len": "--length %s",
	"gpu": "--device cuda", "ngl": "--device cuda", "n-gpu-layers": "--device cuda", "gpu-layers": "--device cuda",
	"load-in-8bit": "--dtype int8", "load-in-4bit": "--dtype int4", "do-sample": "--temperature 1, or --temperature 0 for False", // transformers
	"api-key":  "--key-file FILE",
	"messages": "--chat TEXT", "system-prompt": "--input FILE, whose lines have messages",
}

// foreign returns what to write for a flag of another program, as it is typed, before more arguments;
// "" if it is none, or the command has no such flag.
func foreign(arg string, after []string, set Set) string {
	name, value, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if !inline && len(after) > 0 {
		value = after[0]
	}
	key := func(text string) string { return strings.ReplaceAll(text, "_", "-") }
	words := cmp.Or(foreignFlags[key(name)+"="+key(value)], foreignFlags[key(name)])
	for _, word := range strings.Fields(words) {
		if flag, ok := strings.CutPrefix(word, "--"); ok && set.Find(strings.TrimRight(flag, ",")) == nil && flag != Settings {
			return ""
		}
	}
	return strings.ReplaceAll(words, "%s", cmp.Or(value, "VALUE"))
}

// foreignCommands maps commands of other programs to ours, and to the words that say the same.
var foreignCommands = map[string]string{
	"ls": "list", "rm": "remove", "models": "mdmgen list", "complete": "mdmgen generate TEXT", "infill": "mdmgen generate --infill TEMPLATE",
	"sample": "mdmgen generate", "infer": "mdmgen generate", "eval": "mdmgen score TEXT", "lm_eval": "mdmgen score TEXT", "perplexity": "mdmgen score TEXT", "ppl": "mdmgen score TEXT",
	"benchmark": "mdmgen bench", "download": "mdmgen pull NAME", "rmi": "mdmgen remove NAME", "start": "mdmgen serve",
}

// ForeignCommand returns our name for a command of another program, or else, from mdmgen on, the words to
// type for it with its arguments; "" for any other.
func ForeignCommand(args []string) string {
	switch {
	case args[0] != "run":
		return foreignCommands[args[0]]
	case len(args) == 1 || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }):
		return "mdmgen chat NAME"
	case len(args) > 2: // as ollama has it
		return "mdmgen generate --model " + Quoted(args[1]) + " --chat " + Quoted(strings.Join(args[2:], " "))
	}
	return "mdmgen chat " + Quoted(args[1])
}
