// Package ort opens ONNX networks with ONNX Runtime and runs them. No type of
// the runtime or of its binding leaves the package: a network is a [Session]
// with named inputs and outputs, whose tensors are the caller's own slices.
//
// The runtime is a shared library. [Open] loads the one that package library finds or fetches; the
// error for a runtime that is missing, or lacks the requested device, is a [*library.MissingError].
//
// The runtime's telemetry is switched off before the library is loaded, so it makes no connections
// and leaves no files.
//
// A network on a CUDA device needs a library with that provider, and NVIDIA's driver and libraries,
// see [Report]. Nodes that the provider does not take run on the CPU: the runtime's own profile,
// see [ReadProfiles], has them.
//
// A process has one runtime environment: it begins with the first session, is shared by all, and
// ends with the last one. The library cannot change while a session is open.
package ort
