package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"mvdan.cc/sh/v3/shell"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
	"mdmgen/samplers"
	"mdmgen/samplers/catalog"
)

// A flip is a pair of command lines that differ in one flag.
type flip struct {
	command string
	// base are the flags of both; on are added in the second.
	base, on []string
	stdin    string
	flag     *kit.Flag
}

// volatile matches the parts of a record that differ between equal runs.
var volatile = regexp.MustCompile(`"(started|network|sampling|total|effective|in_step|seconds|seconds_per_call|peak_bytes)": ?("[^"]*"|[-+.e0-9]+)|calls, [-+.e0-9]+ s`)

// timeless returns a record, or several, without the parts that differ between equal runs.
func timeless(s string) string { return volatile.ReplaceAllString(s, "") }

// TestEveryFlagHasAnEffect sets every flag of every command and requires the
// results, the message or the exit status to change. A flag without an entry
// in testdata/flags.txt fails the test.
func TestEveryFlagHasAnEffect(t *testing.T) {
	needRuntime(t)
	tinyHub(t).Use(t)
	mustRun(t, "", "pull", "test/mdlm")
	flips := readFlips(t)
	var bases sync.Map // results of base command lines: each is run twice, once for all flags
	for _, c := range testApp().Commands {
		for _, f := range c.Flags {
			name := c.Name + " " + f.Name
			if elsewhere.MatchString(name) || f.Name == kit.Settings {
				continue // Rare flags are tested as flags here.
			}
			if f.Rare && c.Name != "generate" && (slices.ContainsFunc(catalog.AllOptions(), func(o samplers.Option) bool { return o.Name == f.Name }) || f.Name == "profile") {
				continue // One function reads the settings of samplers for all commands.
			}
			fl, ok := flips[name]
			if !ok {
				t.Errorf("flag %s: no entry says what it changes", name)
				continue
			}
			t.Run(strings.ReplaceAll(name, " ", "/"), func(t *testing.T) {
				t.Parallel()
				fl.check(t, &bases)
			})
		}
	}
}

// readFlips reads testdata/flags.txt into a map by command and flag.
func readFlips(t *testing.T) map[string]flip {
	t.Helper()
	data := reftest.Must(filepath.Abs(filepath.Join("..", "..", "..", "testdata")))(t)
	folders := map[string]string{"DATA": data, "DIR": t.TempDir(), "W": worldFile(t, "xor3-mixed"), "BUILTIN": filepath.Join(data, "..", "builtin", "fairytale")}
	for name, path := range map[string]string{"MDLM": "reference/checkpoints/mdlm", "TRAINED": "reference/checkpoints/mdlm-lightning-timecond", "LETTERS": "tokenizers/letters.json"} {
		folders[name] = filepath.Join(data, filepath.FromSlash(path))
	}
	copies := map[string]string{
		filepath.Join("spelled", "config.json"): filepath.Join(folders["MDLM"], "config.json"), filepath.Join("spelled", "model.safetensors"): filepath.Join(folders["MDLM"], "model.safetensors"),
		filepath.Join("spelled", "tokenizer.json"): folders["LETTERS"], filepath.Join("talk", "tokenizer.json"): filepath.Join(folders["BUILTIN"], "tokenizer.json"),
	}
	archive := txtar.Parse([]byte(readAll(t, filepath.Join(data, "flags.txt"))))
	for to, from := range copies {
		archive.Files = append(archive.Files, txtar.File{Name: to, Data: []byte(readAll(t, from))})
	}
	reftest.OK(t, txtar.Write(archive, folders["DIR"]))
	mustRun(t, "", "generate", "--model", folders["W"], "--seed", "1", "-n", "20", "--format", "ids", "--trace", filepath.Join(folders["DIR"], "run.jsonl"))
	fields := func(text string) []string {
		list, err := shell.Fields(text, func(name string) string { return folders[name] })
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v", text, err)
		}
		return list
	}
	flips := make(map[string]flip)
	for line := range strings.Lines(string(archive.Comment)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(line, " | ")
		base := fields(parts[0])
		fl := flip{command: base[0], base: base[1:]}
		if last := base[len(base)-1]; strings.HasPrefix(last, "<") {
			fl.base, fl.stdin = base[1:len(base)-1], last[1:]+"\n"
		}
		for _, on := range parts[1:] {
			fl.on = fields(on)
			name := strings.TrimLeft(fl.on[0], "-")
			set := testApp().Find(fl.command).Flags
			if fl.flag = set.Named(name); name == kit.Settings {
				key, _, _ := strings.Cut(fl.on[1], "=")
				fl.flag = set.Find(key)
			}
			if fl.flag == nil {
				t.Fatalf("%s has no flag %v", fl.command, fl.on)
			}
			flips[fl.command+" "+fl.flag.Name] = fl
		}
	}
	return flips
}

// elsewhere matches the flags with tests of their own: for serve those in its package; TestOffline;
// TestVerifyDigest, TestPullDamaged; TestShards; TestResume, TestSampleLines; TestBenchMaxTime;
// TestConvertRecord; TestTraceTop; TestKeep; TestVerbosityOfAll; in TestScripts generate,
// groups, hub and shards. What chat takes as generate does is tested there.
var elsewhere = regexp.MustCompile(`^((generate|verify|score|bound|bench|schedule|read) offline|.* (verify-digest|shard|verbosity|config)|generate (resume|record|watch|keep|colors|trace-top|window)|chat (colors|keep|grid|window|threads|cache.*|fact|sidecar|weights|lookahead|model|offline|stop|tokenizer)|merge .*|remove .*|serve .*|bench max-time|convert ([^o]|o[^u]).*)$`)

// refusals maps flags that can only fail here, without a GPU, another runtime or a network, or with
// a checkpoint's own reference, to their errors.
var refusals = map[string]string{
	"runtime": "empty", "device": "cuda", "against-device": "cuda", "tf32": "--device cuda", "offline": "offline", "cuda": "CUDA 13",
	"verify sidecar": "mask_token_id is 130, the model's is 3",
}

// echoed lists flags that do not change results: only the record shows them.
var echoed = map[string]bool{"threads": true, "bound batch": true, "verify batch": true, "generate audit": true, "bench warmup": true}

// asides matches fields of records that differ between equal runs, or that are settings.
var asides = regexp.MustCompile(`^(provenance|settings|started|peak_bytes|network|sampling|rest|total|effective|in_step)$|seconds|per_second`)

// withoutSettings returns the numbers, ids and texts of a record, without the field of a flag: the
// output of a program that parses its flags but ignores them. Other output is returned whole.
func withoutSettings(out, flag string) string {
	var strip func(v any) any
	strip = func(v any) any {
		switch v := v.(type) {
		case map[string]any:
			for name, x := range v {
				text, isText := x.(string)
				switch {
				case asides.MatchString(name) || name == strings.ReplaceAll(flag, "-", "_"):
					delete(v, name)
				case isText && name != "text":
					if _, err := strconv.ParseFloat(text, 64); err != nil { // inf is a number
						delete(v, name)
					}
				default:
					v[name] = strip(x)
				}
			}
		case []any:
			for i := range v {
				if v[i] = strip(v[i]); reflect.TypeOf(v[i]) == reflect.TypeOf("") {
					v[i] = nil
				}
			}
		}
		return v
	}
	var all strings.Builder
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
		var v map[string]any
		if d.Decode(&v) != nil {
			return timeless(out)
		}
		line, _ := json.Marshal(strip(v))
		all.Write(append(line, '\n'))
	}
	return all.String()
}

func (f flip) check(t *testing.T, bases *sync.Map) {
	type outcome struct {
		stdout, stderr string
		code           int
	}
	run := func(args []string) outcome {
		stdout, stderr, code := runCommand(t, f.stdin, append([]string{f.command}, args...)...)
		return outcome{stdout, stderr, code}
	}
	obeyed := func(o outcome) bool { return o.code == exit.OK || o.code == exit.Invalid }
	key := fmt.Sprintf("%q", append([]string{f.command, f.stdin, fmt.Sprint(f.flag.Name == "seed")}, f.base...))
	known, _ := bases.LoadOrStore(key, sync.OnceValue(func() outcome {
		base := run(f.base)
		if again := run(f.base); withoutSettings(again.stdout, "") != withoutSettings(base.stdout, "") && f.flag.Name != "seed" {
			t.Errorf("%v differs from itself:\n%s\n%s", f.base, base.stdout, again.stdout)
		}
		return base
	}))
	with := slices.Clone(f.base)
	for i := range f.on { // The flag replaces the one in the base.
		if at := slices.Index(with, f.on[i]); at >= 0 && strings.HasPrefix(f.on[i], "--") && f.on[i] != "--"+kit.Settings && i+1 < len(f.on) {
			with = slices.Delete(with, at, at+2)
		}
	}
	base, on := known.(func() outcome)(), run(append(with, f.on...))
	switch {
	case f.flag.Writes:
		if info, err := os.Stat(f.on[1]); err != nil || !obeyed(on) || info.Size() == 0 {
			t.Errorf("%v writes nothing: %v, %s", f.on, err, on.stderr)
		}
	case !obeyed(on):
		if says := refusals[f.flag.Name] + refusals[f.command+" "+f.flag.Name]; says == "" || !strings.Contains(on.stderr, says) {
			t.Errorf("%v %v is refused: %s", f.on, f.base, on.stderr)
		}
	case echoed[f.flag.Name] || echoed[f.command+" "+f.flag.Name]:
		if record := regexp.MustCompile(fmt.Sprintf(`"?%s"?:? *%s\b`, f.flag.Name, f.on[len(f.on)-1])); !record.MatchString(on.stdout) {
			t.Errorf("%v is in no record: %s", f.on, on.stdout)
		}
	case withoutSettings(on.stdout, f.flag.Name) == withoutSettings(base.stdout, f.flag.Name):
		t.Errorf("%v changes nothing of %v:\n%.2000s", f.on, f.base, withoutSettings(on.stdout, f.flag.Name))
	}
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	reftest.OK(t, os.WriteFile(path, []byte(content), 0o644))
}

func readAll(t testing.TB, path string) string {
	t.Helper()
	return string(reftest.Must(os.ReadFile(path))(t))
}

// pairsFile writes a profile with interactions alone.
func pairsFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pairs.json")
	writeFile(t, path, `{"schema":"mdmgen.profile/2","interactions":{"lambda":[0.5,1],"distance":[1,2],"nats":[[0.05,0.3],[0.1,0.5]],"from":"samples","positions":3,"sequences":2,"calls":3}}`)
	return path
}

// TestRefusalsInOrder checks that of two invalid flags the same one is reported in every run.
func TestRefusalsInOrder(t *testing.T) {
	for range 12 {
		_, stderr, _ := runCommand(t, "", "generate", "--length", "4", "--steps", "2", "--set", "eta=0.1")
		if !strings.Contains(stderr, "eta: the sampler fhs does not use it") {
			t.Fatal(stderr)
		}
	}
}
