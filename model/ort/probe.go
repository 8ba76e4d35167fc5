package ort

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"mdmgen/internal/plainfile"
)

// probe reads the version of an ONNX Runtime library from the file, without
// loading it: a library that is too old prints to the terminal when it is
// asked, and one of another machine ends in the loader's own words. The version
// is "" where the file does not tell. The error is one line without the path.
func probe(path string) (version string, err error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	version, err = probeImage(f)
	if err == nil && version == "" {
		version = versionInName(path)
	}
	return version, err
}

// probeImage reads the version from a shared library's bytes.
func probeImage(f io.ReaderAt) (version string, err error) {
	// The parsers of debug/ are tested against hostile files, but promise nothing.
	defer func() {
		if recover() != nil {
			version, err = "", errors.New("it is not a shared library")
		}
	}()
	var magic [4]byte
	if _, err := f.ReadAt(magic[:], 0); err != nil {
		return "", errors.New("it is not a shared library")
	}
	switch {
	case string(magic[:]) == elf.ELFMAG:
		version, err = probeELF(f)
	case string(magic[:2]) == "MZ":
		version, err = probePE(f)
	default:
		version, err = probeMachO(f)
	}
	return version, err
}

// probeELF finds the version in the name of the symbol version that every
// symbol of the library has, VERS_1.30.0.
func probeELF(f io.ReaderAt) (string, error) {
	e, err := elf.NewFile(f)
	if err != nil {
		return "", errors.New("it is not a shared library")
	}
	want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" || want != 0 && e.Machine != want {
		return "", fmt.Errorf("it is for another machine (%v)", e.Machine)
	}
	version := ""
	if versions, err := e.DynamicVersions(); err == nil {
		for _, v := range versions {
			if s, ok := strings.CutPrefix(v.Name, "VERS_"); ok {
				version = s
			}
		}
	}
	if version != "" {
		return version, nil
	}
	symbols, err := e.DynamicSymbols()
	if err != nil {
		return "", errors.New("it is not ONNX Runtime")
	}
	for _, s := range symbols {
		if s.Name == "OrtGetApiBase" && s.Section != elf.SHN_UNDEF {
			return "", nil
		}
	}
	return "", errors.New("it is not ONNX Runtime")
}

// probePE finds the version in the fixed part of the file's version resource.
func probePE(f io.ReaderAt) (string, error) {
	p, err := pe.NewFile(f)
	if err != nil {
		return "", errors.New("it is not a shared library")
	}
	want := map[string]uint16{"amd64": pe.IMAGE_FILE_MACHINE_AMD64, "arm64": pe.IMAGE_FILE_MACHINE_ARM64}[runtime.GOARCH]
	if runtime.GOOS != "windows" || want != 0 && p.Machine != want {
		return "", errors.New("it is for another machine")
	}
	return versionPE(p), nil
}

// versionPE reads VS_FIXEDFILEINFO: the signature, the structure's version,
// then the file's version as two words, high halves first.
func versionPE(p *pe.File) string {
	s := p.Section(".rsrc")
	if s == nil {
		return ""
	}
	data, err := s.Data()
	if err != nil {
		return ""
	}
	i := bytes.Index(data, []byte{0xBD, 0x04, 0xEF, 0xFE})
	if i < 0 || i+16 > len(data) {
		return ""
	}
	ms := binary.LittleEndian.Uint32(data[i+8:])
	// The third number is a build date in the makers' files, so it is left out.
	return fmt.Sprintf("%d.%d", ms>>16, ms&0xFFFF)
}

// probeMachO finds the version in the library's own load command.
func probeMachO(f io.ReaderAt) (string, error) {
	m, err := macho.NewFile(f)
	if err != nil {
		fat, ferr := macho.NewFatFile(f)
		if ferr != nil {
			return "", errors.New("it is not a shared library")
		}
		for _, a := range fat.Arches {
			if a.Cpu == machoCPU() {
				m = a.File
			}
		}
	}
	if runtime.GOOS != "darwin" || m == nil || m.Cpu != machoCPU() {
		return "", errors.New("it is for another machine")
	}
	return versionMachO(m), nil
}

func machoCPU() macho.Cpu {
	if runtime.GOARCH == "amd64" {
		return macho.CpuAmd64
	}
	return macho.CpuArm64
}

// versionMachO reads the library's current version: LC_ID_DYLIB holds command,
// size, offset of the name, time, then 16 bits and twice 8 of version.
func versionMachO(m *macho.File) string {
	const idDylib = 0xd
	for _, l := range m.Loads {
		raw := l.Raw()
		if len(raw) < 24 || m.ByteOrder.Uint32(raw) != idDylib {
			continue
		}
		if v := m.ByteOrder.Uint32(raw[16:]); v != 0 {
			return fmt.Sprintf("%d.%d.%d", v>>16, v>>8&0xFF, v&0xFF)
		}
	}
	return ""
}

var numbered = regexp.MustCompile(`(\d+\.\d+(?:\.\d+)?)`)

// versionInName returns the version in a library's file name, the target's
// where it is a link, or "".
func versionInName(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return numbered.FindString(filepath.Base(path))
}

// compareVersions orders dotted numbers; parts that are no numbers count 0.
func compareVersions(a, b string) int {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m, _ = strconv.Atoi(x[i])
		}
		if i < len(y) {
			n, _ = strconv.Atoi(y[i])
		}
		if m != n {
			if m < n {
				return -1
			}
			return 1
		}
	}
	return 0
}

// usable returns nil for a version that the binding can use, and for one that
// the file did not tell: loading it decides.
func usable(version string) error {
	if version == "" || compareVersions(version, fmt.Sprintf("%d.%d", minMajor, minMinor)) >= 0 {
		return nil
	}
	return fmt.Errorf("it is version %s, but %s or newer is needed", version, MinVersion)
}
