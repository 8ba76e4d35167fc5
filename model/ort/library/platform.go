package library

import (
	"fmt"
	"runtime"

	"mdmgen/internal/fault"
)

const (
	// Version is the version of ONNX Runtime that is fetched if none is found.
	Version = "1.30.0"
	// MinVersion is the oldest version that can be used: the binding needs version 24 of the C
	// interface, which version 1.24 introduced.
	MinVersion = "1.24.0"
)

// A build is one published build of Version for an operating system and architecture: a Python
// wheel, which contains the makers' own shared library.
type build struct {
	goos, goarch string
	// platform is the wheel's platform tag; wheel is the SHA-256 of the only
	// wheel of that tag for CPython 3.12, and library the file in it.
	platform, wheel, library string
	// wheelLibrary is the SHA-256 of that file.
	wheelLibrary string
	// cuda is the version of CUDA that the build is for, "" for the CPU alone. providers holds the
	// SHA-256 of the provider libraries in the wheel, next to the library.
	cuda      string
	providers map[string]string
}

// builds are all builds of Version that are fetched. The hashes are those of the published files;
// wheels of a version are never replaced.
var builds = []build{
	{
		goos: "linux", goarch: "amd64", platform: "manylinux_2_28_x86_64",
		wheel:        "fa688e7891a6aa206636fe7372e27ee75fd17713289f6b4fc7b190e0a7de9328",
		library:      "onnxruntime/capi/libonnxruntime.so.1.30.0",
		wheelLibrary: "c902c70b3003c0e99fada202f37478c515ae9bba7944c2b2abd0017bae0c82ed",
	},
	{
		goos: "linux", goarch: "arm64", platform: "manylinux_2_28_aarch64",
		wheel:        "6c32a000d5139a38ba9349030b0032e3331acb559d596b22738d9d2b343a2b83",
		library:      "onnxruntime/capi/libonnxruntime.so.1.30.0",
		wheelLibrary: "8a218e1e446880131115c368ec7005969a5022af9a15a26173de648fef0b7789",
	},
	{
		goos: "darwin", goarch: "arm64", platform: "macosx_14_0_arm64",
		wheel:        "001ed726c9bd5e2bc92faade7d37d889e9606a350b7d5529f0227df2e3bb57fd",
		library:      "onnxruntime/capi/libonnxruntime.1.30.0.dylib",
		wheelLibrary: "b46713ea6a25a5227541c21001f6422c1ccdeaecc369aa026a61b752520325c3",
	},
	{
		goos: "windows", goarch: "amd64", platform: "win_amd64",
		wheel:        "f3501472571f1b1eee50e017851e7929f5ea37312d2d8c2494a19e8fc58b4a38",
		library:      "onnxruntime/capi/onnxruntime.dll",
		wheelLibrary: "e42c5c917207ff706530315177e39dca2539695a6a8d968a22225e34291b1f12",
	},
	{
		goos: "windows", goarch: "arm64", platform: "win_arm64",
		wheel:        "dc4c706f1935ebb62356e6a095b047859badd854482c40560888e95c328ed262",
		library:      "onnxruntime/capi/onnxruntime.dll",
		wheelLibrary: "73f0a1ed25a088da5dbc5f76af9c32f8b7dd88033715078b0c04632a9d11f745",
	},
	{ // of onnxruntime-gpu
		goos: "linux", goarch: "amd64", platform: "manylinux_2_28_x86_64",
		wheel:        "6acc0f4b3d5ac5f2984432faa59dd8fcce6775f8b43a7140afa0f322c7a703b1",
		library:      "onnxruntime/capi/libonnxruntime.so.1.30.0",
		wheelLibrary: "5a140dc17c8b60b35b2ceab0bb533e65ac54f06a208948417c1f9c31df6afc4c",
		cuda:         "13",
		providers: map[string]string{
			"libonnxruntime_providers_cuda.so":   "35da2e7ed0dd0d1aec5cdb16ce11a51d06c0c48cf62d1b1c9332946a4fae14fc",
			"libonnxruntime_providers_shared.so": "086ec1d5388f64153d9c63470d126693db9a182c8ce236d3a1119068471b8a0d",
		},
	},
}

// buildFor returns the build for an operating system and architecture in Go's names, with CUDA or
// for the CPU alone, or an error if there is none.
func buildFor(goos, goarch string, cuda bool) (build, error) {
	for _, b := range builds {
		if b.goos == goos && b.goarch == goarch && (b.cuda != "") == cuda {
			return b, nil
		}
	}
	what := fmt.Sprintf("no build of version %s exists for %s on %s", Version, goos, goarch)
	switch {
	case cuda:
		what = fmt.Sprintf("no build with CUDA is fetched for %s on %s", goos, goarch)
	case goos == "darwin" && goarch == "amd64":
		what = fmt.Sprintf("no build of version %s exists for Macs with an Intel processor", Version)
	}
	return build{}, &MissingError{What: what, Do: fault.Advise("build one of version %s or newer and name it with %v", MinVersion, named)}
}

// folder returns the name of the build's folder in the cache.
func (b build) folder() string {
	name := "onnxruntime-" + Version + "-" + b.goos + "-" + b.goarch
	if b.cuda != "" {
		name += "-cuda" + b.cuda
	}
	return name
}

// called returns the build's name for messages.
func (b build) called() string {
	if b.cuda != "" {
		return "ONNX Runtime " + Version + " with CUDA " + b.cuda
	}
	return "ONNX Runtime " + Version
}

// libraryPatterns returns the names of the library on this system, as patterns of [filepath.Match].
func libraryPatterns() []string {
	switch runtime.GOOS {
	case "windows":
		return []string{"onnxruntime.dll"}
	case "darwin":
		return []string{"libonnxruntime.dylib", "libonnxruntime.*.dylib"}
	}
	return []string{"libonnxruntime.so", "libonnxruntime.so.*"}
}

// providerFile returns the name of an execution provider's own library, which the runtime looks for
// next to itself.
func providerFile(provider string) string {
	switch runtime.GOOS {
	case "windows":
		return "onnxruntime_providers_" + provider + ".dll"
	case "darwin":
		return "libonnxruntime_providers_" + provider + ".dylib"
	}
	return "libonnxruntime_providers_" + provider + ".so"
}
