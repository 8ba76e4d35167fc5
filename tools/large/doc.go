// Package large is a test that converts a checkpoint of the shape and size of LLaDA-8B, in bf16 and
// in six shards, and runs the result for one step on a canvas of 64 positions. It prints for each the
// seconds and the peak of the process's memory, including mapped files. From the repository's root:
//
//	go test ./tools/large -v -timeout 0 -layers 32 -dtype int8
//
// With -shape nemotron, and -layers 26, it prints what calls of a few rows cost beside 512 kept ones.
// With -run Store it measures what texts that begin alike share, in a network of the shape of BD3-LM's, in
// a few minutes:
//
//	go test ./tools/large -v -timeout 0 -run Store
//
// It works in a temporary folder, which must have room for the checkpoint, 16 GB, and the converted
// model:
// 32 GB in fp32, 16 in fp16, 11 in int8. Linux only.
package large
