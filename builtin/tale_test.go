package builtin_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
)

var program = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestPrograms checks that the programs in docs/go.md compile and print the output shown there. They
// are packages of one program, since linking takes longer than all the rest.
func TestPrograms(t *testing.T) {
	t.Parallel()
	page := reftest.Must(os.ReadFile("../docs/go.md"))(t)
	module := reftest.Must(filepath.Abs(".."))(t)
	dir := t.TempDir()
	replaced := map[string]string{} // files that are laid over the module
	lay := func(folder, text string) {
		path := filepath.Join(dir, folder+".go")
		reftest.OK(t, os.WriteFile(path, []byte(text), 0o666))
		replaced[filepath.Join(module, "docs", folder, "main.go")] = path
	}
	imports, calls := "", ""
	blocks := program.FindAllSubmatch(page, -1)
	for i, block := range blocks {
		name := fmt.Sprintf("program%d", i)
		lay(name, strings.NewReplacer("package main\n", "package "+name+"\n", "func main() {", "func Main() {").Replace(string(block[1])))
		imports, calls = imports+fmt.Sprintf("import %q\n", "mdmgen/docs/"+name), calls+name+".Main, "
	}
	lay("all", "package main\nimport \"os\"\n"+imports+"func main() { []func(){"+calls+"}[os.Getenv(\"PROGRAM\")[0]-'0']() }\n")
	binary := filepath.Join(dir, "all.exe")
	overlay := reftest.Must(json.Marshal(map[string]any{"Replace": replaced}))(t)
	reftest.OK(t, os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o666))
	run := func(i int, name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), fmt.Sprintf("PROGRAM=%d", i))
		cmd.Dir = module
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run(0, "go", "build", "-ldflags=-w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, "./docs/all")
	if r := ort.Diagnose(ort.Config{Search: library.Search{Offline: true}}); r.Library == "" {
		reftest.NoRuntime(t, fmt.Errorf("none is found: %q", r.Problems))
	}
	const serves = 3
	t.Run("serves", func(t *testing.T) {
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Env = append(os.Environ(), fmt.Sprintf("PROGRAM=%d", serves))
		out := reftest.Must(cmd.StdoutPipe())(t)
		reftest.OK(t, cmd.Start())
		url := reftest.Must(bufio.NewReader(out).ReadString('\n'))(t)
		resp := reftest.Must(http.Post(strings.TrimSpace(url)+"/v1/completions", "application/json", strings.NewReader(`{"model":"fairytale","prompt":"Once upon a time"}`)))(t)
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Error(resp.Status)
		}
	})
	for i, want := range []string{`^Once upon a time.{32}`, `(?m)^0 \[(\d+ ){15}\d+\]$(.|\n)*^1 \[(.|\n)*^\d network calls$`, `^(\[\d\] \[\d+\]\n){8}$`, "", `^Once upon a .*, there was a little .*\.\n−log P = \d+\.\d+ nats\n$`} {
		if i == serves {
			continue
		}
		if out := run(i, binary, "testdata/reference/checkpoints/mdlm"); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("program %d prints %q", i, out)
		}
	}
	if goMod, err := os.ReadFile("../go.mod"); err != nil || !strings.Contains(string(page), regexp.MustCompile(`(?m)^go .*$`).FindString(string(goMod))) {
		t.Errorf("docs/go.md has another version of Go than go.mod, %v", err)
	}
}
