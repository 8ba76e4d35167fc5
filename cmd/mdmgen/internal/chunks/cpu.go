package chunks

import (
	"runtime"
	"strings"

	"golang.org/x/sys/cpu"
)

// cpuFeatures is the architecture with the extensions by which libraries choose kernels: sums
// may be rounded differently where they differ.
func cpuFeatures() string {
	out := []string{runtime.GOARCH}
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"sse4.1", cpu.X86.HasSSE41}, {"avx", cpu.X86.HasAVX}, {"avx2", cpu.X86.HasAVX2}, {"fma", cpu.X86.HasFMA},
		{"avxvnni", cpu.X86.HasAVXVNNI}, {"avx512f", cpu.X86.HasAVX512F}, {"avx512bw", cpu.X86.HasAVX512BW}, {"avx512vnni", cpu.X86.HasAVX512VNNI},
		{"avx512bf16", cpu.X86.HasAVX512BF16}, {"amxint8", cpu.X86.HasAMXInt8}, {"amxbf16", cpu.X86.HasAMXBF16},
		{"asimddp", cpu.ARM64.HasASIMDDP}, {"sve", cpu.ARM64.HasSVE}, {"i8mm", cpu.ARM64.HasI8MM},
	} {
		if f.has {
			out = append(out, f.name)
		}
	}
	return strings.Join(out, " ")
}
