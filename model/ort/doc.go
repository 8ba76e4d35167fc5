// Package ort opens ONNX networks with ONNX Runtime and runs them. No type of
// the runtime or of its binding leaves the package: a network is a [Session]
// with named inputs and outputs, whose tensors are the caller's own slices.
//
// The runtime is a shared library that is on the machine or that the package fetches once. [Open]
// searches, in this order,
//
//  1. where Config.Library or MDMGEN_RUNTIME points: a file or a folder;
//  2. next to the executable, and in a folder lib there;
//  3. in mdmgen's cache ([CacheDir]);
//  4. in the onnxruntime Python package of the environment that the program was installed
//     into, or of the active one;
//  5. in the system's library folders;
//
// for a library of at least version 1.24 ([MinVersion]). If a library is named explicitly and
// cannot be used, that is an error; the search skips an unusable library and records the reason,
// see [Diagnose]. If nothing is found, Open fetches version 1.30.0 ([Version]) with pip, checks it
// against a hash in the program, and puts it into the cache; Config.Offline or MDMGEN_OFFLINE
// forbids that. The error for a runtime that is missing, or lacks the requested device, is a
// [*MissingError].
//
// A library is code that runs with the user's rights, so the package loads none that others could
// have written, named explicitly or not. The file, its folder and all folders above, once links are
// followed, must belong to the user or to root and be writable by nobody else, except that folders
// above may have the sticky bit, such as /tmp. A group counts as others unless it is root's or the
// one of the user's own name. On Windows, whose files have access lists, this is not checked.
// Python interpreters run isolated, in a folder that others cannot write to and with few variables.
// A library in the cache is loaded only if its SHA-256 is a published one; [Stamps] remembers the
// digest as long as the file is unchanged. A damaged library is fetched again.
//
// The runtime's telemetry is switched off before the library is loaded, so it makes no connections
// and leaves no files.
//
// A network on a CUDA device needs a library with that provider, which only [Install] fetches, and
// NVIDIA's driver and libraries, see [Report]. Nodes that the provider does not take are an error
// that names them, unless the device is auto: then they are logged, and the provider's name lists them.
//
// A process has one runtime environment: it begins with the first session, is shared by all, and
// ends with the last one. The library cannot change while a session is open.
package ort
