package serve

import (
	"fmt"
	"strings"

	"mdmgen/requests"
	"mdmgen/serve/page"
)

// page answers with the page on which canvases fill.
func (s *Server) page(x *exchange) error {
	h, f := x.w.Header(), s.Model.Facts()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "frame-ancestors 'none'") // The page itself has the rest.
	h.Set("Referrer-Policy", "no-referrer")
	p := page.Server{Model: s.Name, Sampler: s.requests.Sampler().Settings().Sampler, Opening: "Once upon a time there was a{{24}} And they lived happily ever after."}
	switch {
	case s.Words == nil:
		n := f.Length
		if !f.FixedLength {
			n = min(n, 24)
		}
		p.Opening = "[" + strings.Repeat("null, ", n-1) + "null]"
	case f.FixedLength:
		p.Opening = strings.Replace(p.Opening, "{{24}}", "{{*}}", 1)
	case f.Length > requests.MaxAnswer && s.Options.MaxLength == 0:
		p.Length = fmt.Sprintf("+%d", requests.MaxAnswer)
	}
	if s.talks() {
		p.Chat, p.Room = true, max(1, min(requests.MaxAnswer, f.Length/2))
		for id := range s.Words.Size() {
			if s.Words.Special(id) && id != f.MaskID {
				p.Special = append(p.Special, id)
			}
		}
	}
	return page.Live(x.w, p)
}

// talks reports whether the model has a chat template that can be used.
func (s *Server) talks() bool {
	talks, err := s.requests.Words.Talks(nil)
	return talks && err == nil
}
