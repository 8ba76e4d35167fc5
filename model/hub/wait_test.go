package hub

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "99999999999": 0, "soon": 0,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]time.Duration{
		`"api";r=0;t=40`: 40 * time.Second, `"api";r=3;t=40`: 0, `"api"; r=0; t=7`: 7 * time.Second, "": 0, "t=40": 0, `"api";r=0;t=x`: 0,
	} {
		if got := retryAfter(http.Header{"Ratelimit": {text}}, now); got != want {
			t.Errorf("RateLimit %q: %v, want %v", text, got, want)
		}
	}
}
