// Package library finds the shared library of ONNX Runtime on the machine, or fetches it, and says
// what a machine lacks to run networks on a GPU. It loads no library of ONNX Runtime: package ort
// does.
//
// [Search.Find] searches, in this order,
//
//  1. where Search.Library or MDMGEN_RUNTIME points: a file or a folder;
//  2. next to the executable, and in a folder lib there;
//  3. in mdmgen's cache;
//  4. in the onnxruntime Python package of the environment that the program was installed
//     into, or of the active one;
//  5. in the system's library folders;
//
// for a library of at least version 1.24 ([MinVersion]). If a library is named explicitly and
// cannot be used, that is an error; the search skips an unusable library and records the reason.
// [Search.Fetch] fetches version 1.32.0 ([Version]) with pip, checks it against a hash in the
// program, and puts it into the cache; Search.Offline or MDMGEN_OFFLINE forbids that. A build with
// CUDA is fetched only by [Search.Install].
//
// A library is code that runs with the user's rights, so none is returned that others could have
// written, named explicitly or not. The file, its folder and all folders above, once links are
// followed, must belong to the user or to root and be writable by nobody else, except that folders
// above may have the sticky bit, such as /tmp. A group counts as others unless it is root's or the
// one of the user's own name. On Windows, whose files have access lists, this is not checked.
// Python interpreters run isolated, in a folder that others cannot write to and with few variables.
// A library in the cache is used only if its SHA-256 is a published one, which is remembered as
// long as the file is unchanged. A damaged library is fetched again.
package library
