package main

import (
	"strings"
	"testing"

	"mdmgen/internal/exit"
)

// TestMistakes: what is typed wrong is refused before a server is begun, and has exit status 2.
func TestMistakes(t *testing.T) {
	t.Chdir(t.TempDir())
	for line, want := range map[string]string{
		"frob":                            `unknown command "frob"`,
		"--frob":                          "frob",
		"fetch x":                         "fetch: takes no arguments",
		"remove x":                        "remove: takes no arguments",
		"status --nats nats://a:secret/x": "--nats: is no address",
		"status --ack-wait 3s":            "ack-wait",
		"work --workers 0":                "--workers must be at least 1",
		"submit":                          "name the run behind --",
		"submit --shards -1 -- score x":   "--shards and --workers must be at least 1",
		"submit --deliveries 0 -- score":  "--deliveries must be at least 1",
		"submit -o x -- score y":          "-o goes with --workers",
		"fetch --store a --nats nats://b": "--store",
	} {
		err := app().Run(append([]string{"mdmgen-queue"}, strings.Fields(line)...))
		if exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
