package ort

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort/library"
)

// Tests that depend on the state of the whole process, such as the one library that it may load,
// run in a separate process: this binary again, with childVariable set.

const childVariable = "MDMGEN_ORT_TEST_CHILD"

// childReport is the output of a child.
type childReport struct {
	Error    string
	Missing  bool
	Library  library.Library
	Provider string
	Log      []string
	Live     int64
	Second   string // the error of opening with the library Again
	Report   *Report
}

// childTask is the task of a child.
type childTask struct {
	Library, Device string
	Offline         bool
	Threads         int
	Diagnose        bool
	Again           string
	// Dial connects to the network, to test the test.
	Dial bool
	// Under is a program, with arguments, that runs the child.
	Under []string `json:"-"`
	// Program is a copy of this binary to run instead.
	Program string `json:"-"`
	// In is the child's working folder.
	In string `json:"-"`
}

func TestMain(m *testing.M) {
	task := os.Getenv(childVariable)
	if task == "" {
		os.Exit(m.Run())
	}
	var c childTask
	if err := json.Unmarshal([]byte(task), &c); err != nil {
		panic(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(c.do()); err != nil {
		panic(err)
	}
}

func (c childTask) do() (r childReport) {
	search := library.Search{Library: c.Library, Offline: c.Offline, Log: func(line string) { r.Log = append(r.Log, line) }}
	cfg := Config{Search: search, Device: c.Device, Threads: c.Threads}
	if c.Dial {
		if conn, err := net.Dial("udp", "127.0.0.1:9"); err == nil {
			conn.Close()
		}
	}
	if c.Diagnose {
		d := Diagnose(cfg)
		r.Report, r.Live = &d, live.Load()
		return r
	}
	s, err := Open(context.Background(), Source{Bytes: adder()}, cfg)
	if err != nil {
		var missing *library.MissingError
		r.Error, r.Missing, r.Live = err.Error(), errors.As(err, &missing), live.Load()
		return r
	}
	z := make([]float32, 2)
	if err := s.Run(context.Background(), []Tensor{pairs("x", 1, 2), pairs("y", 3, 4)}, []Tensor{pairs("z", z...)}); err != nil {
		r.Error = err.Error()
	} else if z[0] != 4 || z[1] != 6 {
		r.Error = "wrong sum"
	}
	r.Library, r.Provider = s.Library(), s.Provider()
	if c.Again != "" {
		cfg.Library = c.Again
		if _, err := Open(context.Background(), Source{Bytes: adder()}, cfg); err != nil {
			r.Second = err.Error()
		}
	}
	if err := s.Close(); err != nil {
		r.Error = err.Error()
	}
	r.Live = live.Load()
	return r
}

// child runs a task in a separate process, with variables set ("K=V") or removed ("K="). The child
// may print only the report.
func child(t *testing.T, task childTask, environ ...string) childReport {
	t.Helper()
	data := reftest.Must(json.Marshal(task))(t)
	exe := reftest.Must(os.Executable())(t)
	command := append(slices.Clone(task.Under), cmp.Or(task.Program, exe))
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = task.In
	drop := append([]string{"MDMGEN_RUNTIME=", "MDMGEN_OFFLINE=", "VIRTUAL_ENV=", "CONDA_PREFIX="}, environ...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(drop, func(d string) bool { return strings.HasPrefix(d, key+"=") })
	})
	cmd.Env = append(cmd.Env, childVariable+"="+string(data))
	for _, kv := range environ {
		if !strings.HasSuffix(kv, "=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	reftest.OK(t, cmd.Run(), "the child ended with", stderr.String())
	if stderr.Len() > 0 {
		t.Errorf("the runtime prints to the terminal: %s", stderr.String())
	}
	var r childReport
	reftest.OK(t, json.Unmarshal(stdout.Bytes(), &r), stdout.String())
	if r.Live != 0 {
		t.Errorf("%d native objects are left", r.Live)
	}
	if strings.Contains(r.Error, "\n") {
		t.Errorf("an error of several lines: %s", r.Error)
	}
	return r
}
