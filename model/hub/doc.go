// Package hub brings models from a hub that answers as Hugging Face's does, and keeps them in
// that hub's own cache, which other programs share:
//
//	HF_HUB_CACHE/models--OWNER--NAME/blobs/DIGEST            what a file holds
//	HF_HUB_CACHE/models--OWNER--NAME/snapshots/COMMIT/PATH   a link to a blob
//	HF_HUB_CACHE/models--OWNER--NAME/refs/REVISION           the commit of a branch or tag
//	HF_HUB_CACHE/.locks/models--OWNER--NAME/DIGEST.lock      who is fetching the blob
//
// Of a repository only the files come that its model needs. A blob gets its name when its
// digest is the one that the hub lists, SHA-256 for large files and git's SHA-1 for small ones; a
// file of a snapshot appears when its blob is whole, the weights after all others, and a
// branch's new commit after those. So a process that is killed leaves what the next one
// completes, and nothing that is taken for whole.
//
// What is in the cache is used as it is: only [Client.Get] asks the hub.
package hub
