package serve

import (
	"bytes"
	_ "embed"

	"mdmgen/samplers/catalog"
	"mdmgen/serve/page"
)

//go:generate go test -run TestDocument -update .

// document is the OpenAPI document, which TestDocument makes of the types of requests and answers.
//
//go:embed openapi.json
var document []byte

// document answers with the OpenAPI document.
func (s *Server) document(x *exchange) error {
	x.w.Header().Set("Content-Type", "application/json")
	_, err := x.w.Write(document)
	return err
}

// page answers with the page on which canvases fill.
func (s *Server) page(x *exchange) error {
	var text bytes.Buffer
	policy, err := page.Live(&text, s.Name, catalog.Descriptors())
	if err != nil {
		return err
	}
	h := x.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	_, err = x.w.Write(text.Bytes())
	return err
}
