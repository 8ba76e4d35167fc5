package library

import (
	"fmt"
	"runtime"

	"mdmgen/internal/fault"
)

const (
	// Version is the version of ONNX Runtime that is fetched if none is found, and CUDAVersion that of
	// the build with CUDA, which is published later.
	Version     = "1.32.0"
	CUDAVersion = "1.31.1"
	// MinVersion is the oldest version that can be used: the binding needs version 24 of the C
	// interface, which version 1.24 introduced.
	MinVersion = "1.24.0"
)

// A build is one published build of Version for an operating system and architecture: a Python
// wheel, which contains the makers' own shared library.
type build struct {
	goos, goarch string
	// platform is the wheel's platform tag; wheel is the SHA-256 of the only
	// wheel of that tag for CPython 3.12, and wheelLibrary that of the library in it.
	platform, wheel, wheelLibrary string
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
		wheel:        "99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8",
		wheelLibrary: "6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f",
	},
	{
		goos: "linux", goarch: "arm64", platform: "manylinux_2_28_aarch64",
		wheel:        "e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054",
		wheelLibrary: "49852228a93995158b2a813d4df487d47a1b76b0eaa894507ef49e91b6d7954a",
	},
	{
		goos: "darwin", goarch: "arm64", platform: "macosx_14_0_arm64",
		wheel:        "d52510bbbcc880c13b826f7d75cdf33ac5cf0bb864d960000fc29ce73f0cb83e",
		wheelLibrary: "fa585fabbea65b823b9a8f7e27d46aee3989d1be7e36b528203d3a1fd613aae7",
	},
	{
		goos: "windows", goarch: "amd64", platform: "win_amd64",
		wheel:        "efe7456952c243a05a53d5b8732953625144642c2f3989094277f6217f0c0c40",
		wheelLibrary: "443c0065fcdba17618ddef05050308f4b471893c5c7da0337d6957c9073ad8a7",
	},
	{
		goos: "windows", goarch: "arm64", platform: "win_arm64",
		wheel:        "64d394c69d561af3efd4d4f49dcac8f11d0ce135a20701c16d53b74056cd4cf8",
		wheelLibrary: "a5c1951a7d495fa0c22a0865fe36981fe67f9d5dc7ba3893c20fa7266dd1e994",
	},
	{ // of onnxruntime-gpu
		goos: "linux", goarch: "amd64", platform: "manylinux_2_28_x86_64",
		wheel:        "05d548956197b9d01f59b625de740e0d6be3593f874e241a12dc0362650ecdf7",
		wheelLibrary: "5104254339ecadae808da771bd0b63b240f0dbd466514234905e54372435c303",
		cuda:         "13",
		providers: map[string]string{
			"libonnxruntime_providers_cuda.so":   "8387867e857499e045caff5d13ac6a5de29571c801562fa2dde0e45f1f31de52",
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

// version returns the version of ONNX Runtime of the build.
func (b build) version() string {
	if b.cuda != "" {
		return CUDAVersion
	}
	return Version
}

// folder returns the name of the build's folder in the cache.
func (b build) folder() string {
	name := "onnxruntime-" + b.version() + "-" + b.goos + "-" + b.goarch
	if b.cuda != "" {
		name += "-cuda" + b.cuda
	}
	return name
}

// called returns the build's name for messages.
func (b build) called() string {
	if b.cuda != "" {
		return "ONNX Runtime " + CUDAVersion + " with CUDA " + b.cuda
	}
	return "ONNX Runtime " + Version
}

// library returns the path of the library in the wheel.
func (b build) library() string {
	return "onnxruntime/capi/" + fileName(b.goos, "onnxruntime", "."+b.version())
}

// fileName returns the name of a library's file on a system; version is empty or begins with a dot. An
// execution provider is a library of its own, which the runtime looks for next to itself.
func fileName(goos, name, version string) string {
	switch goos {
	case "windows":
		return name + ".dll"
	case "darwin":
		return "lib" + name + version + ".dylib"
	}
	return "lib" + name + ".so" + version
}

func providerFile(provider string) string {
	return fileName(runtime.GOOS, "onnxruntime_providers_"+provider, "")
}
