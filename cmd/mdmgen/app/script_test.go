package app

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mdmgen/builtin"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/internal/cachedir"
	"mdmgen/internal/exit"
	"mdmgen/internal/hubtest"
	"mdmgen/internal/orttest"
	"mdmgen/internal/reftest"
	"mdmgen/model"
)

func TestMain(m *testing.M) {
	if os.Getenv("HF_ENDPOINT") == "" {
		os.Setenv("HF_HUB_OFFLINE", "1") // Tests query only their own hubs.
	}
	os.Setenv("MDMGEN_THREADS", "1") // Other packages' tests run concurrently, and waiting threads spin.
	testscript.Main(tests{m}, map[string]func(){"mdmgen": func() {
		code := Main()
		tellPeak()
		os.Exit(code)
	}})
}

// noRuntime returns the reason why no network can run here, nil if one can. It
// fetches a missing ONNX Runtime, as the program does.
var noRuntime = sync.OnceValue(func() error {
	m, err := model.Open(context.Background(), setup.BuiltinName, model.Options{Builtins: setup.Builtins()})
	if err != nil {
		return err
	}
	return m.Close()
})

// needRuntime skips a test if ONNX Runtime is neither found nor fetched, and
// fails it for any other reason.
func needRuntime(t testing.TB) {
	t.Helper()
	err := noRuntime()
	orttest.Need(t, err)
	reftest.OK(t, err)
}

// TestScripts runs the command lines of testdata/script: after exec and status as processes, after
// run and exitcode in this one. W is a small world, DATA the folder testdata, BUILTIN the folder of
// the built-in model, DIGEST its digest. Each has a hub of its own, whose cache is the folder hub.
func TestScripts(t *testing.T) {
	needRuntime(t)
	cache := reftest.Must(cachedir.Path())(t)
	data := reftest.Must(filepath.Abs(filepath.Join("..", "..", "..", "testdata")))(t)
	built, world := reftest.Builtin(t), worldFile(t, "xor3-mixed")
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join(data, "script"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("MDMGEN_CACHE", cache)
			e.Setenv("MDMGEN_THREADS", os.Getenv("MDMGEN_THREADS"))
			e.Setenv("HF_HUB_OFFLINE", "1")
			e.Setenv("DATA", data)
			e.Setenv("W", world)
			e.Setenv("BUILTIN", built)
			e.Setenv("DIGEST", builtin.Digest)
			hub, end := hubtest.Start(make(map[string]*hubtest.Repo))
			e.Defer(end)
			e.Values["hub"] = hub
			e.Setenv("HF_ENDPOINT", hub.URL)
			e.Setenv("HF_HUB_CACHE", filepath.Join(e.WorkDir, "hub"))
			e.Setenv("HF_HOME", e.WorkDir)
			return nil
		},
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run":      runs,
			"exitcode": exitCodeIs(false),
			"status":   exitCodeIs(true),
			"oneline":  oneLine,
			"hub":      addRepo,
			"asked":    asked,
			"forget":   func(ts *testscript.TestScript, _ bool, _ []string) { hubOf(ts).Forget() },
		},
	})
}

// runs runs mdmgen in this process. It must succeed, or fail after a "!".
func runs(ts *testscript.TestScript, neg bool, args []string) {
	if _, stderr, code := runThere(ts, args); (code != exit.OK) != neg {
		ts.Fatalf("mdmgen %s: exit status %d: %s", strings.Join(args, " "), code, stderr)
	}
}

// exitCodeIs runs mdmgen with the arguments after the first and requires the exit status that the
// first names, nothing on standard output, and one line on standard error unless the status is 0 or
// 3. With process set it runs mdmgen as a process.
func exitCodeIs(process bool) func(ts *testscript.TestScript, neg bool, args []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg || len(args) < 2 {
			ts.Fatalf("usage: exitcode N ARGUMENTS")
		}
		want, args, got := args[0], args[1:], "0"
		var stdout, stderr string
		if process {
			if err := ts.Exec("mdmgen", args...); err != nil {
				got = strings.TrimPrefix(err.Error(), "exit status ")
			}
			stdout, stderr = ts.ReadFile("stdout"), ts.ReadFile("stderr")
		} else {
			code := 0
			stdout, stderr, code = runThere(ts, args)
			got = strconv.Itoa(code)
		}
		if got != want {
			ts.Fatalf("mdmgen %s: exit status %s, want %s", strings.Join(args, " "), got, want)
		}
		if got != "0" {
			checkOneLine(ts, args, stdout, stderr, got != "3")
		}
	}
}

// there guards the working folder and the environment, which are those of a script while it is
// held.
var there sync.Mutex

// runThere runs a command line in this process with the folder and environment of a script. If the
// last argument is <FILE, that file is standard input.
func runThere(ts *testscript.TestScript, args []string) (stdout, stderr string, code int) {
	there.Lock()
	defer there.Unlock()
	names := []string{"HOME", "HF_ENDPOINT", "HF_HUB_CACHE", "HF_HOME", "MDMGEN_CACHE", "MDMGEN_MODEL", "MDMGEN_TOKENIZER"}
	for _, set := range os.Environ() {
		if name, _, _ := strings.Cut(set, "="); strings.HasPrefix(name, "MDMGEN_") || strings.HasPrefix(name, "HF_") || strings.HasPrefix(name, "XDG_") {
			names = append(names, name)
		}
	}
	for _, name := range names {
		before, had := os.LookupEnv(name)
		os.Setenv(name, ts.Getenv(name))
		defer func() {
			if os.Setenv(name, before); !had {
				os.Unsetenv(name)
			}
		}()
	}
	before, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(before)) }()
	stdin := ""
	if last := len(args) - 1; strings.HasPrefix(args[last], "<") {
		stdin, args = ts.ReadFile(args[last][1:]), args[:last]
	}
	stdout, stderr, code = runReader(strings.NewReader(stdin), args...)
	io.WriteString(ts.Stdout(), stdout)
	io.WriteString(ts.Stderr(), stderr)
	return stdout, stderr, code
}

func hubOf(ts *testscript.TestScript) *hubtest.Server { return ts.Value("hub").(*hubtest.Server) }

// addRepo adds a repository with the files of a folder to the hub, which may then be asked.
func addRepo(ts *testscript.TestScript, _ bool, args []string) {
	repo, err := hubtest.Read(os.DirFS(ts.MkAbs(args[1])))
	ts.Check(err)
	hubOf(ts).Set(args[0], repo)
	ts.Setenv("HF_HUB_OFFLINE", "")
}

// asked requires that the hub was asked, since the last forget, for a path that matches a pattern.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	pattern := regexp.MustCompile(args[0])
	if slices.ContainsFunc(hubOf(ts).Requests(), func(r hubtest.Request) bool { return pattern.MatchString(r.Path) }) == neg {
		ts.Fatalf("the hub was asked for %v", hubOf(ts).Requests())
	}
}

// oneLine requires that the last command printed one line on standard error.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	checkOneLine(ts, args, "", ts.ReadFile("stderr"), false)
}

func checkOneLine(ts *testscript.TestScript, args []string, stdout, stderr string, silent bool) {
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "mdmgen: ") || strings.Contains(stderr, "goroutine") {
		ts.Fatalf("mdmgen %s: want one line on standard error, got %q", strings.Join(args, " "), stderr)
	}
	if silent && stdout != "" {
		ts.Fatalf("mdmgen %s: printed %q before it failed", strings.Join(args, " "), stdout)
	}
}

// runCommand runs a command line in this process.
func runCommand(t testing.TB, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return runReader(strings.NewReader(stdin), args...)
}

// runReader runs a command line in this process with any standard input.
func runReader(stdin io.Reader, args ...string) (stdout, stderr string, code int) {
	var out, errs strings.Builder
	code = Run(context.Background(), append([]string{"mdmgen"}, args...), stdin, &out, &errs)
	return out.String(), errs.String(), code
}

// mustRun runs a command line that must succeed.
func mustRun(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	stdout, stderr, code := runCommand(t, stdin, args...)
	if code != exit.OK {
		t.Fatalf("mdmgen %s: exit status %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// refused runs a command line that must exit with a status, print one line with want on standard
// error and nothing on standard output. It returns the line.
func refused(t testing.TB, status int, want string, args ...string) string {
	t.Helper()
	stdout, stderr, code := runCommand(t, "", args...)
	if code != status || stdout != "" || !strings.HasPrefix(stderr, "mdmgen: ") || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("mdmgen %s: exit status %d, want %d and %q: %s%s", strings.Join(args, " "), code, status, want, stdout, stderr)
	}
	return stderr
}

// lettersFile is a tokenizer small enough for the tiny networks of testdata.
var lettersFile = filepath.Join("..", "..", "..", "testdata", "tokenizers", "letters.json")

// tinyModel is a tiny network, whose ids lettersFile has.
var tinyModel = filepath.Join("..", "..", "..", "testdata", "reference", "checkpoints", "mdlm")

// worldFile writes the tables of a reference world to a file, without the laws of samplers: all
// commands read the file, and these are most of it.
func worldFile(t testing.TB, name string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	reftest.OK(t, json.Unmarshal([]byte(readAll(t, reftest.Data(t, "reference", "laws", name+".json"))), &fields))
	maps.DeleteFunc(fields, func(k string, _ json.RawMessage) bool {
		return !slices.Contains([]string{"schema", "name", "d", "V", "q0", "mu_kind", "mu0"}, k)
	})
	path := filepath.Join(t.TempDir(), name+".json")
	writeFile(t, path, string(reftest.Must(json.Marshal(fields))(t)))
	return path
}

// testApp returns the program with its commands and flags.
func testApp() *kit.App { return newApp(&kit.Verbosity{}) }
