// Package page has the page on which the calls of samplers fill canvases: a replay of traces, which needs
// nothing else, and a server's own, which asks it for more.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"mdmgen/samplers/catalog"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	style string
	//go:embed page.js
	player string
	//go:embed replay.js
	replay string
	//go:embed live.html
	formText string
	//go:embed live.js
	live string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
	formTemplate = template.Must(template.New("form").Parse(formText))
)

// Run is what stands on the page of a run; Text, its first sample, is for readers without scripts.
type Run struct {
	Name, Facts, Command, Text string
}

// content is what the template shows.
type content struct {
	Title, Names string
	// These are whole elements. Policy allows the page's script and style, and nothing else.
	Policy, Script, Style, Data, Form template.HTML
	Runs                              []Run
}

// Replay writes runs as a page; data are they as JSON, compressed, in base64.
func Replay(w io.Writer, runs []Run, data string) error {
	c := content{Title: "Replay", Runs: runs, Data: template.HTML(`<script id="data" type="application/octet-stream">` + data + "</script>")}
	_, err := c.write(w, replay, "")
	return err
}

// Live writes the page of a server of a model, which offers samplers, and returns its content policy.
func Live(w io.Writer, model string, samplers []catalog.Descriptor) (policy string, err error) {
	var form strings.Builder
	runs := []Run{{Name: "A"}, {Name: "B"}}
	if err := formTemplate.Execute(&form, struct {
		Runs     []Run
		Samplers []catalog.Descriptor
	}{runs, samplers}); err != nil {
		return "", err
	}
	c := content{Title: "mdmgen", Names: model, Runs: runs, Form: template.HTML(form.String())}
	return c.write(w, live, "; connect-src 'self'")
}

// write completes the content with the player and a script that uses it, and returns the policy.
func (c *content) write(w io.Writer, script, more string) (policy string, err error) {
	script = player + script
	c.Script, c.Style = template.HTML("<script>"+script+"</script>"), template.HTML("<style>"+style+"</style>")
	policy = fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'", hash(script), hash(style)) + more
	c.Policy = template.HTML(`<meta http-equiv="Content-Security-Policy" content="` + policy + `">`)
	if c.Names == "" {
		var names []string
		for _, r := range c.Runs {
			names = append(names, r.Name)
		}
		c.Names = strings.Join(names, ", ")
	}
	return policy, pageTemplate.Execute(w, c)
}

// hash is how a content policy names a text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
