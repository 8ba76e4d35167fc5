package setup

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"mdmgen/cmd/mdmgen/internal/kit"
	"mdmgen/internal/exit"
	"mdmgen/model/ort"
	"mdmgen/model/ort/library"
)

// maxThreads is the maximum of --threads.
const maxThreads = 4096

// Runtime holds the flags that choose ONNX Runtime's library and how it runs.
type Runtime struct {
	library, device       string
	threads               int
	offline, verifyDigest bool
	tf32                  bool
	offlineFlag           *kit.Flag
}

// Flags returns the flags that choose the runtime. Package ort reads its own environment variables.
func (r *Runtime) Flags() kit.Set {
	r.device = "cpu"
	return kit.Set{
		r.LibraryFlag(),
		kit.Text(&r.device, kit.Flag{Name: "device", Category: kit.CatGeneral, Env: "MDMGEN_DEVICE", Words: []string{"cpu", "cuda", "auto"},
			Usage: "run on `DEVICE`: cpu, cuda, cuda:N or auto"}),
		kit.Bool(&r.tf32, kit.Flag{Name: "tf32", Category: kit.CatGeneral, Usage: "let a GPU multiply float32 numbers as TF32, faster but with 10-bit mantissas"}),
		kit.Int(&r.threads, 0, maxThreads, kit.Flag{Name: "threads", Category: kit.CatGeneral, Default: "all", Env: envThreads, Lazy: true,
			Usage: "use `N` threads for a network call"}),
		r.OfflineFlag(),
	}
}

// LibraryFlag returns --runtime.
func (r *Runtime) LibraryFlag() *kit.Flag {
	return kit.Text(&r.library, kit.Flag{Name: "runtime", Category: kit.CatGeneral, Env: "MDMGEN_RUNTIME", Lazy: true,
		Usage: "load ONNX Runtime's library from `PATH`, a file or folder (default: searched for, else fetched once)"})
}

// OfflineFlag returns --offline.
func (r *Runtime) OfflineFlag() *kit.Flag {
	r.offlineFlag = kit.Bool(&r.offline, kit.Flag{Name: "offline", Category: kit.CatGeneral, Env: envOffline, Lazy: true, Usage: "never fetch anything"})
	return r.offlineFlag
}

const (
	envThreads = "MDMGEN_THREADS"
	envOffline = "MDMGEN_OFFLINE"
)

// switches lists the values of a variable that is on or off.
var switches = []string{"1", "true", "yes", "on", "0", "false", "no", "off"}

// ThreadsFlag returns --threads for a command that takes a list.
func ThreadsFlag(p *string) *kit.Flag {
	return kit.Text(p, kit.Flag{Name: "threads", Category: kit.CatGeneral, Default: "all", Env: envThreads, Lazy: true,
		Usage: "take a `LIST` of numbers of threads for a network call"})
}

// Threads returns --threads, else the environment's number, 0 for all.
func (r *Runtime) Threads(all kit.Set) (int, error) {
	if all.Given("threads") {
		return r.threads, nil
	}
	text := os.Getenv(envThreads)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxThreads {
		return 0, exit.Usagef("%s=%s: must be a whole number in 0..%d, 0 for all", envThreads, text, maxThreads)
	}
	return n, nil
}

// Fetching returns the search for the library that --runtime and --offline determine.
func (r *Runtime) Fetching(s kit.Streams, all kit.Set) (library.Search, error) {
	if text := strings.ToLower(os.Getenv(envOffline)); text != "" && !all.Given("offline") && !slices.Contains(switches, text) {
		return library.Search{}, exit.Usagef("%s=%s: must be true or false", envOffline, os.Getenv(envOffline))
	}
	return library.Search{Library: r.library, VerifyDigest: r.verifyDigest, Offline: r.offline, Online: all.Given("offline") && !r.offline, Log: s.Notice, Spell: all.Spell}, nil
}

// Config returns the configuration of the runtime according to the flags.
func (r *Runtime) Config(s kit.Streams, all kit.Set) (ort.Config, error) {
	threads, err := r.Threads(all)
	if err != nil {
		return ort.Config{}, err
	}
	search, err := r.Fetching(s, all)
	if err != nil {
		return ort.Config{}, err
	}
	if err := ort.CheckDevice(r.device); err != nil {
		source := "--device "
		if !all.Given("device") {
			source = "MDMGEN_DEVICE="
		}
		return ort.Config{}, exit.Usagef("%s%s: must be %s", source, r.device, ort.DeviceForms)
	}
	if r.tf32 && onCPU(r.device) {
		return ort.Config{}, exit.Usagef("%s: is for --device cuda", all.Typed("tf32"))
	}
	return ort.Config{Search: search, Device: r.device, Threads: threads, TF32: r.tf32}, nil
}

// On selects another device. TF32 does not carry over to the CPU.
func (r *Runtime) On(device string) {
	if r.device = device; onCPU(device) {
		r.tf32 = false
	}
}

func onCPU(device string) bool { return device == "cpu" }

// worldConfig returns an error for flags that a world cannot use. Values from the environment are
// ignored.
func (r *Runtime) worldConfig(s kit.Streams, all kit.Set) (ort.Config, error) {
	if err := all.Unused("to a world, a table that needs no runtime", "runtime", "threads", "offline", "tf32"); err != nil {
		return ort.Config{}, err
	}
	out := ort.Config{Search: library.Search{Log: s.Notice}, Device: "cpu"}
	if all.Given("device") {
		out.Device = r.device // Another device is rejected by name.
	}
	return out, nil
}
