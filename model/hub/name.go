// Package hub downloads models from a hub with the interface of Hugging Face's, and keeps them in
// that hub's own cache, which other programs share:
//
//	HF_HUB_CACHE/models--OWNER--NAME/blobs/DIGEST            the content of a file
//	HF_HUB_CACHE/models--OWNER--NAME/snapshots/COMMIT/PATH   a link to a blob
//	HF_HUB_CACHE/models--OWNER--NAME/refs/REVISION           the commit of a branch or tag
//	HF_HUB_CACHE/.locks/models--OWNER--NAME/DIGEST.lock      held while fetching the blob
//
// Only the files that a repository's model needs are downloaded. A blob gets its name once its
// digest is the one that the hub lists, SHA-256 for large files and git's SHA-1 for small ones. A
// file of a snapshot appears once its blob is complete, the weights after all others, and a
// branch's new commit last. So a killed process leaves files that the next one completes, and
// nothing that seems complete but is not.
//
// The content of the cache is used without asking the hub; only [Client.Get] does.
package hub

import (
	"cmp"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
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
	case !repoForm.MatchString(repo), strings.Contains(repo, "--"): // The cache writes a slash as two hyphens.
		return n, false
	case strings.HasSuffix(repo, ".json"), strings.HasSuffix(repo, ".onnx"), strings.HasSuffix(repo, ".safetensors"), strings.HasSuffix(strings.ToLower(text), ".gguf"):
		return n, false
	case hasRevision && !plainPath(revision), hasFile && !plainPath(file), strings.Contains(repo, ".."), strings.Contains(revision, ".."): // Git has no such revision.
		return n, false
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

// MissingError reports that something does not exist or cannot be obtained: no such repository,
// revision or file, no permission to read it, no connection. The message is one line.
type MissingError struct{ Msg string }

// Error implements error.
func (e *MissingError) Error() string { return e.Msg }

// Missing marks the error for exit statuses.
func (*MissingError) Missing() {}

// onPath prefixes an error with a path of the cache; nil stays nil.
func onPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Errorf("hub", "%s: %w", path, plainfile.Cause(err))
}

func missingf(format string, args ...any) error { return &MissingError{fmt.Sprintf(format, args...)} }
