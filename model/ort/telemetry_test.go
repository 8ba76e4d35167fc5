package ort

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestNoTelemetry runs a network, and Diagnose, in a process with new folders: the runtime must
// leave nothing in them, and make no connections.
func TestNoTelemetry(t *testing.T) {
	lib := theLibrary(t)
	for _, named := range []bool{true, false} {
		for _, diagnose := range []bool{false, true} {
			folders := map[string]string{"HOME": t.TempDir(), "XDG_CACHE_HOME": t.TempDir(), "XDG_CONFIG_HOME": t.TempDir(), "XDG_DATA_HOME": t.TempDir(), "XDG_STATE_HOME": t.TempDir(), "TMPDIR": t.TempDir()}
			// The runtime interprets another value as consent.
			environ := []string{"ORT_DISABLE_TELEMETRY=0", "MDMGEN_CACHE=" + t.TempDir()}
			for name, dir := range folders {
				environ = append(environ, name+"="+dir)
			}
			task := childTask{Offline: true, Library: lib, Diagnose: diagnose}
			if !named {
				task.Library = ""
				environ = append(environ, "LD_LIBRARY_PATH="+filepath.Dir(lib), "DYLD_LIBRARY_PATH="+filepath.Dir(lib))
			}
			if r := child(t, task, environ...); r.Error != "" || diagnose && !r.Report.Usable {
				t.Errorf("%+v: %+v", task, r)
			}
			for name, dir := range folders {
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("named %t, diagnose %t: %s holds %v, %v", named, diagnose, name, left, err)
				}
			}
		}
	}
}

// internetCall matches a call that connects to the internet, as strace writes it.
var internetCall = regexp.MustCompile(`(?m)^.*(?:connect|sendto|sendmsg|sendmmsg)\(.*AF_INET.*$`)

// TestNoConnections traces the system calls of a process that opens and runs a network.
func TestNoConnections(t *testing.T) {
	lib := theLibrary(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace to watch with")
	}
	watched := func(task childTask) string {
		t.Helper()
		trace := filepath.Join(t.TempDir(), "trace")
		watch := []string{strace, "-f", "-qq", "-e", "trace=network", "-o", trace}
		if out, err := exec.Command(watch[0], append(watch[1:], "true")...).CombinedOutput(); err != nil {
			t.Skipf("strace does not work here: %s", strings.TrimSpace(string(out)))
		}
		task.Under = watch
		if r := child(t, task, "HOME="+t.TempDir(), "XDG_CACHE_HOME="+t.TempDir(), "TMPDIR="+t.TempDir()); r.Error != "" {
			t.Fatalf("%+v", r)
		}
		data := read(t, trace)
		return internetCall.FindString(string(data))
	}
	task := childTask{Offline: true, Library: lib}
	if call := watched(task); call != "" {
		t.Errorf("the runtime connects: %s", call)
	}
	task.Dial = true
	if call := watched(task); call == "" {
		t.Error("a connection is not seen")
	}
}
