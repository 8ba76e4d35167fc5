package setup

import (
	"cmp"
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

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/cachedir"
	"mdmgen/internal/exit"
	"mdmgen/internal/fault"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/sysinfo"
	"mdmgen/model"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/hub"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
)

// HubName parses a model's name as one on the hub. It returns false if the name is built in,
// does not have the form of such a name, or is an existing file or folder.
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

// KnownFacts returns the facts known about a model on the hub that its files omit.
func KnownFacts(ref string) map[string]string {
	n, ok := HubName(ref)
	if !ok {
		return nil
	}
	return hub.KnownOf(n.Repo).Facts
}

// find returns the files of a name on the hub, from the cache if they are there, and otherwise
// fetches them. It does not contact the hub for cached files.
func find(ctx context.Context, s kit.Streams, offline bool, n hub.Name, o PullOptions) (hub.Found, error) {
	client, err := hub.Open()
	if err != nil {
		return hub.Found{}, fault.WithoutName(err)
	}
	if found, ok := client.Cache.Find(n, o.Part); ok && len(dataMissing(found)) == 0 {
		return found, nil
	}
	if offline {
		return hub.Found{}, suggest(n, exit.Missingf("%s: not in the cache %s, and fetching it is forbidden (--offline, MDMGEN_OFFLINE or HF_HUB_OFFLINE)", n, client.Cache.Dir))
	}
	return Pull(ctx, s, client, n, o)
}

// PullOptions are the options of [Pull].
type PullOptions struct {
	Part hub.Part
	// Dtype is the type of weights that the model is to run with; "" if that is not known.
	Dtype graph.Dtype
	// Force also fetches a model that does not fit this machine or that no command reads; Verify
	// reads the files that are already there.
	Force, Verify bool
}

// Pull fetches the files of a name on the hub into the cache. With a model that has no tokenizer it
// fetches the one that the authors use, if that is known.
func Pull(ctx context.Context, s kit.Streams, client *hub.Client, n hub.Name, o PullOptions) (hub.Found, error) {
	client.Log = s.Notice
	bar := &kit.Progress{}
	begun := func(p hub.Plan) error {
		if p.Missing == 0 {
			return nil
		}
		takes := english.Plural(p.Missing, "file", "") + ", " + humanize.Bytes(uint64(p.Bytes))
		if o.Part == hub.Model {
			memory, err := fits(client.Cache, p, o.Dtype)
			if err != nil && !o.Force {
				return fmt.Errorf("%s: %w; `mdmgen pull --force %s` fetches it anyway", n, err, n)
			}
			if memory != "" {
				takes += ", and " + memory + " when it runs"
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
		// Only now can the graph be read; it names the files of its weights.
		if _, err := client.Get(ctx, found.Name.Of(path.Join(path.Dir(found.Name.File), name)), hub.Options{Verify: o.Verify}); err != nil {
			return found, fault.WithoutName(err)
		}
	}
	if hub.KnownOf(n.Repo).Tokenizer != "" && o.Part == hub.Model {
		_, err = hubTokenizer(ctx, s, false, found.Name)
	}
	return found, err
}

// Offline reports whether fetching is forbidden, by --offline or else by the environment.
func (r *Runtime) Offline() bool {
	set := r.offlineFlag != nil && r.offlineFlag.IsSet()
	return library.Search{Offline: r.offline, Online: set && !r.offline}.IsOffline() || !set && hub.Offline()
}

// locate finds or fetches the files of the model. It replaces m.Ref by one with a commit, so
// that everything read later, and everything recorded, is of the same commit.
func (m *Model) locate(ctx context.Context, s kit.Streams) error {
	n, ok := HubName(m.Ref)
	if !ok { // No field is written: a built-in network and its tokenizer are opened concurrently.
		return ownerless(m.Ref)
	}
	m.path = ""
	found, err := find(ctx, s, m.Offline(), n, PullOptions{Dtype: cmp.Or(m.Dtype, graph.Float32)})
	if err == nil {
		m.Ref, m.path = found.Name.String(), found.Path
	}
	return err
}

// ownerless returns an error if ref is a known name on the hub without its owner.
func ownerless(ref string) error {
	if _, err := os.Stat(ref); err == nil {
		return nil
	}
	if known := hub.Closest(ref); known != "" {
		return exit.Missingf("model %s: no such folder or file; did you mean %s?", ref, known)
	}
	return nil
}

// suggest adds the closest known name on the hub to the error of a name.
func suggest(n hub.Name, err error) error {
	if known := hub.Closest(n.Repo); known != "" && err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w; did you mean %s?", err, known)
	}
	return err
}

// dataMissing returns the names of the weight files of a graph that are missing from its folder.
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

// Cached returns the name of a model with the commit of the cached snapshot, and the path of
// that snapshot. For a name that is not on the hub it returns the name and "". It
// fetches nothing.
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
		return ref, "", suggest(n, exit.Missingf("%s: no folder here, and not in the cache %s: `mdmgen pull %s` fetches it", n, cache.Dir, n))
	}
	return found.Name.String(), found.Path, nil
}

// LocalFolder returns the folder or file of a model's name. For a name on the hub it fetches
// the part if that is not in the cache.
func LocalFolder(ctx context.Context, s kit.Streams, offline bool, ref string, part hub.Part) (string, error) {
	n, ok := HubName(ref)
	if !ok {
		return ref, nil
	}
	found, err := find(ctx, s, offline, n, PullOptions{Part: part})
	return found.Path, err
}

// hubTokenizer returns the folder with the tokenizer of a name on the hub, or of the one that its authors use.
func hubTokenizer(ctx context.Context, s kit.Streams, offline bool, n hub.Name) (string, error) {
	n.File = ""
	cache, err := hub.OpenCache()
	if err != nil {
		return "", fault.WithoutName(err)
	}
	found, own := cache.Find(n, hub.Tokenizer)
	borrowed := hub.Name{Repo: hub.KnownOf(n.Repo).Tokenizer}
	switch model, here := cache.Find(n, hub.Model); {
	case own:
		return found.Path, nil
	case borrowed.Repo != "":
		if _, ok := cache.Find(borrowed, hub.Tokenizer); !ok && !offline {
			s.Notice(fmt.Sprintf("%s has no tokenizer: its authors use the one of %s", n.Repo, borrowed))
		}
		n = borrowed
	case here:
		return "", &NoTokenizerError{fmt.Sprintf("%s has no tokenizer.json", model.Name)}
	}
	found, err = find(ctx, s, offline, n, PullOptions{Part: hub.Tokenizer})
	return found.Path, err
}

// fits returns an error if this machine has no room for the files of a plan, or no memory for its
// network in a type of weights (in any, if that is ""), or if no command reads it, as far as its config
// tells. memory says how much it takes, "" if that is unknown.
func fits(cache hub.Cache, p hub.Plan, d graph.Dtype) (memory string, err error) {
	free, known := sysinfo.Disk(cache.Dir)
	if known && uint64(p.Bytes) > free {
		return "", fmt.Errorf("needs %s of disk space, and %s has %s free", bytes(p.Bytes), cache.Dir, humanize.Bytes(free))
	}
	last := p.Files[len(p.Files)-1].Path // the weights
	if p.Config == "" || strings.HasSuffix(last, ".onnx") {
		return "", nil
	}
	text, err := plainfile.Read(p.Config, 16<<20)
	if err != nil {
		return "", fmt.Errorf("config.json: %w", err)
	}
	c, err := checkpoint.ParseConfig(text)
	if err != nil {
		return "", fmt.Errorf("config.json: %w", err)
	}
	if err := c.Doubt(); err != nil && hub.KnownOf(p.Name.Repo).Facts == nil {
		return "", err
	}
	asked := cmp.Or(d, graph.Float32)
	takes, err := graph.Memory(c, asked)
	if err != nil {
		return "", err
	}
	say := func(n int64, d graph.Dtype) string {
		return fmt.Sprintf("%s of memory for %s parameters in %s", bytes(n), humanize.Comma(c.Parameters()), d)
	}
	if have, ok := sysinfo.Memory(); ok && uint64(takes) > have {
		err := fmt.Errorf("needs %s, and this machine has %s", say(takes, asked), humanize.Bytes(have))
		for _, small := range []graph.Dtype{graph.Int8, graph.Int4} {
			switch n, failed := graph.Memory(c, small); {
			case failed != nil || uint64(n) > have:
			case d == "":
				return say(n, small), nil
			default:
				return "", fmt.Errorf("%w: --dtype %s needs %s", err, small, bytes(n))
			}
		}
		return "", err
	}
	size := int64(0)
	for _, f := range p.Files {
		size += f.Size
	}
	// Weights of another type than in the files are converted once, into a cache that is mostly on the same disk.
	dir, _ := cachedir.Path()
	left, _ := sysinfo.Disk(dir)
	if convert := d != "" && (!d.Plain() || size < takes); convert && known && left == free && uint64(p.Bytes+takes) > free {
		return "", fmt.Errorf("needs %s of disk space, %s of it for weights converted to %s, and %s has %s free", bytes(p.Bytes+takes), bytes(takes), d, cache.Dir, humanize.Bytes(free))
	}
	return say(takes, asked), nil
}

func bytes(n int64) string { return humanize.Bytes(uint64(n)) }
