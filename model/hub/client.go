package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mdmgen/internal/fault"
)

// Client downloads from a hub into a cache. It may be shared; clients that fetch the same
// repository, in one process or in two, wait for each other.
type Client struct {
	Cache Cache
	// Endpoint is the address of the hub, without a trailing slash. Token is sent only to its host,
	// over the same protocol; "" sends none.
	Endpoint string
	Token    string
	// Stall is how long a connection may be silent, or slower than a kilobyte a second. Pause is
	// the initial wait between two attempts; it doubles each time.
	Stall, Pause time.Duration
	// Log is called with lines worth knowing; it may be nil.
	Log func(line string)
}

const (
	// attempts is the number of attempts at a request that fails for temporary reasons. An attempt
	// that receives bytes of a file does not count.
	attempts = 5
	// patience is the longest wait that a hub may request.
	patience = 5 * time.Minute
	maxHops  = 10
	// minRate is the lowest rate, in bytes a second, of a connection that is kept.
	minRate = 1000
)

var errStalled = errors.New("the connection is silent, or all but silent")

// leastBytes returns the number of bytes that must arrive within Stall.
func (c *Client) leastBytes() int64 { return int64(minRate * c.Stall.Seconds()) }

func (c *Client) log(format string, args ...any) {
	if c.Log != nil {
		c.Log(fmt.Sprintf(format, args...))
	}
}

// response is a response whose body returns an error if fewer than least bytes arrive within stall.
type response struct {
	*http.Response
	cancel      context.CancelCauseFunc
	ctx         context.Context
	timer       *time.Timer
	stall       time.Duration
	least, came int64
}

func (r *response) Read(p []byte) (int, error) {
	n, err := r.Body.Read(p)
	if r.came += int64(n); r.came >= r.least {
		r.came = 0
		r.timer.Reset(r.stall)
	}
	if err != nil && !errors.Is(err, io.EOF) && context.Cause(r.ctx) != nil {
		err = context.Cause(r.ctx)
	}
	return n, err
}

func (r *response) Close() error {
	r.timer.Stop()
	err := r.Body.Close()
	r.cancel(nil)
	return err
}

// send makes one request and follows at most maxHops redirections. A question for a file's headers (HEAD)
// stays with the hub, and ends with the response that has its digest.
func (c *Client) send(ctx context.Context, method, address string, header http.Header) (*response, error) {
	inner, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(inner, method, address, nil)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", "mdmgen")
	// A file's digest and length are those of the unencoded bytes.
	req.Header.Set("Accept-Encoding", "identity")
	client := http.Client{
		Transport: bearer{c.Endpoint, c.Token},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case method == http.MethodHead && (req.Response.Header.Get(linkedDigest) != "" || req.URL.Host != via[0].URL.Host):
				return http.ErrUseLastResponse
			case len(via) > maxHops:
				return fmt.Errorf("more than %d redirections", maxHops)
			case via[0].URL.Scheme == "https" && req.URL.Scheme != "https":
				return errors.New("a redirection to an address without encryption")
			}
			return nil
		},
	}
	r := &response{cancel: cancel, ctx: inner, stall: c.Stall, least: c.leastBytes()}
	r.timer = time.AfterFunc(c.Stall, func() { cancel(errStalled) })
	if r.Response, err = client.Do(req); err != nil {
		r.timer.Stop()
		if cause := context.Cause(inner); cause != nil {
			err = cause
		}
		cancel(nil)
		if u, ok := errors.AsType[*url.Error](err); ok { // Its text contains the address, which must stay secret if signed.
			err = u.Err
		}
		return nil, err
	}
	return r, nil
}

// bearer sends the token only to the hub's own host, not to other hosts after a redirection,
// including its subdomains.
type bearer struct{ endpoint, token string }

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	if home, err := url.Parse(b.endpoint); err == nil && b.token != "" && req.URL.Host == home.Host && req.URL.Scheme == home.Scheme {
		req.Header.Set("Authorization", "Bearer "+b.token)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// temporary is an error after which the next attempt may succeed, at once or after a wait that the
// hub requested.
type temporary struct {
	err  error
	wait time.Duration
}

func (e *temporary) Error() string { return e.err.Error() }
func (e *temporary) Unwrap() error { return e.err }

// retry makes attempts until one succeeds, fails permanently, or is the last. An attempt returns
// whether it made more progress than those before it.
func (c *Client) retry(ctx context.Context, what string, attempt func() (further bool, err error)) error {
	pause := c.Pause
	for n := 1; ; n++ {
		further, err := attempt()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p, ok := errors.AsType[*temporary](err)
		if !ok {
			return err
		}
		if further {
			n, pause = 1, c.Pause
		}
		if n >= attempts || p.wait > patience {
			return missingf("%s: %s", what, fault.Plain(p.err))
		}
		wait := max(p.wait, time.Duration(float64(pause)*(0.5+rand.Float64())))
		pause *= 2
		if wait >= time.Second/2 {
			c.log("%s: %s; trying again in %v", what, fault.Plain(p.err), wait.Round(time.Second/10))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// get makes a request, within an attempt, that must return one of the wanted statuses.
func (c *Client) get(ctx context.Context, n Name, method, address string, header http.Header, wanted ...int) (*response, error) {
	r, err := c.send(ctx, method, address, header)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	switch unknown, ok := errors.AsType[*net.DNSError](err); {
	case ok && unknown.IsNotFound:
		return nil, missingf("%s: no folder here, and %s is not found: connect to a network, or name a folder that has the model (%v)", n, c.Endpoint, err)
	case err != nil:
		return nil, &temporary{err: fmt.Errorf("no answer: %w", err)}
	}
	page := strings.HasPrefix(strings.ToLower(r.Header.Get("Content-Type")), "text/html") && method == http.MethodGet && path.Ext(n.File) != ".html"
	if slices.Contains(wanted, r.StatusCode) && !page {
		return r, nil
	}
	defer r.Close()
	return nil, c.refusal(n, r.Response)
}

// refusal returns an error that explains an unwanted response and what to do.
func (c *Client) refusal(n Name, r *http.Response) error {
	page := c.Endpoint + "/" + n.Repo
	code := r.Header.Get("X-Error-Code")
	switch {
	case r.StatusCode < 300: // a page for people, such as a network's login
		return missingf("%s: %s answers with a web page instead of data: is HF_ENDPOINT right, does the network require a login?", n, c.Endpoint)
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode >= 500:
		err := fmt.Errorf("the hub answers %s", r.Status)
		return &temporary{err, retryAfter(r.Header, time.Now())}
	case code == "GatedRepo" && c.Token == "":
		return missingf("%s: its authors ask who uses it: accept their terms at %s, and set HF_TOKEN to a token of that account", n, page)
	case code == "GatedRepo":
		return missingf("%s: its authors ask who uses it: accept their terms at %s with the token's account", n, page)
	case code == "RevisionNotFound":
		return missingf("%s: the repository has no revision %s", n, n.revision())
	case code == "EntryNotFound":
		return missingf("%s: the repository has no such file", n)
	case (r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusNotFound) && c.Token == "":
		return missingf("%s: no folder here, and no such repository at %s, or a private one: for that, set HF_TOKEN to a token that may read it", n, c.Endpoint)
	case r.StatusCode == http.StatusUnauthorized && code == "":
		return missingf("%s: the hub rejects the token: make a new one at %s/settings/tokens", n, c.Endpoint)
	case r.StatusCode == http.StatusUnauthorized, r.StatusCode == http.StatusNotFound:
		return missingf("%s: no folder here, and no such repository at %s, or one that the token may not read", n, c.Endpoint)
	case r.StatusCode == http.StatusForbidden:
		return missingf("%s: the hub refuses it%s: see %s", n, said(r), page)
	}
	return missingf("%s: the hub answers %s%s", n, r.Status, said(r))
}

// said returns the hub's own reason.
func said(r *http.Response) string {
	if text := r.Header.Get("X-Error-Message"); text != "" {
		return fmt.Sprintf(" (%.200s)", text)
	}
	return ""
}

// retryAfter returns the wait in Retry-After, in seconds or until a time, else the one in RateLimit
// if no request is left: "api";r=0;t=40 (draft-ietf-httpapi-ratelimit-headers).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if limit := rateLimit.FindStringSubmatch(h.Get("RateLimit")); text == "" && limit != nil {
		text = limit[1]
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 0 && n < 1<<30 {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

var rateLimit = regexp.MustCompile(`^[^;,]*;\s*r=0;\s*t=(\d+)\b`)
