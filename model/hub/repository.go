package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/plainjson"
)

// maxListing is the maximum size of the hub's description of a repository, in bytes.
const maxListing = 64 << 20

// listing is the hub's response to /api/models/OWNER/NAME/revision/REVISION?blobs=true.
type listing struct {
	SHA      string `json:"sha"`
	Siblings []struct {
		Path   string `json:"rfilename"`
		Size   int64  `json:"size"`
		BlobID string `json:"blobId"`
		LFS    *struct {
			SHA256 string `json:"sha256"`
			Size   int64  `json:"size"`
		} `json:"lfs"`
	} `json:"siblings"`
}

// describe asks the hub for a repository's commit and files. It rejects a repository with a path
// that leads out of its folder.
func (c *Client) describe(ctx context.Context, n Name) (commit string, files []File, err error) {
	var l listing
	address := fmt.Sprintf("%s/api/models/%s/revision/%s?blobs=true", c.Endpoint, n.Repo, url.PathEscape(n.revision()))
	err = c.retry(ctx, n.String(), func() (bool, error) {
		r, err := c.get(ctx, n, http.MethodGet, address, nil, http.StatusOK)
		if err != nil {
			return false, err
		}
		defer r.Close()
		data, err := plainfile.ReadAll(r, maxListing)
		if err != nil {
			return false, &temporary{err: err}
		}
		if err := plainjson.Unmarshal(data, &l); err != nil {
			return false, missingf("%s: the answer of %s is not a hub's: %v", n, c.Endpoint, err)
		}
		return false, nil
	})
	if err != nil {
		return "", nil, err
	}
	if !commitForm.MatchString(l.SHA) {
		return "", nil, missingf("%s: the answer of %s is not a hub's: the commit is %.50q", n, c.Endpoint, l.SHA)
	}
	for _, s := range l.Siblings {
		f := File{s.Path, s.Size, s.BlobID}
		if s.LFS != nil {
			f.Size, f.Digest = s.LFS.Size, s.LFS.SHA256
		}
		if !plainPath(f.Path) {
			return "", nil, fault.Errorf("hub", "%s: the repository has a file %.200q: a name that leads out of its folder is not allowed", n, f.Path)
		}
		files = append(files, f)
	}
	return l.SHA, files, nil
}

// address returns the address of a file of a commit on the hub.
func (c *Client) address(n Name, commit, file string) string {
	return fmt.Sprintf("%s/%s/resolve/%s/%s", c.Endpoint, n.Repo, commit, (&url.URL{Path: file}).EscapedPath())
}

// complete asks for the digest and size of a file if the listing has none, as on mirrors: the
// headers of the hub's own response have both.
func (c *Client) complete(ctx context.Context, n Name, commit string, f File) (File, error) {
	if digested(f.Digest) && f.Size >= 0 {
		return f, nil
	}
	err := c.retry(ctx, n.String(), func() (bool, error) {
		r, err := c.get(ctx, n.Of(f.Path), http.MethodHead, c.address(n, commit, f.Path), nil, http.StatusOK, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect)
		if err != nil {
			return false, err
		}
		r.Close()
		if at := r.Header.Get("X-Repo-Commit"); at != "" && at != commit {
			return false, fault.Errorf("hub", "%s: %s: the hub answers with commit %.50q, not %s", n, f.Path, at, commit)
		}
		etag, size := r.Header.Get(linkedDigest), r.Header.Get("X-Linked-Size")
		if etag == "" {
			etag, size = r.Header.Get("Etag"), r.Header.Get("Content-Length")
		}
		f.Digest = strings.Trim(strings.TrimPrefix(etag, "W/"), `"`)
		if f.Size, err = strconv.ParseInt(size, 10, 64); err != nil || f.Size < 0 || !digested(f.Digest) {
			return false, missingf("%s: %s: the hub gives no digest and size for it", n, f.Path)
		}
		return false, nil
	})
	return f, err
}

// linkedDigest is the header with the digest of a file that is elsewhere.
const linkedDigest = "X-Linked-Etag"

// digested reports whether a text has the form of a digest.
func digested(text string) bool { return sha256Form.MatchString(text) || commitForm.MatchString(text) }
