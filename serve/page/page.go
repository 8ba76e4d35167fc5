// Package page has the page on which the calls of samplers fill canvases: a replay of traces, which needs
// nothing else, and a server's own, which asks it for more.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"mdmgen/samplers/catalog"
)

var (
	//go:embed *.html *.css *.js
	files embed.FS
	pages = template.Must(template.ParseFS(files, "*.html"))
)

// Run is what stands on the page of a run; Text, its first sample, is for readers without scripts.
type Run struct {
	Name, Facts, Command, Text string
}

// content is what the template shows: with Samplers the form of a server.
type content struct {
	Title, Names string
	// These are whole elements. Policy allows the page's script and style, and nothing else.
	Policy, Script, Style, Data template.HTML
	Runs                        []Run
	Samplers                    []catalog.Descriptor
}

// Replay writes runs as a page; data are they as JSON, compressed, in base64.
func Replay(w io.Writer, runs []Run, data string) error {
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	c := content{Title: "Replay", Names: strings.Join(names, ", "), Runs: runs, Data: template.HTML(`<script id="data" type="application/octet-stream">` + data + "</script>")}
	return c.write(w, "replay.js", "")
}

// Live writes the page of a server of a model, which offers samplers.
func Live(w io.Writer, model string, samplers []catalog.Descriptor) error {
	c := content{Title: "mdmgen", Names: model, Runs: []Run{{Name: "A"}, {Name: "B"}}, Samplers: samplers}
	return c.write(w, "live.js", "; connect-src 'self'")
}

// write completes the content with the player, a script that uses it, and a content policy.
func (c *content) write(w io.Writer, user, more string) error {
	script, style := text("page.js")+text(user), text("page.css")
	c.Script, c.Style = template.HTML("<script>"+script+"</script>"), template.HTML("<style>"+style+"</style>")
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style)) + more
	c.Policy = template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + policy + `">`)
	return pages.ExecuteTemplate(w, "page.html", c)
}

// text is a file that the program carries.
func text(name string) string {
	data, _ := files.ReadFile(name)
	return string(data)
}

// hash is how a content policy names a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
