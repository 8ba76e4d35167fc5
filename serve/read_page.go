package serve

import (
	"bytes"
	"net/http"

	"mdmgen/samplers/catalog"
	"mdmgen/serve/page"
)

// page answers with the page on which canvases fill.
func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	var text bytes.Buffer
	policy, err := page.Live(&text, s.Name, catalog.Descriptors())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(text.Bytes()) // The client may be gone.
}
