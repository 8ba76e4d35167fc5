package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// guarded is a handler behind what every request must pass: it comes under a name of the server, so that no other
// site's name leads a browser here; and a browser's comes from a page of the server itself or of an allowed site.
func (s *Server) guarded(h http.Handler) http.Handler {
	checked, all := http.NewCrossOriginProtection().Handler(h), slices.Contains(s.Origins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // A recorder of tests has none.
		if len(s.Hosts) > 0 && !slices.Contains(s.Hosts, strings.ToLower((&url.URL{Host: r.Host}).Hostname())) {
			http.Error(w, "this server has another name", http.StatusMisdirectedRequest)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		origin := r.Header.Get("Origin")
		if origin == "" || !all && !slices.Contains(s.Origins, origin) {
			checked.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Vary", "Origin")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// knows reports whether a request has the key, in a time that does not depend on how much of it is right.
func (s *Server) knows(r *http.Request) bool {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(s.Key))
	return s.Key == "" || subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
