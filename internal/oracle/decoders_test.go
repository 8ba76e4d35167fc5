package oracle

import (
	"crypto/sha256"
	"os"
	"testing"

	"mdmgen/model"
)

// decoders repeats a file of runs, laws or quotas of decoders.
func (r *references) decoders(t *testing.T, d *Folder, k Kind, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if before := r.done[sum]; before != "" {
		t.Logf("is %s, which was repeated", before)
		return
	}
	r.done[sum] = path
	switch k.Name {
	case decodersSchema:
		report, err := d.Decoders(t.Context(), path, func(ref string) model.Model {
			if why := NotOpened(ref); why != "" && ref != builtins[0].Name {
				t.Logf("%s: its runs are not repeated: %s", ref, why)
				return nil
			}
			return openModel(t, ref)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, difference := range report.Differences {
			t.Error(difference)
		}
		t.Logf("%d runs, %d of models that are not opened; %d calls made of %d", report.Runs, report.NotOpened, report.Calls, report.RuleCalls)
	case decoderQuotaSchema:
		n, err := Quotas(data)
		if err != nil {
			t.Error(err)
		}
		t.Logf("%d pairs of masks and steps", n)
	}
}
