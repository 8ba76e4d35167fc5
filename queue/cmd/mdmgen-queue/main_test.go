package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	mdmgen "mdmgen/cmd/mdmgen/app"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// TestMain runs the program itself if a test asks for it.
func TestMain(m *testing.M) {
	if os.Getenv("MDMGEN_QUEUE_PROCESS") != "" {
		main()
	}
	os.Exit(m.Run())
}

// TestMistakes checks that usage errors are reported before a server is started, with exit status
// 2.
func TestMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"frob":                            `unknown command "frob"`,
		"--frob":                          "frob",
		"fetch x":                         "fetch: takes no arguments",
		"remove x":                        "remove: takes no arguments",
		"status --nats nats://a:secret/x": "--nats: not an address",
		"status --ack-wait 3s":            "ack-wait",
		"status --creds x":                "--creds is for the server of --nats",
		"work --workers 0":                "work: --workers must be at least 1",
		"submit":                          "give the command after --",
		"submit --shards -1 -- score x":   "submit: --shards must be at least 1",
		"submit --shards 0 -- score x":    "submit: --shards must be at least 1",
		"submit --ack-wait 1ns -- score":  "--ack-wait must be at least 1s",
		"submit --deliveries 0 -- score":  "--deliveries must be at least 1",
		"submit -o x -- score y":          "-o needs --workers",
		"fetch --store a --nats nats://b": "--store",
	} {
		err := run(line)
		if exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	for line, want := range map[string]string{
		"status": "nothing was submitted here: folder mdmgen-queue.d does not exist",
		"submit --workers 1 -o nowhere/x -- score y":    "-o nowhere/x: cannot write there: no such file or directory",
		"status --nats nats://b --creds nowhere/a.cred": "--creds nowhere/a.cred: no such file or directory",
	} {
		if err := run(line); exit.Code(err) != exit.Failure || err.Error() != want {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
	if made := reftest.Must(os.ReadDir("."))(t); len(made) > 0 {
		t.Errorf("%v was made", made)
	}
}

func run(line string) error {
	return app(&mdmgen.StandardOutput{W: os.Stderr}).Run(append([]string{"mdmgen-queue"}, strings.Fields(line)...))
}

// TestResultsNobodyGets checks that a closed or full standard output is reported in one line, with
// exit status 1.
func TestResultsNobodyGets(t *testing.T) {
	world := reftest.Must(filepath.Abs(filepath.Join("..", "..", "..", "testdata", "reference", "laws", "xor3-mixed.json")))(t)
	t.Chdir(t.TempDir())
	t.Setenv("MDMGEN_QUEUE_PROCESS", "1")
	reftest.OK(t, os.WriteFile("t.jsonl", []byte(strings.Repeat(`{"ids":[1,0,1]}`+"\n", 40)), 0o600))
	for _, line := range []string{"submit --shards 3 --workers 1 -- score t.jsonl --seed 1 --json --model " + world, "status", "fetch", "--help", "fetch --help"} {
		for to, want := range map[string]string{">&-": "bad file descriptor", ">/dev/full": "no space left on device"} {
			var said bytes.Buffer
			c := exec.Command("bash", "-c", "exec "+os.Args[0]+" "+line+" "+to)
			c.Stderr = &said
			_ = c.Run() // Its exit status is checked below.
			last := said.String()
			if i := strings.LastIndex(strings.TrimSpace(last), "\n"); strings.HasPrefix(line, "submit") {
				last = last[i+1:] // after its progress
			}
			if c.ProcessState.ExitCode() != exit.Failure || last != "mdmgen-queue: standard output: "+want+"\n" {
				t.Errorf("%s %s: %v: %s", line, to, c.ProcessState, said.String())
			}
		}
	}
}
