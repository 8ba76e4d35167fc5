package ort

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A helper is a Python interpreter that the package asks or lets download. It runs nothing that others could have laid ready: an
// interpreter is isolated (python -I: no working folder, no PYTHON* variable), the
// working folder is one that others cannot write to, and the environment holds
// what finds the helper, its own settings and the way to the network, no more. So
// PYTHONPATH, NODE_OPTIONS, LD_PRELOAD, BASH_ENV and their like do not reach it.

// keptVariables are the variables that a helper sees, without regard to case.
var keptVariables = []string{
	// Where programs, the user's files and temporary ones are.
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	// The language and encoding of names and messages.
	"LANG", "LC_ALL", "LC_CTYPE",
	// The way to the network, and what proves that it is the right one.
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"NIX_SSL_CERT_FILE", "NETRC",
	// The active environment, and where interpreters of clusters have their own
	// libraries.
	"VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
	// Without these few a program of Windows begins or no folder of the user is found.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	"USERPROFILE", "HOMEDRIVE", "HOMEPATH",
}

// keptPrefixes are the beginnings of settings of the clients, and of the version
// managers that stand before them: python3 may be a script of pyenv's.
var keptPrefixes = []string{"PIP_", "PYENV_", "ASDF_", "MISE_"}

// helper prepares a helper's command in a folder that others cannot write to.
func helper(ctx context.Context, dir string, command ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.WaitDelay = 2 * time.Second
	// An empty list would mean all variables.
	cmd.Env = append([]string{}, keptEnviron(os.Environ())...)
	return cmd
}

// keptEnviron picks what a helper sees.
func keptEnviron(environ []string) []string {
	return slices.DeleteFunc(environ, func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		key = strings.ToUpper(key)
		return !slices.Contains(keptVariables, key) &&
			!slices.ContainsFunc(keptPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
	})
}

// quietFolder is a working folder in which and above which only the system's
// administrator can lay files: version managers look for their settings in the
// working folder and in all above it.
func quietFolder() string {
	if runtime.GOOS == "windows" {
		return os.Getenv("SYSTEMROOT")
	}
	return "/"
}
