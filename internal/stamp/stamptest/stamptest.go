// Package stamptest changes what is remembered, for tests of what is read.
package stamptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"mdmgen/internal/reftest"
	"mdmgen/internal/stamp"
)

// Forge replaces the digest of every entry of a store that has one, so that a test can tell
// whether the store or the file is read, and returns their number.
func Forge(t testing.TB, store, digest string) (entries int) {
	t.Helper()
	for _, f := range reftest.Must(filepath.Glob(filepath.Join(store, "*.json")))(t) {
		var e map[string]json.RawMessage
		_, b, _ := bytes.Cut(reftest.Must(os.ReadFile(f))(t), []byte("\n"))
		if json.Unmarshal(b, &e) != nil || e["sha256"] == nil {
			continue // the entry holds something else
		}
		entries++
		e["sha256"], _ = json.Marshal(digest)
		stamp.Store{Dir: store}.Save(fmt.Sprintf(`{"kind":%s,"paths":%s,"marks":null,"sha256":""}`, e["kind"], e["paths"]), e)
	}
	return entries
}
