package library

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A helper is a program, a Python interpreter or nvidia-smi, that the package runs for a question
// or a download. It runs nothing that others could have planted: an interpreter is isolated (python
// -I: no working folder, no PYTHON* variable), others cannot write to the working folder, and the
// environment holds only the variables for finding the helper, its own settings and the network. So
// PYTHONPATH, NODE_OPTIONS, LD_PRELOAD, BASH_ENV and the like do not reach it.

// keptVariables are the variables that a helper sees, regardless of case.
var keptVariables = []string{
	// Where programs, the user's files and temporary files are.
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_CACHE_HOME", "XDG_DATA_HOME",
	// The language and encoding of names and messages.
	"LANG", "LC_ALL", "LC_CTYPE",
	// The route to the network, and the certificates that authenticate it.
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	"NIX_SSL_CERT_FILE", "NETRC",
	// The active environment, and where the interpreters of clusters keep their libraries.
	"VIRTUAL_ENV", "CONDA_PREFIX", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
	// Without these Windows cannot start a program or find the user's folders.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	"USERPROFILE", "HOMEDRIVE", "HOMEPATH",
}

// keptPrefixes are the prefixes of settings of pip and of the version managers that wrap an
// interpreter: python3 may be a script of pyenv.
var keptPrefixes = []string{"PIP_", "PYENV_", "ASDF_", "MISE_"}

// helper prepares a helper's command, which runs in dir. Others must not be able to write to dir.
func helper(ctx context.Context, dir string, command ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.WaitDelay = 2 * time.Second
	// A nil list would mean all variables.
	cmd.Env = append([]string{}, keptEnviron(os.Environ())...)
	return cmd
}

// keptEnviron returns the variables that a helper sees.
func keptEnviron(environ []string) []string {
	return slices.DeleteFunc(environ, func(kv string) bool {
		key, _, _ := strings.Cut(kv, "=")
		key = strings.ToUpper(key)
		return !slices.Contains(keptVariables, key) &&
			!slices.ContainsFunc(keptPrefixes, func(p string) bool { return strings.HasPrefix(key, p) })
	})
}

// quietFolder returns a working folder in which, and above which, only the system's administrator
// can create files: version managers look for settings in the working folder and in all above it.
func quietFolder() string {
	if runtime.GOOS == "windows" {
		return os.Getenv("SYSTEMROOT")
	}
	return "/"
}
