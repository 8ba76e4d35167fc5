package setup

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"mdmgen/internal/cachedir"
	"mdmgen/internal/plainfile"
	"mdmgen/internal/sysinfo"
	"mdmgen/model/checkpoint"
	"mdmgen/model/graph"
	"mdmgen/model/hub"
)

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
	if err := c.Doubt(); err != nil && hub.FactsOf(p.Name.Repo) == nil {
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
