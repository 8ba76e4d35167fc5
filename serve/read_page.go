package serve

import (
	"bytes"

	"mdmgen/samplers/catalog"
	"mdmgen/serve/page"
)

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
