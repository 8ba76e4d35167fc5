// Package checkpoint reads masked diffusion networks of any [Family] as they are published or
// trained: a folder with config.json and weights, from safetensors or torch.save, or a trainer's
// file. It returns named tensors and the facts of the model; it computes nothing with them.
//
// Weights are memory mapped, so opening a checkpoint costs neither time nor memory in proportion to
// its size, and tensors can be referred to in place by file and offset. A checkpoint in an
// [io/fs.FS], such as an embedded one, is read into memory once.
//
// Everything is checked before a tensor is returned: the safetensors header (offsets, sizes, types,
// duplicates); the pickle, none of which is run, and the storages that it refers to; the config
// (every key that a network is built from, with limits); and that the files hold exactly the
// tensors and shapes that the config requires in the network's parts. Bad files produce a one-line
// error that names file and tensor; they never cause a panic.
//
// A [Checkpoint] may be shared by goroutines until it is closed.
package checkpoint
