// Package ort opens ONNX networks with ONNX Runtime and runs them. No type of
// the runtime or of its binding leaves the package: a network is a [Session]
// with named inputs and outputs, whose tensors are the caller's own slices.
//
// The runtime is a shared library that the machine has or that the package
// fetches once. [Open] looks, in this order,
//
//  1. where Config.Library or MDMGEN_RUNTIME points: a file or a folder;
//  2. beside the executable, and in a folder lib there;
//  3. in mdmgen's cache ([CacheDir]);
//  4. in the onnxruntime Python package of the environment that the program was installed
//     into, or of the active one;
//  5. in the system's library folders;
//
// for a library of at least version 1.24 ([MinVersion]). A library that was
// pointed at and cannot be used is an error; one that the search passes is left
// out with its reason, see [Diagnose]. If nothing is found, version
// 1.30.0 ([Version]) is fetched with the package client that the machine has,
// pip, checked against a hash that is part of the program, and put into
// the cache; Config.Offline or MDMGEN_OFFLINE forbids that. A runtime that is
// missing, or lacks the wished device, is a [*MissingError].
//
// A library is code that runs with the user's rights, so none is loaded that
// others could have put there, pointed at or not: the file, its folder and all
// folders above, once links are followed, must belong to the user or to root and
// be writable by nobody else, but for folders above with the sticky bit, such as
// /tmp. A group counts as others unless it is root's or the one of the user's own
// name. On Windows, whose files have access lists, this is not checked. The
// interpreter that is asked for its packages, and the package clients, run isolated,
// in a folder that others cannot write to and with few variables. A library of the
// cache is loaded only if its SHA-256 is the published one; [Stamps]
// remember it as long as the file is unchanged. A damaged one is fetched again.
//
// The runtime's telemetry is switched off before the library is loaded: it
// connects to nobody and leaves no files.
//
// A network on a CUDA device needs a library with that provider, which only [Install] fetches, and
// NVIDIA's driver and libraries, see [Report]. What the provider does not take is an
// error that names the nodes, unless Config.AllowFallback does.
//
// A process has one runtime environment: it begins with the first session, all
// sessions share it, and it ends with the last one. The library cannot change
// while a session is open.
package ort
