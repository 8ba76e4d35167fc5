//go:build linux

package ort

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mdmgen/internal/reftest"
)

// linked returns a library file with nothing but a list of linked libraries.
func linked(names ...string) []byte {
	text := "\x00"
	dynamic := new(bytes.Buffer)
	for _, name := range names {
		_ = binary.Write(dynamic, binary.LittleEndian, elf.Dyn64{Tag: int64(elf.DT_NEEDED), Val: uint64(len(text))})
		text += name + "\x00"
	}
	_ = binary.Write(dynamic, binary.LittleEndian, elf.Dyn64{Tag: int64(elf.DT_NULL)})
	const head = 64
	sections := head + len(text) + dynamic.Len()
	out := new(bytes.Buffer)
	machine := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(machine), Version: 1, Shoff: uint64(sections), Ehsize: head, Shentsize: 64, Shnum: 3, Shstrndx: 1}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	for _, part := range []any{h, []byte(text), dynamic.Bytes(), elf.Section64{},
		elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: head, Size: uint64(len(text))},
		elf.Section64{Type: uint32(elf.SHT_DYNAMIC), Off: uint64(head + len(text)), Size: uint64(dynamic.Len()), Link: 1, Entsize: 16}} {
		_ = binary.Write(out, binary.LittleEndian, part)
	}
	return out.Bytes()
}

// What a machine lacks for --device cuda is reported. Everything queried is a fake: the driver's
// program, the provider's file, a Python environment.
func TestCUDALacks(t *testing.T) {
	needed := []string{"libcublas.so.13", "libcublasLt.so.13", "libcudart.so.13", "libcurand.so.10"}
	const good = "0, A GPU, 9.0, 81559, 580.65.06, 1980, 2619, 700.00"
	all := append(slices.Clone(needed), "libcudnn.so.9")
	tests := []struct {
		name, smi    string // the output of nvidia-smi; "" if it does not exist
		libraries    []string
		device, want string
	}{
		{"nothing lacks", good, all, "cuda", ""},
		{"no driver", "", all, "cuda", "no NVIDIA driver found: nvidia-smi is not in the search path: install NVIDIA's driver"},
		{"a driver that does not answer", "!NVIDIA-SMI has failed", all, "cuda", "no NVIDIA driver answers: nvidia-smi: NVIDIA-SMI has failed: install"},
		{"no cuDNN", good, needed, "cuda", "not found: libcudnn.so.9: install CUDA and cuDNN"},
		{"two libraries", good, all[2:], "cuda", "not found: libcublas.so.13, libcublasLt.so.13: install CUDA and cuDNN"},
		{"another GPU", "0, An old GPU, 6.1, 8000, 580.65.06, [N/A], [N/A], [N/A]\n1, A GPU, 8.0, 40000, 580.65.06, 1980, 2619, 700.00", all, "cuda:1", ""},
		{"no such GPU", good, all, "cuda:3", "there is no GPU 3: the driver has 1 device"},
	}
	lib := theLibrary(t)
	copied := put(t, filepath.Base(lib), read(t, lib))
	for _, p := range []string{"shared", "cuda"} {
		reftest.OK(t, os.WriteFile(filepath.Join(filepath.Dir(copied), providerFile(p)), linked(append(needed, "libcuda.so.1", "libc.so.6")...), 0o644))
	}
	none := child(t, childTask{Diagnose: true, Library: copied, Device: "cuda"}, "VIRTUAL_ENV="+t.TempDir(), "LD_LIBRARY_PATH=").Report
	if !slices.ContainsFunc(none.CUDA.Lacks, func(l string) bool { return strings.Contains(l, strings.Join(all, ", ")) }) {
		t.Skip("this machine has libraries of CUDA 13")
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bin, env := t.TempDir(), t.TempDir()
			if tt.smi != "" {
				script := "#!/bin/sh\ncat <<'END'\n" + tt.smi + "\nEND\n"
				if message, fails := strings.CutPrefix(tt.smi, "!"); fails {
					script = "#!/bin/sh\necho '" + message + "'\nexit 9\n"
				}
				reftest.OK(t, os.WriteFile(filepath.Join(bin, "nvidia-smi"), []byte(script), 0o755))
			}
			folder := filepath.Join(env, "lib", "python3.12", "site-packages", "nvidia", "cu13", "lib")
			reftest.OK(t, os.MkdirAll(folder, 0o755))
			for _, name := range tt.libraries {
				reftest.OK(t, os.WriteFile(filepath.Join(folder, name), linked(), 0o644))
			}
			environ := []string{"PATH=" + bin + ":/usr/bin:/bin", "VIRTUAL_ENV=" + env, "LD_LIBRARY_PATH="}
			r := child(t, childTask{Diagnose: true, Library: copied, Device: tt.device}, environ...).Report
			if r == nil || r.CUDA == nil {
				t.Fatalf("%+v", r)
			}
			if r.Usable != (tt.want == "") || !slices.Equal(r.Problems, r.CUDA.Lacks) || tt.want == "" && len(r.Problems) > 0 {
				t.Errorf("%+v", *r)
			}
			if tt.want != "" && (len(r.Problems) != 1 || !strings.HasPrefix(r.Problems[0], tt.want)) {
				t.Errorf("problems are %q, want %q", r.Problems, tt.want)
			}
			if tt.name == "nothing lacks" {
				return // The fakes cannot be loaded.
			}
			// A run reports the same; auto uses the CPU and reports why.
			open := child(t, childTask{Library: copied, Device: tt.device}, environ...)
			if tt.want != "" && (!open.Missing || !strings.Contains(open.Error, tt.want) || !strings.HasPrefix(open.Error, "onnx runtime: device cuda:")) {
				t.Errorf("a run ends with %+v", open)
			}
			open = child(t, childTask{Library: copied, Device: "auto"}, environ...)
			if open.Error != "" || open.Provider != "cpu" || len(open.Log) != 1 || !strings.HasPrefix(open.Log[0], "device auto: using the CPU") {
				t.Errorf("with auto a run is %+v", open)
			}
		})
	}
}
