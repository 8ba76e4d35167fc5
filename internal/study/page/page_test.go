package page_test

import (
	"slices"
	"testing"

	"mdmgen/internal/study/page"
)

func TestPage(t *testing.T) {
	const text = "a\n```sh\n$ mdmgen bench --case 'fhs n=1' \\\n    -r 3\nold\n```\nb\n```sh\n$ mdmgen schedule\n```\n"
	blocks, err := page.Read(text)
	if err != nil || len(blocks) != 2 {
		t.Fatal(blocks, err)
	}
	if b := blocks[0]; !slices.Equal(b.Args, []string{"bench", "--case", "fhs n=1", "-r", "3"}) || b.Output != "old\n" {
		t.Errorf("%+v", b)
	}
	if got := page.Replace(text, map[string]string{blocks[0].Command: "old\n"}); got != text {
		t.Errorf("the same output makes %q", got)
	}
	got := page.Replace(text, map[string]string{"mdmgen schedule": "new\n"})
	if after, err := page.Read(got); err != nil || after[1].Output != "new\n" || after[0].Output != "old\n" {
		t.Errorf("%q: %+v, %v", got, after, err)
	}
	for _, bad := range []string{"```sh\n$ ls\n```\n", "```sh\n$ mdmgen 'x\n```\n"} {
		if got, err := page.Read(bad); err == nil {
			t.Errorf("%q gives %+v", bad, got)
		}
	}
}
