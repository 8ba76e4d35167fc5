// Package checkpoint reads masked diffusion networks as they are published or trained: a
// folder with config.json and weights, of safetensors or torch.save, or a trainer's file, of any
// [Family]. It gives named tensors and the facts of the model; it
// computes nothing with them.
//
// Weights are memory mapped, so opening a checkpoint costs neither
// time nor memory in proportion to its size, and tensors may be referred to in
// place by file and offset. A checkpoint in an [io/fs.FS], such as an embedded
// one, is read into memory once.
//
// Everything is checked before a tensor is handed out: the safetensors header
// (offsets, sizes, types, duplicates), the pickle, of which nothing is run, and the storages
// that it refers to, the config (every key that a network is
// built from, with limits), and that the files hold all tensors, with
// exactly the shapes, that the config asks for, and no others of the network's parts. Bad files
// give an error of one line that names file and tensor; they never panic.
//
// A [Checkpoint] may be shared by goroutines until it is closed.
package checkpoint
