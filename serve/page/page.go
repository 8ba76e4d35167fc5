// Package page provides the page on which canvases fill call by call: a self-contained replay of
// traces, and a server's page, which requests samples from it.
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

// Run is the text about a run on the page; Text, its first sample, is for readers without scripts.
type Run struct {
	Name                 string `json:"name"`
	Facts, Command, Text string `json:"-"`
}

// Server is what the page of a server depends on.
type Server struct {
	// Model is its name, and Sampler that of the default sampler.
	Model, Sampler string
	// Opening is the text that is filled as the page opens, Length that of a continued text, "" for the
	// model's.
	Opening, Length string
	// Chat offers a chat, whose answers have at most Room tokens and end at a Special one.
	Chat    bool
	Room    int
	Special []int
}

// content is the data of the template. Samplers, if any, are for the form of a server.
type content struct {
	Title, Names string
	// These are whole elements. Policy allows only the page's script and style.
	Policy, Script, Style, Data template.HTML
	Runs                        []Run
	Samplers                    []catalog.Descriptor
	Server
}

// Replay writes runs as a page; data is the runs as compressed JSON in base64.
func Replay(w io.Writer, runs []Run, data string) error {
	var names []string
	for _, r := range runs {
		names = append(names, r.Name)
	}
	c := content{Title: "Replay", Names: strings.Join(names, ", "), Runs: runs, Data: template.HTML(`<script id="data" type="application/octet-stream">` + data + "</script>")}
	return c.write(w, text("replay.js"), "")
}

// Live writes the page of a server.
func Live(w io.Writer, s Server) error {
	c := content{Title: "mdmgen", Names: s.Model, Runs: []Run{{Name: "A"}, {Name: "B"}}, Samplers: catalog.Descriptors(), Server: s}
	return c.write(w, text("live.js")+text("chat.js"), "; connect-src 'self'")
}

// write adds the player, a script that uses it and a content policy to the content, and writes the
// page.
func (c *content) write(w io.Writer, user, more string) error {
	script, style := text("page.js")+user, text("page.css")
	c.Script, c.Style = template.HTML("<script>"+script+"</script>"), template.HTML("<style>"+style+"</style>")
	policy := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style)) + more
	c.Policy = template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + policy + `">`)
	return pages.ExecuteTemplate(w, "page.html", c)
}

// text returns an embedded file.
func text(name string) string {
	data, _ := files.ReadFile(name)
	return string(data)
}

// hash returns the hash by which a content policy names a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
