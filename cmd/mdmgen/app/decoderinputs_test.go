package app

import (
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestDecoderInputs: a setting of a decoder that cannot be is refused in one line that says which,
// and what to give in its place, before anything is sampled.
func TestDecoderInputs(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed") // three positions of two tokens, MASK being 2
	const usage, none, failure = exit.Usage, exit.Missing, exit.Failure
	for _, test := range []struct {
		args string
		code int
		want string // what the line says, from the setting to the remedy
	}{
		{"--sampler confidnce", usage, "--sampler confidnce: must be one of … did you mean confidence?"},
		{"--sampler confidence --score luck", usage, "--score luck: must be one of confidence, maskgit-plus, margin, entropy, random"},
		{"--sampler threshold --score entropy", usage, `score "entropy": must be confidence, maskgit-plus or margin`},
		{"--sampler confidence --rule fast-dllm", usage, "--rule fast-dllm: must be one of llada, dream, dllm"},
		{"--sampler threshold --rule llada", usage, `rule "llada": must be dream or dllm`},
		{"--sampler threshold --steps 4", usage, "--steps: … does not use it without --rule"},
		{"--sampler confidence --schedule cosine", usage, "--schedule: … does not use it with --rule llada"},
		{"--sampler confidence --rule dllm --schedule linea", usage, "--schedule linea: … did you mean linear?"},
		{"--sampler confidence --transfer binomial", usage, "--transfer: … does not use it with --rule llada"},
		{"--sampler confidence --eps 0.1", usage, "--eps: … does not use it with --rule llada"},
		{"--sampler confidence --rule dream --eps 0", usage, "--eps 0: must be a number above 0 and at most 1"},
		{"--sampler confidence --alg-temp -1", usage, "--alg-temp -1: must be a finite number above 0"},
		{"--sampler confidence --score random --alg-temp 1", usage, "--alg-temp: … does not use it with --score random"},
		{"--sampler threshold --threshold 1.5", usage, "--threshold 1.5: must be a number above 0 and at most 1"},
		{"--sampler threshold --relaxed-threshold 0.5", usage, "--relaxed-threshold: the sampler threshold does not use it; localleap does"},
		{"--sampler factor --factor nan", usage, "--factor nan: must be a finite number above 0"},
		{"--sampler localleap --radius 1.5", usage, "--radius 1.5: write the number in decimal … a whole number in 1.."},
		{"--sampler entropy-bounded --gamma inf", usage, "--gamma inf: must be a finite number of at least 0"},
		{"--sampler llada2 --post-steps 3", usage, "--post-steps: … does not use it without --editing-threshold"},
		{"--sampler llada2 --editing-threshold 0.5 --steps 9", usage, "--steps: … does not use it with --editing-threshold"},
		{"--sampler llada2 --at-least 0", usage, "--at-least 0: must be a whole number in 1.."},
		{"--sampler confidence --block-length 0", usage, "--block-length 0: must be a whole number in 1.."},
		{"--sampler confidence --prompt-length 2", usage, "--prompt-length: … does not use it without --block-length"},
		{"--sampler confidence --block-length 2 --prompt-length 9", usage, "the prompt has 9 positions, the canvas 3: lower prompt-length"},
		{"--sampler confidence --reach inside", usage, "--reach: … does not use it without --block-length"},
		{"--block-length 2 --stop 99", usage, "stop: id 99: must be a token in 0..1 and not the mask"},
		{"--block-length 2 --stop 2", usage, "stop: id 2: must be a token in 0..1 and not the mask"},
		{"--stop 1", usage, "--stop: … does not use it without --block-length"},
		{"--guidance 1e38", usage, "--guidance 1e38: must be a number above 0 and at most 1e+06"},
		{"--guidance -1", usage, "--guidance -1: must be a number above 0"},
		{"--guidance 1 --guidance-scale 2", usage, "--guidance-scale: … does not use it with --guidance 1"},
		{"--keep-tokens 1", usage, "--keep-tokens: … does not use it without --guidance"},
		{"--guidance 1 --unconditional all", usage, "--unconditional all: must be one of visible, prompt"},
		{"--guidance 1 --keep-tokens 1,9", usage, "keep-tokens: id 9: must be in 0..1"},
		{"--guidance 1 --negative-tokens 1", usage, "the negative prompt is longer than the prompt … shorten it, or give a longer prompt"},
		{"--negative king", usage, "--negative: … add --guidance W"},
		{"--guidance 1 --negative a --negative-tokens 1", usage, "--negative and --negative-tokens … use one"},
		{"--suppress-tokens 0,1", usage, "no token is left to be drawn"},
		{"--suppress-tokens 7", usage, "suppress-tokens: id 7: must be in 0..1"},
		{"--suppress-tokens 1,,0", usage, "suppress-tokens: must be a list of ids"},
		{"--begin-suppress-tokens 1", usage, "--begin-suppress-tokens: the sampler fhs does not use it; confidence, threshold"},
		{"--bad-words-ids 1,,0", usage, "a word without tokens: separate the ids of a word by blanks, and words by commas"},
		{"--bad-words-ids 0,1", failure, "every token has probability 0, or is banned: ban less"},
		{"--bad-words king", none, "a text needs a tokenizer: … give one with --tokenizer"},
		{"--min-length 2", usage, "min-length 2: … give stop as well"},
		{"--max-length 9", usage, "--max-length: … does not use it without --block-length"},
		{"--max-length 9 --block-length 1", usage, "max-length 9: the model takes canvases of exactly 3 positions, which cannot grow: leave it out"},
		{"--fix 1", usage, `--fix "1": write POSITION:TEXT, such as 3:king`},
		{"--correct gibbs", usage, `correct "gibbs": must be gibbs:MxN`},
		{"--correct gibbs:1x1e9", usage, `correct "gibbs:1x1e9": must be gibbs:MxN, M positions in each of N calls, both whole numbers in 1..`},
		{"--sampler confidence --columns raw --correct gibbs:1x1", usage, "--correct: … does not use it with --columns"},
		{"--sampler remdm --remask all", usage, "--remask all: must be one of cap, rescale, conf, loop, forward-backward, dfm"},
		{"--sampler remdm --remask conf --eta 0.1", usage, "--eta: … does not use it with --remask conf"},
		{"--sampler remdm --eta 2", usage, "eta 2: it is a probability here: must be at most 1"},
		{"--sampler remdm --remask loop --t-on 0.1 --t-off 0.5", usage, "must be 0 < t-off < t-on < 1"},
		{"--sampler p2 --eta 0", usage, "--eta 0: must be a finite number above 0"},
		{"--sampler p2 --rule llada", usage, "--rule: the sampler p2 does not use it; confidence, threshold, factor do"},
		{"--sampler confidence --lookahead 3", usage, "--lookahead: the sampler confidence does not use it; fhs"},
	} {
		args := append([]string{"generate", "--model", world, "--format", "ids", "--seed", "1"}, strings.Fields(test.args)...)
		stdout, stderr, code := runCommand(t, "", args...)
		line, rest, _ := strings.Cut(stderr, "\n")
		if code != test.code || stdout != "" || strings.Trim(rest, "\n") != "" && code == usage {
			t.Errorf("%s: exit status %d, want %d: %q %q", test.args, code, test.code, stdout, stderr)
		}
		at := 0
		for _, part := range strings.Split(test.want, " … ") {
			i := strings.Index(line[at:], part)
			if i < 0 {
				t.Errorf("%s: %q: want %q", test.args, line, test.want)
				break
			}
			at += i + len(part)
		}
	}
}
