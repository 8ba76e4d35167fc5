package hub

import (
	"cmp"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
)

// The environment variables are those of Hugging Face's own library, with the same meaning.
const (
	envEndpoint = "HF_ENDPOINT"
	envOffline  = "HF_HUB_OFFLINE"

	// Address is the default hub, if HF_ENDPOINT is not set.
	Address = "https://huggingface.co"

	maxToken = 4 << 10 // bytes
)

// isTrue reports whether a variable is on.
func isTrue(name string) bool {
	return slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(os.Getenv(name)))
}

// Offline reports whether HF_HUB_OFFLINE forbids asking the hub.
func Offline() bool { return isTrue(envOffline) }

// home returns the folder of Hugging Face's programs.
func home() (string, error) {
	cache := cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join("~", ".cache"))
	return expand(cmp.Or(os.Getenv("HF_HOME"), filepath.Join(cache, "huggingface")))
}

// expand replaces ~ by the user's folder.
func expand(dir string) (string, error) {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(dir), "~"); ok && (rest == "" || rest[0] == '/') {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fault.Errorf("hub", "no home folder: set HF_HUB_CACHE to a folder")
		}
		dir = filepath.Join(user, rest)
	}
	return filepath.Abs(dir)
}

// OpenCache returns the cache that the environment names: HF_HUB_CACHE, else the folder hub in
// HF_HOME, whose default is huggingface in the user's cache folder. The folder need not exist.
func OpenCache() (Cache, error) {
	if dir := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE")); dir != "" {
		dir, err := expand(dir)
		return Cache{dir}, err
	}
	dir, err := home()
	return Cache{filepath.Join(dir, "hub")}, err
}

// Open returns a client configured by the environment: HF_ENDPOINT, a token from HF_TOKEN or the
// file left by a login, and the cache.
func Open() (*Client, error) {
	cache, err := OpenCache()
	if err != nil {
		return nil, err
	}
	c := &Client{Cache: cache, Endpoint: Address, Stall: 30 * time.Second, Pause: time.Second}
	if at := os.Getenv(envEndpoint); at != "" {
		c.Endpoint = strings.TrimRight(at, "/")
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, fault.Errorf("hub", "%s=%.100q: must be the address of a hub, such as %s", envEndpoint, c.Endpoint, Address)
	}
	if text := os.Getenv("HF_HUB_DOWNLOAD_TIMEOUT"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 86400 {
			return nil, fault.Errorf("hub", "HF_HUB_DOWNLOAD_TIMEOUT=%.100q: must be a whole number of seconds in 1..86400", text)
		}
		c.Stall = time.Duration(n) * time.Second
	}
	c.Token, err = token()
	return c, err
}

// token returns the user's token, "" if there is none. It appears in no message.
func token() (string, error) {
	if isTrue("HF_HUB_DISABLE_IMPLICIT_TOKEN") {
		return "", nil
	}
	source, text := "HF_TOKEN", cmp.Or(os.Getenv("HF_TOKEN"), os.Getenv("HUGGING_FACE_HUB_TOKEN"))
	if text == "" {
		path := os.Getenv("HF_TOKEN_PATH")
		if path == "" {
			dir, err := home()
			if err != nil {
				return "", err
			}
			path = filepath.Join(dir, "token")
		}
		data, err := plainfile.Read(path, maxToken)
		if errors.Is(err, os.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", fault.Errorf("hub", "%s: %w", path, err)
		}
		source, text = path, string(data)
	}
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fault.Errorf("hub", "%s: is not a token: it contains spaces or invalid characters", source)
	}
	return text, nil
}
