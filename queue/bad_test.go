package queue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"mdmgen/cmd/mdmgen/app"
	"mdmgen/internal/exit"
	"mdmgen/internal/reftest"
)

// partOf returns part i of n of a run.
func partOf(t *testing.T, args []string, i, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part.jsonl")
	reftest.OK(t, app.Parts(t.Context(), args, func(_ json.RawMessage, part func(i, n int, path string) error) error { return part(i, n, path) }))
	return reftest.Must(os.ReadFile(path))(t)
}

// TestBadResults checks that anything but a part of the job, whoever stored it and when, is not
// counted or fetched, and that its part is computed again.
func TestBadResults(t *testing.T) {
	q := connect(t, t.TempDir())
	var log strings.Builder
	q.log = func(format string, args ...any) { fmt.Fprintf(&log, format+"\n", args...) }
	args := command(t)
	j := newJob(t, args, 6)
	good := partOf(t, args, 4, 6)
	changed := bytes.Replace(partOf(t, args, 5, 6), []byte(`"chunk":`), []byte(`"chunk": `), 1)
	strangers := []*nats.Msg{
		{Data: partOf(t, append(args[:len(args):len(args)], "--limit", "2000", "--top-k", "1"), 1, 6)}, // another run
		{Data: partOf(t, args, 3, 6)},                                  // another part of this one
		{Data: partOf(t, args, 3, 7)},                                  // an equal share of other chunks
		{Data: good[:bytes.LastIndexByte(good[:len(good)-1], '\n')+1]}, // torn
		{Data: changed},
		{Header: nats.Header{objectHeader: {"none"}}},
	}
	put := func() {
		t.Helper()
		for i, m := range strangers {
			results := reftest.Must(q.js.Stream(t.Context(), j.results()))(t)
			if m.Subject = j.result(i + 1); m.Data != nil {
				objects, name := reftest.Must(q.js.ObjectStore(t.Context(), j.parts()))(t), fmt.Sprint(i+1, "-stranger")
				reftest.Must(objects.PutBytes(t.Context(), name, m.Data))(t)
				m = &nats.Msg{Subject: m.Subject, Header: nats.Header{objectHeader: {name}}}
			}
			reftest.OK(t, results.Purge(t.Context(), jetstream.WithPurgeSubject(m.Subject)))
			reftest.Must(q.js.PublishMsg(t.Context(), m))(t)
		}
	}
	told := func(want string) {
		t.Helper()
		var out bytes.Buffer
		s := reftest.Must(q.Status(t.Context(), j))(t)
		if s.Print(&out); !strings.Contains(out.String(), want) {
			t.Errorf("%s, want %s", out.String(), want)
		}
	}
	submit := func(want int) {
		t.Helper()
		if n, err := q.Submit(t.Context(), j, Limits{Deliveries: 3}); err != nil || n != want {
			t.Errorf("%d queued: %v", n, err)
		}
	}
	submit(6)
	put() // before the parts are done
	work(t, q, j, 2)
	told("6 of 6 done, 0 running, 0 waiting, 0 dead")
	check(t, q, j)
	for _, again := range []func(){
		func() { told("0 of 6 done, 0 running, 6 waiting, 0 dead") },
		func() { submit(6) },
		func() {
			reftest.Fails(t, q.Fetch(t.Context(), j, "", &app.StandardOutput{W: os.Stderr}), "0 of 6 parts have a result")
		},
	} {
		put() // after they are done
		again()
		work(t, q, j, 2)
		check(t, q, j)
	}
	objects := reftest.Must(q.js.ObjectStore(t.Context(), j.parts()))(t)
	for _, o := range reftest.Must(objects.List(t.Context()))(t) {
		if strings.HasSuffix(o.Name, "-stranger") {
			t.Errorf("%s is stored still", o.Name)
		}
	}
	for _, want := range []string{"other values of ", "is for part 3/6", "is for part 3/7", "the part: is truncated", "the part:2: ", "object not found"} {
		if strings.Count(log.String(), want) < 4 {
			t.Errorf("%s is not logged each time: %s", want, log.String())
		}
	}
}

// TestBadJobs checks that a job on the server that was not submitted is rejected by name, and can
// be removed.
func TestBadJobs(t *testing.T) {
	q, j := connect(t, t.TempDir()), newJob(t, command(t), 3)
	reftest.Must(q.Submit(t.Context(), j, Limits{Deliveries: 3}))(t)
	jobs := reftest.Must(q.js.KeyValue(t.Context(), bucket))(t)
	whole := reftest.Must(json.Marshal(j))(t)
	if got, err := parse(j.ID, whole); err != nil || got.Shards != 3 {
		t.Error(err)
	}
	for old, new := range map[string]string{
		`"shards":3`: `"shards":0`, `"id":"`: `"id":"\u001b[2J`, `"chunks":`: `"chunks":9`, `"args":["score"`: `"args":[3`,
		`"shards":3,`: `"shards":10000000,`, `"header":{`: `"header":7,"was":{`, `{"id"`: `]{"id"`, `"sampler":`: `"sampling":`,
	} {
		bad := bytes.Replace(whole, []byte(old), []byte(new), 1)
		if bytes.Equal(bad, whole) {
			t.Fatalf("no %s in %s", old, whole)
		}
		reftest.Must(jobs.Put(t.Context(), j.ID, bad))(t)
		reftest.Fails(t, reftest.Err(q.Job(t.Context(), "")), "remove --job "+j.ID, new)
	}
	reftest.OK(t, q.Remove(t.Context(), ""))
	reftest.Fails(t, reftest.Err(q.js.Stream(t.Context(), j.results())), "", "the results are there")
	reftest.Must(jobs.Put(t.Context(), "a.b/c", nil))(t)
	reftest.OK(t, q.Remove(t.Context(), "a.b/c"))
	for _, shards := range []int{-1, maxShards + 1} {
		if _, err := NewJob(j.Args, j.Header, shards); exit.Code(err) != exit.Usage {
			t.Errorf("%d parts: %v", shards, err)
		}
	}
}

// TestAddress checks that passwords are not printed, and that a server open to anyone is
// recognised.
func TestAddress(t *testing.T) {
	for list, want := range map[string]string{
		"nats://queue.example:4222":               "nats://queue.example:4222",
		"tls://me:secret@a:1, me:secret@b:2, c:3": "tls://xxxxx@a:1,nats://xxxxx@b:2,nats://c:3",
		"nats://secret@a:1":                       "nats://xxxxx@a:1",
		"nats://me:secret/x@a:1":                  "",
		"nats://me:%secret@a:1":                   "",
	} {
		got, err := shown(list)
		if got != want || (want == "") != (err != nil) || err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %s, %v", list, got, err)
		}
	}
	l := reftest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	l.Close() // Nothing listens there.
	if _, err := Connect(t.Context(), Address{URL: "nats://me:secret@" + l.Addr().String()}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
	for address, want := range map[string]bool{"127.0.0.1:4222": true, "[::1]:4222": true, "[::ffff:127.0.0.1]:1": true, "10.0.0.7:4222": false, "[2001:db8::1]:4222": false, "": false} {
		if loopback(address) != want {
			t.Error(address)
		}
	}
	if q := connect(t, t.TempDir()); q.Open() {
		t.Error("a server of this machine alone is open to all")
	}
}
