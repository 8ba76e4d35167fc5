package match_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"mdmgen/builtin"
	"mdmgen/internal/lawstest"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
	"mdmgen/samplers/draw"
	"mdmgen/samplers/match"
	"mdmgen/samplers/rank"
	"mdmgen/tokenize"
)

// samples is the number of samples of each language: many when run by hand, also with the built-in
// network.
var (
	samples = flag.Int("samples", 2, "samples of each language and tokenizer")
	network = flag.Bool("network", false, "sample by the built-in network alone")
)

// languages are 40 patterns, each of which has texts of 12 tokens and of more.
var languages = []string{
	`.*`, `[a-z]+`, `[A-Z][a-z]+( [a-z]+)*\.`, `(yes|no|maybe)`, `[0-9]{1,30}`, `\d{3}-\d{4}`, `(\d{1,3}\.){3}\d{1,3}`, `[a-z]{2,12}@[a-z]{2,12}\.(com|org)`, `(?i)hello,? world!*`, `"[^"\\]*"`,
	`\s*\S.*`, `[^aeiou]*`, `(the |a )?[a-z]{3,9}s?`, `(ab|ba)+c?`, `x{6,40}`, `[αβγδ]+`, `\p{L}+`, `(?s).{4,}`, `[一-龥]{1,9}`, `([😀-😎]|ok)+`,
	`\+?[0-9 ()-]{6,20}`, `https?://[a-z]+(\.[a-z]+)+(/[\w.-]*)*`, `#[0-9a-f]{6}`, `20[0-9]{2}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])`, `([01][0-9]|2[0-3]):[0-5][0-9]`, `(\w+, )*\w+ and \w+`, `-?\d+(\.\d+)?(e[+-]?\d+)?`, `(\(\)|\[\])*`, `a*b*c*d*`, `(a|b)*abb`,
	`.*end`, `[^\n]{6,60}\n`, `(red|green|blue)(, (red|green|blue))*`, `Once upon a time.*`, `.*(cat|dog).*(sat|ran).*`, `[ -~]{6,}`, `(SELECT|select) \w+ FROM \w+;?`, `<b>[^<]*</b>`, `- \[[ x]\] .+`, `[ÄÖÜäöüß]{1,8}`,
}

// ways returns samplers of every kind: plans, ranking decoders, blocks, remasking, corrections,
// look-ahead, guidance, temperatures, truncation and both draws.
func ways() []catalog.Options {
	temperature := func(t float64) draw.Settings { return draw.Settings{Temperature: &t} }
	return []catalog.Options{
		{}, {Sampler: "parallel-fhs", Steps: 3}, {Sampler: "tweedie", Steps: 4}, {Sampler: "spread", Steps: 3}, {Sampler: "ordered", PlanOptions: catalog.PlanOptions{Order: "right-to-left"}}, {Sampler: "euler", Steps: 40},
		{Lookahead: 4}, {By: draw.ByGumbel}, {Draw: temperature(0.5)}, {Sampler: "parallel-fhs", Steps: 2, Draw: temperature(0)}, {Sampler: "parallel-fhs", Steps: 2, Draw: draw.Settings{TopK: 3}}, {Sampler: "tweedie", Steps: 3, Draw: draw.Settings{TopP: 0.5}},
		{Sampler: "tweedie", Steps: 3, LayerOptions: catalog.LayerOptions{BlockLength: 5}}, {Sampler: "remdm", Steps: 6}, {Sampler: "parallel-fhs", Steps: 3, LayerOptions: catalog.LayerOptions{Correct: "gibbs:2x3"}}, {LayerOptions: catalog.LayerOptions{Guidance: 0.5}},
		{Sampler: "confidence", Steps: 4}, {Sampler: "confidence", Steps: 4, Draw: temperature(0)}, {Sampler: "confidence", Steps: 4, Draw: temperature(0.7)}, {Sampler: "confidence", Steps: 4, RankOptions: catalog.RankOptions{Score: rank.ByMargin}, LayerOptions: catalog.LayerOptions{BlockLength: 6}},
		{Sampler: "threshold", RankOptions: rank.Options{Threshold: 0.3}}, {Sampler: "entropy-bounded"}, {Sampler: "factor", Draw: temperature(0)}, {Sampler: "confidence", Steps: 5, RankOptions: rank.Options{AlgTemp: 0.5, Score: rank.ByEntropy}},
		{Sampler: "confidence", Steps: 4, RankOptions: rank.Options{Score: rank.ByRandom}}, {Sampler: "localleap"}, {Sampler: "llada2", LayerOptions: catalog.LayerOptions{BlockLength: 4}},
	}
}

func words(t testing.TB, name string) *tokenize.Tokenizer {
	if name == "builtin" {
		return reftest.Must(tokenize.Open(t.Context(), reftest.Builtin(t)))(t)
	}
	return reftest.Must(tokenize.Parse(name, reftest.Gunzip(t, reftest.Shared(t, "reference", "tokenizers", name+".tokenizer.json.gz"))))(t)
}

// TestAllMatch draws texts of every language with every kind of sampler, on canvases with and
// without given text, and checks each with package regexp or a library for JSON schemas.
func TestAllMatch(t *testing.T) {
	reftest.Long(t)
	t.Parallel()
	for _, name := range []string{"builtin", "gpt2", "llada-like"} {
		words := words(t, name)
		texts := reftest.Must(words.Texts())(t)
		_, end, err := words.Frame()
		reftest.OK(t, err)
		v := match.NewVocabulary(texts, end)
		var net samplers.Network = &lawstest.HashNet{Vocabulary: draw.Vocabulary{Columns: len(texts), Mask: len(texts)}}
		if *network {
			if name != "builtin" {
				break
			}
			m, _, err := builtin.Open(t.Context())
			reftest.OK(t, err)
			net = m
		}
		mask := net.Spec().Mask
		n := *samples
		if name != "builtin" {
			n = max(n/24, 1)
		}
		number := 0
		check := func(language, pattern string, lengths []int, matches func(string) error) {
			if number++; n == 1 && number%15 != 0 {
				return // only a few for a large vocabulary, unless many are requested
			}
			l := reftest.Must(v.Language(t.Context(), pattern))(t, language)
			for k := range n {
				r := rand.New(rand.NewPCG(uint64(k), uint64(len(language))))
				o := ways()[(k+len(language))%len(ways())]
				o.Match = []match.Rule{{Language: l}}
				length := lengths[k/6%len(lengths)]
				canvas := slices.Repeat([]int{mask}, length)
				if k%3 > 0 {
					canvas = slices.Concat([]int{5, 6, 7}, canvas, []int{8, 9}[:k%2*2])
				}
				s := reftest.Must(catalog.New(o, net.Spec()))(t, language)
				_, err = samplers.Sample(t.Context(), net, slices.Values([]samplers.Sequence{{Canvas: canvas}}), samplers.Config{Method: s, Seed: r.Uint64()}, func(got samplers.Result) error {
					from := slices.Index(canvas, mask)
					ids := got.IDs[from : from+length]
					if i := slices.Index(ids, end); i >= 0 {
						if slices.ContainsFunc(ids[i:], func(id int) bool { return id != end }) {
							return fmt.Errorf("%v goes on behind its end", ids)
						}
						ids = ids[:i]
					}
					text, err := words.Decode(ids)
					if err == nil {
						err = matches(text)
					}
					return err
				})
				reftest.OK(t, err, name, language, s)
			}
		}
		for _, pattern := range languages {
			want := regexp.MustCompile(`\A(?:` + pattern + `)\z`)
			check(pattern, pattern, []int{45, 12, 16, 24}, func(text string) error {
				if !want.MatchString(text) {
					return fmt.Errorf("%q does not match", text)
				}
				return nil
			})
		}
		t.Logf("%s: %d samples of each of %d patterns match", name, n, len(languages))
		for _, text := range schemas(t) {
			pattern := reftest.Must(match.Schema([]byte(text)))(t)
			c := jsonschema.NewCompiler()
			reftest.OK(t, c.AddResource("schema.json", reftest.Must(jsonschema.UnmarshalJSON(strings.NewReader(text)))(t)))
			want := reftest.Must(c.Compile("schema.json"))(t)
			check(text, pattern, []int{45}, func(doc string) error {
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(doc))
				if err == nil {
					err = want.Validate(value)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", doc, err)
				}
				return nil
			})
		}
	}
}

// TestWordPiece checks that a tokenizer in which the text of a token depends on its neighbours is
// rejected by name.
func TestWordPiece(t *testing.T) {
	t.Parallel()
	_, err := words(t, "bert-base-uncased").Texts()
	reftest.Fails(t, err, "WordPiece token depends on its neighbours")
}

// schemas returns the schemas of testdata, one per line.
func schemas(t testing.TB) []string {
	return strings.Split(strings.TrimSpace(string(reftest.Must(os.ReadFile("testdata/schemas.jsonl"))(t))), "\n")
}
