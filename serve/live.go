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
	return page.Live(x.w, p)
}
