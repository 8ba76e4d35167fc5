// Package serve is the command that answers HTTP requests with one model.
package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/cmd/mdmgen/internal/setup"
	"mdmgen/requests"
	"mdmgen/serve"
)

// options holds the flags, those of the server in its configuration.
type options struct {
	serve.Config
	model       setup.Model
	tokenizer   setup.Tokenizer
	sampler     setup.Sampler
	cacheMemory uint64
	keep        uint64
	attached    bool
	listen      string
	keyFile     string
	cert, key   string
	all         kit.Set
}

func (o *options) flags() kit.Set {
	o.listen, o.Queue, o.Deadline = "127.0.0.1:8080", 256, 10*time.Minute
	sampling := append(o.sampler.Flags(), o.sampler.CallFlags()...).Only("batch", "cache")
	o.all = slices.Concat(kit.Set{
		kit.Bool(&o.attached, kit.Flag{Name: "attached", Category: kit.CatInput, Rare: true, Usage: "exit when standard input ends (for a parent process), and remove the socket's folder if it is empty"}),
		kit.Text(&o.listen, kit.Flag{Name: "listen", Category: kit.CatInput, Usage: "listen on `HOST:PORT` or unix:PATH"}),
		kit.Int(&o.Queue, 1, 1<<20, kit.Flag{Name: "queue", Category: kit.CatInput, Usage: "let `N` requests wait; reject more with status 429"}),
		kit.Int(&o.Positions, 1, 1<<30, kit.Flag{Name: "positions", Category: kit.CatInput, Default: "64 batches of the longest", Usage: "work on at most `N` positions at a time; other requests wait"}),
		kit.Int(&o.Connections, 1, 1<<20, kit.Flag{Name: "connections", Category: kit.CatInput, Rare: true, Default: "1024, or half of the files that the system allows", Usage: "keep at most `N` connections; a new one closes the one that is idle longest"}),
		kit.Duration(&o.Deadline, time.Second, kit.Flag{Name: "deadline", Category: kit.CatInput, Usage: "end a request after `TIME`"}),
		kit.Name(&o.keyFile, "name a file", kit.Flag{Name: "key-file", Category: kit.CatInput, Usage: "require the key in `FILE` from clients"}),
		kit.Name(&o.cert, "name a file", kit.Flag{Name: "tls-cert", Category: kit.CatInput, Usage: "serve TLS with the certificate in `FILE`"}),
		kit.Name(&o.key, "name a file", kit.Flag{Name: "tls-key", Category: kit.CatInput, Usage: "read the certificate's key from `FILE`"}),
		kit.Texts(&o.Origins, kit.Flag{Name: "cors", Category: kit.CatInput, Usage: "let pages of `ORIGIN` send requests, or * for all; may be repeated"}),
	}, sampling, kit.Set{
		setup.CacheMemoryFlag(&o.cacheMemory), setup.KeepFlag(&o.keep, 256<<20),
		kit.Bool(&o.KeepApart, kit.Flag{Name: "keep-apart", Category: kit.CatSample, Usage: "let --keep share only what requests with the same key and address computed"}),
	}, o.model.Flags(), kit.Set{o.tokenizer.Flag()})
	return o.all.Common("listen", "key-file", "queue", "positions", "deadline", "batch", "cache", "device", "model", "tokenizer")
}

// Command is the command serve.
func Command() *kit.Command {
	o := &options{}
	return &kit.Command{
		Name:      "serve",
		Usage:     "serve a model over HTTP",
		Arguments: "[MODEL]",
		Description: "mdmgen serve --listen 127.0.0.1:8080 --batch 32\n" +
			"curl --json '{\"prompt\": \"Once upon a time\"}' localhost:8080/v1/completions\n\n" +
			"Requests of all clients share network calls. The ids of a request depend only on its canvas, settings and seed,\n" +
			"and equal those of `mdmgen generate`. The routes are OpenAI's, Ollama's, llama-server's and its own.",
		Flags: o.flags(),
		Run:   o.run,
	}
}

// attach returns a context that, with --set attached, ends with standard input, so that the server
// ends when the program at the other end does, however that ends. end then removes the folder made
// for the socket.
func (o *options) attach(ctx context.Context, in io.Reader) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancel(ctx)
	if !o.attached {
		return ctx, cancel
	}
	go func() {
		_, _ = io.Copy(io.Discard, in) // any error ends it too
		cancel()
	}()
	return ctx, func() {
		cancel()
		if path, ok := strings.CutPrefix(o.listen, "unix:"); ok {
			_ = os.Remove(filepath.Dir(path)) // fails if the folder is not empty
		}
	}
}

// run serves until the context ends, and then ends the running requests.
func (o *options) run(ctx context.Context, s kit.Streams, _ []string) (err error) {
	ctx, end := o.attach(ctx, s.In)
	defer end()
	if err := o.check(); err != nil {
		return err
	}
	listener, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer listener.Close()
	o.Words, err = o.tokenizer.OpenAny(ctx, s, &o.model)
	if err != nil {
		return err
	}
	m, err := o.model.Open(ctx, s, o.all)
	if err != nil {
		return err
	}
	defer kit.Closing(m, &err)
	if err := setup.Fit(o.Words, m.Facts()); err != nil {
		return err
	}
	if o.Options, err = o.sampler.Options(ctx, o.all); err != nil {
		return err
	}
	if o.Options.Interactions, err = o.sampler.Profile.Of(ctx, s, m); err != nil { // Any request may ask for spread.
		return err
	}
	if err := o.sampler.Fit(ctx, s, m, &o.Options, make([]int, m.Facts().Length)); err != nil {
		return err
	}
	made := kit.NewProvenance(m, o.Words)
	o.Model, o.Name, o.Provenance = m, made.Model.Reference, made
	sum := sha256.Sum256([]byte(made.Model.Digest + made.Model.FactsDigest + made.Model.Dtype + made.Model.Runtime + made.Model.Provider + made.Tokenizer + kit.Executable()))
	o.Fingerprint = fmt.Sprintf("fp_%x", sum[:8]) // Equal ones mean equal ids.
	o.Batch, o.CacheMemory, o.Store = cmp.Or(o.sampler.Batch, setup.BatchOf(m.Facts())), setup.KeepBytes(o.cacheMemory), setup.Store(o.keep)
	o.Record = requests.Settings{Batch: o.Batch, Device: o.model.DeviceOf(m.Facts()), Facts: o.model.Facts, Sidecar: o.model.Sidecar}
	o.Log = slog.New(slog.NewTextHandler(s.Err, nil))
	server, err := serve.New(ctx, o.Config)
	if err != nil {
		return o.all.Refuse("serve", err)
	}
	defer server.Close()
	s.Notice(fmt.Sprintf("serving %s on %s", o.Name, o.where(listener.Addr())))
	if o.Hosts == nil && o.Key == "" && listener.Addr().Network() != "unix" {
		s.Notice("clients on other machines can connect without a key: require one with --key-file")
	}
	return server.Serve(ctx, listener)
}
