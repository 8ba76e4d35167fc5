// Command release builds the published files of the commit that is checked out: for each system an archive
// with the program, ONNX Runtime, manual pages, completions, documents and all licences, for Linux
// the same as deb and rpm packages, and a bill of materials. From the repository's root:
//
//	go run ./tools/release -zig 'python3 -m ziglang' linux/amd64 linux/arm64 windows/amd64
//	(cd dist && sha256sum mdmgen* >SHA256SUMS)
//
// Two builds of a commit with the same Go and C compiler are identical. Zig compiles the binding of
// ONNX Runtime for other systems, and for a C library as old as the runtime's own. A Mac builds only
// for itself, with its own compiler.
package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"debug/pe"
	"encoding/binary"
	"encoding/json"
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"mdmgen/model/ort/library"
	"mdmgen/tools/internal/fatal"
)

// zigTargets maps the systems for which Zig compiles to their names in Zig. 2.28 is the version of
// the C library that the published ONNX Runtime needs.
var zigTargets = map[string]string{
	"linux/amd64":   "x86_64-linux-gnu.2.28",
	"linux/arm64":   "aarch64-linux-gnu.2.28",
	"windows/amd64": "x86_64-windows-gnu",
}

// A release holds what the archives of a commit share: a clone of the commit, a folder for the
// published files and one for the others, the command of Zig, and the program for this machine,
// which prints its manual.
type release struct{ source, out, work, zig, host string }

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	var r release
	flag.StringVar(&r.out, "o", "dist", "folder for what is built")
	flag.StringVar(&r.zig, "zig", "", "command of Zig (default: this system's C compiler)")
	flag.Parse()
	r.out = fatal.Must(filepath.Abs(r.out))
	r.work = filepath.Join(r.out, ".work")
	r.source, r.host = filepath.Join(r.work, "source"), filepath.Join(r.work, "host")
	fatal.Check(os.RemoveAll(r.work))
	fatal.Check(os.MkdirAll(r.work, 0o755))
	// A clone has only committed files, and its version is stamped into the program.
	r.command(".", nil, "git", "clone", "--quiet", "--shared", ".", r.source)
	r.build(runtime.GOOS+"/"+runtime.GOARCH, r.host)
	for _, system := range flag.Args() {
		r.publish(system)
	}
	fatal.Check(os.RemoveAll(r.work))
}

// publish builds the archive, the packages and the bill of materials for a system, named as in Go.
func (r release) publish(system string) {
	goos, goarch, _ := strings.Cut(system, "/")
	bin, lib := filepath.Join(r.work, system, "bin"), filepath.Join(r.work, system, "lib")
	program := filepath.Join(bin, "mdmgen")
	if goos == "windows" {
		program += ".exe"
	}
	r.build(system, program)
	fatal.Check(os.MkdirAll(lib, 0o755))
	fatal.Check(library.Bundle(context.Background(), goos, goarch, lib))

	info := fatal.Must(buildinfo.ReadFile(program))
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	date := fatal.Must(time.Parse(time.RFC3339, settings["vcs.time"]))
	if goos == "windows" {
		stampPE(program, date)
	}
	version := strings.TrimPrefix(info.Main.Version, "v")
	name := "mdmgen-" + version + "-" + goos + "-" + goarch
	path, doc := filepath.Join(r.out, name), name+"/share/doc/mdmgen"
	t := tree{fstest.MapFS{}, date}
	t.add(name+"/bin", bin, "")
	t.add(name+"/lib/mdmgen", lib, "")
	t.add(doc, r.source, `^(README.md|LICENSE)$|^(docs|examples)/`)
	r.licences(t, info, doc+"/licenses/")
	r.pages(t, name+"/share/")
	fatal.Check(os.WriteFile(path+".spdx.json", materials(info, settings["vcs.revision"], date, name), 0o644))
	if goos == "windows" {
		t.zip(path + ".zip")
		return
	}
	t.tar(path + ".tar.gz")
	if goos != "linux" {
		return
	}
	fatal.Check(os.CopyFS(r.work, t.files))
	for file := range t.files {
		fatal.Check(os.Chtimes(filepath.Join(r.work, file), date, date))
	}
	environ := []string{"TREE=" + filepath.Join(r.work, name), "VERSION=" + version, "ARCH=" + goarch, "SOURCE_DATE_EPOCH=" + strconv.FormatInt(date.Unix(), 10)}
	for _, kind := range []string{"deb", "rpm"} {
		r.command(r.source, environ, "go", "run", "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2",
			"package", "--config", "tools/release/nfpm.yaml", "--packager", kind, "--target", path+"."+kind)
	}
}

// licences adds the licences of Go and of all modules of a program. A module without one is an
// error.
func (r release) licences(t tree, info *buildinfo.BuildInfo, to string) {
	t.add(to+"go", strings.TrimSpace(r.command(r.source, nil, "go", "env", "GOROOT")), `^LICENSE$`)
	words := []string{"go", "mod", "download", "-json"}
	for _, m := range info.Deps {
		words = append(words, m.Path+"@"+m.Version)
	}
	for d := json.NewDecoder(strings.NewReader(r.command(r.source, nil, words...))); d.More(); {
		var m struct{ Path, Dir string }
		fatal.Check(d.Decode(&m))
		if t.add(to+m.Path, m.Dir, `(?i)(^|/)(un)?(licen[cs]e|copying|notice|patents)[^/]*$`) == 0 {
			log.Fatalf("module %s has no licence", m.Path)
		}
	}
}

var manualOf = regexp.MustCompile(`mdmgen-([a-z-]+)\\fP\(1\)`)

// pages adds the manual pages and the completions, as printed by the program.
func (r release) pages(t tree, to string) {
	pages := map[string][]string{
		"man/man1/mdmgen.1":                     {"man"},
		"bash-completion/completions/mdmgen":    {"completion", "bash"},
		"zsh/site-functions/_mdmgen":            {"completion", "zsh"},
		"fish/vendor_completions.d/mdmgen.fish": {"completion", "fish"},
	}
	for _, m := range manualOf.FindAllStringSubmatch(r.command(r.work, nil, r.host, "man"), -1) {
		pages["man/man1/mdmgen-"+m[1]+".1"] = []string{"man", m[1]}
	}
	for name, words := range pages {
		t.put(to+name, []byte(r.command(r.work, nil, append([]string{r.host}, words...)...)))
	}
}

// build compiles the program.
func (r release) build(system, to string) {
	goos, goarch, _ := strings.Cut(system, "/")
	environ := []string{"CGO_ENABLED=1", "GOOS=" + goos, "GOARCH=" + goarch}
	if r.zig != "" {
		target := zigTargets[system]
		if target == "" {
			log.Fatalf("%s is not built with Zig: build on it, without -zig", system)
		}
		environ = append(environ, "CC="+r.zig+" cc -target "+target)
	}
	flags := "-ldflags=-s -w -buildid="
	if r.zig != "" && goos == "linux" {
		flags += " -extldflags=-s" // Zig's C library objects contain the folder's path, for debuggers.
	}
	r.command(r.source, environ, "go", "build", "-trimpath", "-buildvcs=true", flags, "-o", to, "./cmd/mdmgen")
}

// stampPE replaces the link time in the header of a Windows program, and clears the section that
// repeats it, because the linker has no flag for it. According to the PE specification, the
// header's offset is at 0x3c, and the time 8 bytes into the header.
func stampPE(path string, date time.Time) {
	data := fatal.Must(os.ReadFile(path))
	if id := fatal.Must(pe.NewFile(bytes.NewReader(data))).Section(".buildid"); id != nil {
		clear(data[id.Offset:][:id.Size])
	}
	binary.LittleEndian.PutUint32(data[binary.LittleEndian.Uint32(data[0x3c:])+8:], uint32(date.Unix()))
	fatal.Check(os.WriteFile(path, data, 0o755))
}

// command runs a command in a folder and returns its output.
func (r release) command(dir string, environ []string, words ...string) string {
	cmd := exec.Command(words[0], words[1:]...)
	var errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), environ...), &errs
	out, err := cmd.Output()
	if err != nil {
		log.Fatalf("%s: %v: %s", strings.Join(words, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return string(out)
}
