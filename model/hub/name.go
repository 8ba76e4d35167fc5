package hub

import (
	"cmp"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// Main is the default revision.
const Main = "main"

// Name names a repository, or a file of it: OWNER/NAME[@REVISION][:FILE].
type Name struct {
	// Repo is OWNER/NAME.
	Repo string
	// Revision is a branch, a tag or a commit, "" for main.
	Revision string
	// File is a path in the repository, "" for its model.
	File string
}

var (
	repoForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)
	sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Parse parses a name, or a short one such as dream:7b; it returns false if text does not have the form of one. A path with two
// slashes, or one that begins with a dot or ends like a model's file, is not a name.
func Parse(text string) (Name, bool) {
	text = cmp.Or(short[strings.ToLower(text)], text)
	repo, file, hasFile := strings.Cut(text, ":")
	repo, revision, hasRevision := strings.Cut(repo, "@")
	n := Name{repo, revision, file}
	switch {
	case !repoForm.MatchString(repo), strings.Contains(repo, "--"), strings.Contains(repo, ".."):
		return n, false // The cache writes a slash as two hyphens.
	case strings.HasSuffix(repo, ".json"), strings.HasSuffix(repo, ".onnx"), strings.HasSuffix(repo, ".safetensors"), strings.HasSuffix(strings.ToLower(text), ".gguf"):
		return n, false
	case hasRevision && !plainPath(revision), hasFile && !plainPath(file):
		return n, false
	case strings.Contains(revision, ".."):
		return n, false // Git has no such revision.
	}
	return n, true
}

// plainPath reports whether a slash-separated path, joined to a folder, stays below it on every
// system.
func plainPath(path string) bool {
	return path != "." && fs.ValidPath(path) && filepath.IsLocal(filepath.FromSlash(path)) &&
		!strings.ContainsAny(path, "\\:\x00") && !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// revision returns the revision to request.
func (n Name) revision() string { return cmp.Or(n.Revision, Main) }

// At returns the name at a commit.
func (n Name) At(commit string) Name {
	n.Revision = commit
	return n
}

// String returns the name as [Parse] reads it.
func (n Name) String() string {
	text := n.Repo
	if n.Revision != "" {
		text += "@" + n.Revision
	}
	if n.File != "" {
		text += ":" + n.File
	}
	return text
}

// folder returns the name of the repository's folder in the cache.
func (n Name) folder() string { return "models--" + strings.ReplaceAll(n.Repo, "/", "--") }
