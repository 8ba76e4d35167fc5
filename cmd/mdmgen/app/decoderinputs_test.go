package app

import (
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestDecoderInputs checks that an impossible setting of a decoder is rejected before anything is
// sampled, in one line that names it and the remedy.
func TestDecoderInputs(t *testing.T) {
	t.Parallel()
	world := worldFile(t, "xor3-mixed") // three positions of two tokens, with MASK 2
	const usage, none, failure = exit.Usage, exit.Missing, exit.Failure
	for _, test := range []struct {
		args string
		code int
		want string // parts of the line, from the setting to the remedy
	}{
		{"--sampler confidnce", usage, "--sampler confidnce: must be one of … did you mean confidence?"},
		{"--sampler confidence --set score=luck", usage, "--set score=luck: must be one of confidence, maskgit-plus, margin, entropy, random"},
		{"--sampler threshold --set score=entropy", usage, `score "entropy": must be confidence, maskgit-plus or margin`},
		{"--sampler confidence --set rule=fast-dllm", usage, "--set rule=fast-dllm: must be one of llada, dream, dllm"},
		{"--sampler threshold --set rule=llada", usage, `rule "llada": must be dream or dllm`},
		{"--sampler threshold --steps 4", usage, "--steps: … does not use it without --set rule"},
		{"--sampler confidence --set schedule=cosine", usage, "--set schedule: … does not use it with --set rule=llada"},
		{"--sampler confidence --set rule=dllm --set schedule=linea", usage, "--set schedule=linea: … did you mean linear?"},
		{"--sampler confidence --set transfer=binomial", usage, "--set transfer: … does not use it with --set rule=llada"},
		{"--sampler confidence --set eps=0.1", usage, "--set eps: … does not use it with --set rule=llada"},
		{"--sampler confidence --set rule=dream --set eps=0", usage, "--set eps=0: must be a number above 0 and at most 1"},
		{"--sampler confidence --set alg-temp=-1", usage, "--set alg-temp=-1: must be a finite number above 0"},
		{"--sampler confidence --set score=random --set alg-temp=1", usage, "--set alg-temp: … does not use it with --set score=random"},
		{"--sampler threshold --threshold 1.5", usage, "--threshold 1.5: must be a number above 0 and at most 1"},
		{"--sampler threshold --set relaxed-threshold=0.5", usage, "--set relaxed-threshold: the sampler threshold does not use it; localleap does"},
		{"--sampler factor --set factor=nan", usage, "--set factor=nan: must be a finite number above 0"},
		{"--sampler localleap --set radius=1.5", usage, "--set radius=1.5: write the number in decimal … a whole number in 1.."},
		{"--sampler entropy-bounded --set gamma=inf", usage, "--set gamma=inf: must be a finite number of at least 0"},
		{"--sampler llada2 --set post-steps=3", usage, "--set post-steps: … does not use it without --set editing-threshold"},
		{"--sampler llada2 --set editing-threshold=0.5 --steps 9", usage, "--steps: … does not use it with --set editing-threshold"},
		{"--sampler llada2 --set at-least=0", usage, "--set at-least=0: must be a whole number in 1.."},
		{"--sampler confidence --block-length 0", usage, "--block-length 0: must be a whole number in 1.."},
		{"--sampler confidence --set prompt-length=2", usage, "--set prompt-length: … does not use it without --block-length"},
		{"--sampler confidence --block-length 2 --set prompt-length=9", usage, "the prompt has 9 positions, but the canvas has 3: lower prompt-length"},
		{"--sampler confidence --set reach=inside", usage, "--set reach: … does not use it without --block-length"},
		{"--block-length 2 --stop 99", usage, "stop: id 99: must be a token in 0..1 and not the mask"},
		{"--block-length 2 --stop 2", usage, "stop: id 2: must be a token in 0..1 and not the mask"},
		{"--block-length 2 --stop 99999999999999999999", usage, "--stop 99999999999999999999: must be a whole number in 0.."},
		{"--stop 1", usage, "--stop: … does not use it without --block-length"},
		{"--guidance 1e38", usage, "--guidance 1e38: must be a number of at least -1 and at most 1e+06"},
		{"--guidance -2", usage, "--guidance -2: must be a number of at least -1"},
		{"--set keep-tokens=1", usage, "--set keep-tokens: … does not use it without --guidance"},
		{"--guidance 1 --set unconditional=all", usage, "--set unconditional=all: must be one of visible, prompt"},
		{"--guidance 1 --set keep-tokens=1,9", usage, "keep-tokens: id 9: must be in 0..1"},
		{"--guidance 1 --set negative-tokens=1", usage, "the negative prompt has … shorten it, or give a longer prompt"},
		{"--set negative=king", usage, "--set negative: … add --guidance W"},
		{"--guidance 1 --set negative=a --set negative-tokens=1", usage, "--set negative and --set negative-tokens … use one"},
		{"--set suppress-tokens=0,1", usage, "no token is left to be drawn"},
		{"--set suppress-tokens=7", usage, "suppress-tokens: id 7: must be in 0..1"},
		{"--set suppress-tokens=1,,0", usage, "suppress-tokens: must be a list of ids"},
		{"--set begin-suppress-tokens=1", usage, "--set begin-suppress-tokens: the sampler fhs does not use it; confidence, threshold"},
		{"--set bad-words-ids=1,,0", usage, "a word without tokens: separate the ids of a word by blanks, and words by commas"},
		{"--set bad-words-ids=0,1", failure, "every token has probability 0 or is banned: ban fewer tokens"},
		{"--bad-words king", none, "a text needs a tokenizer: … give one with --tokenizer"},
		{"--set min-length=2", usage, "min-length 2: … give stop too"},
		{"--set max-length=9", usage, "--set max-length: … does not use it without --block-length"},
		{"--set max-length=9 --block-length 1", usage, "max-length 9: the model takes canvases of exactly 3 positions, which cannot grow: leave it out"},
		{"--set correct=gibbs", usage, `correct "gibbs": must be gibbs:MxN`},
		{"--set correct=gibbs:1x1e9", usage, `correct "gibbs:1x1e9": must be gibbs:MxN, M positions in each of N calls, both whole numbers in 1..`},
		{"--sampler confidence --set columns=raw --set correct=gibbs:1x1", usage, "--set correct: … does not use it with --set columns"},
		{"--sampler remdm --set remask=all", usage, "--set remask=all: must be one of cap, rescale, conf, loop, forward-backward, dfm"},
		{"--sampler remdm --set remask=conf --set eta=0.1", usage, "--set eta: … does not use it with --set remask=conf"},
		{"--sampler remdm --set eta=2", usage, "eta 2: is a probability in remdm: must be at most 1"},
		{"--sampler remdm --set remask=loop --set t-on=0.1 --set t-off=0.5", usage, "must be 0 < t-off < t-on < 1"},
		{"--sampler p2 --set eta=0", usage, "--set eta=0: must be a finite number above 0"},
		{"--sampler p2 --set rule=llada", usage, "--set rule: the sampler p2 does not use it; confidence, threshold, factor do"},
		{"--sampler remdm --lookahead 3", usage, "--lookahead: the sampler remdm does not use it; fhs"},
		{"--sampler confidence --lookahead 3", usage, "lookahead: ranking decoders support look-ahead only at temperature 0"},
		{"--sampler klass --set history=0", usage, "--set history=0: must be a whole number in 1.."},
		{"--sampler wino --set threshold-back=2", usage, "--set threshold-back=2: must be"},
		{"--sampler confidence --particles 2", usage, "particles: not with confidence"},
		{"--particles 2 --temperature 0", usage, "particles: not with temperature 0"},
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
