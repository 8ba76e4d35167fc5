// Command figures renews the plots and tables in docs that no command of mdmgen prints: on
// certificates and Theorem 4 with the built-in network, on exact distances in a world, and
// on the quality of decoders' samples. It is run in the repository's root, for one part or for
// all:
//
//	go run ./tools/figures scaling
//
// A part takes up to several minutes of processor time. real.sh runs those on published networks,
// which need the folder that it fills:
//
//	go run ./tools/figures -packages FOLDER heavy
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"mdmgen/analysis/likelihood"
	"mdmgen/analysis/report"
	"mdmgen/builtin"
	"mdmgen/examples"
	"mdmgen/model"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/tokenize"
	"mdmgen/tools/internal/fatal"
	"mdmgen/tools/internal/marks"
)

// seed is the seed of all studies.
const seed = 1

// parts lists what is made, by name. The tables are between marks on the page, the plots in the
// folder of the same name.
var parts = []part{
	{"scaling", "certificates", scaling}, {"world", "certificates", world4}, {"gap", "theory", gap},
	{"field", "decoders", decoderField}, {"work", "decoders", work}, {"distances", "decoders", distances},
	{"caches", "caches", caches}, {"interactions", "interactions", interactions}, {"texts", "interactions", texts},
}

type part struct {
	name, page string
	make       func(context.Context, network) (plots []report.Plot, table []byte)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log.SetFlags(0)
	log.SetPrefix("figures: ")
	packages := flag.String("packages", "", "run the parts on published networks, which real.sh put into `FOLDER`")
	flag.Parse()
	if *packages != "" {
		parts = realParts(*packages)
	}
	net := open(ctx, "fairytale", "")
	defer net.Close()
	for _, part := range parts {
		if names := flag.Args(); len(names) > 0 && !slices.Contains(names, part.name) {
			continue
		}
		log.SetPrefix("figures: " + part.name + ": ")
		plots, table := part.make(ctx, net)
		folder := filepath.Join("docs", "research", part.page)
		for _, p := range plots {
			var b bytes.Buffer
			fatal.Check(p.Draw(&b, "svg", 560, 400))
			fatal.Check(os.WriteFile(filepath.Join(folder, p.Name+".svg"), b.Bytes(), 0o644))
		}
		if table == nil { // it is a file
			continue
		}
		marks.Replace(folder+".md", part.name, "go run ./tools/figures "+part.name, table)
	}
}

// network is a network with its likelihoods.
type network struct {
	model.Model
	e *likelihood.Evaluator
}

func open(ctx context.Context, name string, dtype model.Dtype) network {
	m := fatal.Must(model.Open(ctx, name, model.Options{Dtype: dtype, Builtins: []model.Builtin{{Name: "fairytale", FS: builtin.Fairytale()}}}))
	return network{m, fatal.Must(likelihood.New(m, likelihood.Options{}))}
}

// blank returns the canvas of d masks, in the network's frame if it has one.
func (n network) blank(d int) []int {
	return n.Facts().Framed(slices.Repeat([]int{n.Facts().MaskID}, d))
}

// sample draws sequences and calls each with their results.
func sample(ctx context.Context, m model.Model, canvas []int, sequences int, cfg samplers.Config, each func(samplers.Result)) (samplers.Totals, error) {
	return samplers.Sample(ctx, m, samplers.Copies(canvas, 0, sequences), cfg, func(r samplers.Result) error {
		each(r)
		return nil
	})
}

// tale returns the ids of a text on which the network was not trained.
func tale() []int {
	tok := fatal.Must(tokenize.Parse("fairytale", fatal.Must(fs.ReadFile(builtin.Fairytale(), "tokenizer.json"))))
	return fatal.Must(tok.EncodePlain(examples.Tale))
}

// markdown returns tables one below the other.
func markdown(tables ...report.Table) []byte {
	var b bytes.Buffer
	for i, t := range tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.Markdown(&b)
	}
	return b.Bytes()
}

// settings returns the samplers of a setting, as bench writes it, with each number of steps.
func settings(m model.Model, setting string, steps ...int) (out []*catalog.Sampler) {
	for _, n := range steps {
		out = append(out, fatal.Must(samplerOf(m, fmt.Sprint(setting, " steps=", n), 1)))
	}
	return out
}

// number formats a number with three digits.
func number(x float64) string { return fmt.Sprintf("%.3g", x) }
