package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"mdmgen/cmd/mdmgen/internal/flags"
	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/hub"
	"mdmgen/model/ort"
)

// HubName reads a reference as a name of the hub's; false where it is built in, has not the
// form of one, or is a file or folder here.
func HubName(ref string) (hub.Name, bool) {
	if slices.ContainsFunc(Builtins(), func(b model.Builtin) bool { return b.Name == ref }) {
		return hub.Name{}, false
	}
	n, ok := hub.Parse(ref)
	if _, err := os.Stat(ref); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return n, false
	}
	return n, ok
}

// KnownFacts are what is known of the model of a name of the hub's that its files leave open.
func KnownFacts(ref string) map[string]string {
	n, ok := HubName(ref)
	if !ok {
		return nil
	}
	return hub.FactsOf(n.Repo)
}

// find leads a name of the hub's to files in the cache, which are brought where they are not
// there. What is there is used without asking the hub.
func find(ctx context.Context, s kit.Streams, offline bool, n hub.Name, part hub.Part) (hub.Found, error) {
	client, err := hub.Open()
	if err != nil {
		return hub.Found{}, fault.WithoutName(err)
	}
	if found, ok := client.Cache.Find(n, part); ok && len(dataMissing(found)) == 0 {
		return found, nil
	}
	if offline {
		return hub.Found{}, suggest(n, exit.Missingf("%s: not in the cache %s, and fetching it is forbidden (--offline, MDMGEN_OFFLINE or HF_HUB_OFFLINE)", n, client.Cache.Dir))
	}
	return Pull(ctx, s, client, n, PullOptions{Part: part})
}

// PullOptions say what [Pull] brings.
type PullOptions struct {
	Part hub.Part
	// Force brings also what does not fit or is not read; Verify reads what is there.
	Force, Verify bool
}

// Pull brings a name of the hub's into the cache, and with a model that has no tokenizer, where
// its authors use a known one, that.
func Pull(ctx context.Context, s kit.Streams, client *hub.Client, n hub.Name, o PullOptions) (hub.Found, error) {
	client.Log = s.Notice
	bar := &kit.Progress{}
	begun := func(p hub.Plan) error {
		if p.Missing == 0 {
			return nil
		}
		takes := english.Plural(p.Missing, "file", "") + ", " + humanize.Bytes(uint64(p.Bytes))
		if o.Part == hub.Model {
			memory, err := fits(client.Cache, p)
			if err != nil && !o.Force {
				return fmt.Errorf("%s: %w; `mdmgen pull --force %s` fetches it all the same", n, err, n)
			}
			if memory > 0 {
				takes += ", and " + humanize.Bytes(memory) + " of memory when it runs"
			}
		}
		s.Notice(fmt.Sprintf("fetching %s (%s) from %s into %s", p.Name, takes, client.Endpoint, client.Cache.Dir))
		bar = kit.NewBar(s, int(p.Begun+p.Bytes), "fetching", "")
		return nil
	}
	found, err := client.Get(ctx, n, hub.Options{Part: o.Part, Before: begun, Verify: o.Verify, Progress: func(b int64) { bar.Add(int(b)) }})
	bar.Clear()
	if err != nil {
		return found, suggest(n, fault.WithoutName(err))
	}
	for _, name := range dataMissing(found) {
		// A graph names its weights, and only now can it be read.
		if _, err := client.Get(ctx, found.Name.Of(path.Join(path.Dir(found.Name.File), name)), hub.Options{Verify: o.Verify}); err != nil {
			return found, fault.WithoutName(err)
		}
	}
	if _, ok := hub.TokenizerOf(n.Repo); ok && o.Part == hub.Model {
		_, err = hubTokenizer(ctx, s, false, found.Name)
	}
	return found, err
}

// fits refuses a plan that this machine has no room for, or whose network no command reads, and
// says how many bytes of memory the weights take, 0 where that is unknown.
func fits(cache hub.Cache, p hub.Plan) (memory uint64, err error) {
	if free, ok := sysinfo.Disk(cache.Dir); ok && uint64(p.Bytes) > free {
		return 0, fmt.Errorf("needs %s of disk, and %s has %s free", humanize.Bytes(uint64(p.Bytes)), cache.Dir, humanize.Bytes(free))
	}
	last := p.Files[len(p.Files)-1].Path // the weights
	if p.Config == "" || strings.HasSuffix(last, ".onnx") {
		return 0, nil
	}
	text, err := plainfile.Read(p.Config, 16<<20)
	if err != nil {
		return 0, fmt.Errorf("config.json: %w", err)
	}
	c, err := checkpoint.ParseConfig(text)
	if err != nil {
		return 0, fmt.Errorf("config.json: %w", err)
	}
	// Networks are run in float32, whatever their files hold.
	memory = uint64(c.Parameters()) * 4
	if have, ok := sysinfo.Memory(); ok && memory > have {
		return memory, fmt.Errorf("needs %s of memory for %s parameters in float32, and this machine has %s", humanize.Bytes(memory), humanize.Comma(c.Parameters()), humanize.Bytes(have))
	}
	return memory, nil
}

// Offline reports whether nothing may be fetched: by --offline, else by the environment.
func (r *Runtime) Offline() bool {
	set := r.offlineFlag != nil && (r.offlineFlag.From() == flags.Line || r.offlineFlag.From() == flags.File)
	return ort.Config{Offline: r.offline, Online: set && !r.offline}.IsOffline() || !set && hub.Offline()
}

// locate leads the model to files here. Its reference is then that of a commit, so that all
// that is read later, and all that records tell, is of the same one.
func (m *Model) locate(ctx context.Context, s kit.Streams) error {
	n, ok := HubName(m.Ref)
	if !ok { // Nothing is written, as a built-in network and its tokenizer are opened at the same time.
		return ownerless(m.Ref)
	}
	m.path = ""
	found, err := find(ctx, s, m.Offline(), n, hub.Model)
	if err == nil {
		m.Ref, m.path = found.Name.String(), found.Path
	}
	return err
}

// ownerless refuses a known name of the hub's whose owner was left out.
func ownerless(ref string) error {
	if _, err := os.Stat(ref); err == nil {
		return nil
	}
	if known := hub.Closest(ref); known != "" {
		return exit.Missingf("model %s: no such folder or file; did you mean %s?", ref, known)
	}
	return nil
}

// suggest adds to the error of a name of the hub's the known one that is close to it.
func suggest(n hub.Name, err error) error {
	if known := hub.Closest(n.Repo); known != "" && err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; did you mean %s?", err, known)
	}
	return err
}

// dataMissing are files that a graph which a name leads to has its weights in, and that are not
// beside it.
func dataMissing(found hub.Found) (missing []string) {
	if !strings.HasSuffix(found.Name.File, ".onnx") {
		return nil
	}
	names, err := ort.External(found.Path)
	if err != nil {
		return nil // Opening the graph reports it.
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(filepath.Dir(found.Path), name)); errors.Is(err, fs.ErrNotExist) {
			missing = append(missing, name)
		}
	}
	return missing
}

// Cached is the reference of a model, with the commit of what a name of the hub's leads to in
// the cache, and where that is, "" for what is no such name. Nothing is brought.
func Cached(ref string) (pinned, path string, err error) {
	n, ok := HubName(ref)
	if !ok {
		return ref, "", ownerless(ref)
	}
	cache, err := hub.OpenCache()
	if err != nil {
		return ref, "", fault.WithoutName(err)
	}
	found, ok := cache.Find(n, hub.Model)
	if !ok {
		return ref, "", suggest(n, exit.Missingf("%s: no folder here, and not in the cache %s: `mdmgen pull %s` brings it", n, cache.Dir, n))
	}
	return found.Name.String(), found.Path, nil
}

// LocalFolder is the folder or file that a reference of a model leads to; of a name of the hub's
// the part is brought where it is not in the cache.
func LocalFolder(ctx context.Context, s kit.Streams, offline bool, ref string, part hub.Part) (string, error) {
	n, ok := HubName(ref)
	if !ok {
		return ref, nil
	}
	found, err := find(ctx, s, offline, n, part)
	return found.Path, err
}

// hubTokenizer is the folder with the tokenizer of a name of the hub's.
func hubTokenizer(ctx context.Context, s kit.Streams, offline bool, n hub.Name) (string, error) {
	n.File = ""
	cache, err := hub.OpenCache()
	if err != nil {
		return "", fault.WithoutName(err)
	}
	if found, ok := cache.Find(n, hub.Tokenizer); ok {
		return found.Path, nil
	}
	if t, ok := hub.TokenizerOf(n.Repo); ok {
		if found, ok := cache.Find(t, hub.Tokenizer); ok {
			return found.Path, nil
		}
		if !offline {
			s.Notice(fmt.Sprintf("%s has no tokenizer: its authors use that of %s", n.Repo, t))
		}
		n = t
	} else if found, ok := cache.Find(n, hub.Model); ok {
		return "", &NoTokenizerError{Why: fmt.Sprintf("%s has no tokenizer.json", found.Name)}
	}
	found, err := find(ctx, s, offline, n, hub.Tokenizer)
	return found.Path, err
}
