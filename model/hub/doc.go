// Package hub downloads models from a hub with the interface of Hugging Face's, and keeps them in
// that hub's own cache, which other programs share:
//
//	HF_HUB_CACHE/models--OWNER--NAME/blobs/DIGEST            the content of a file
//	HF_HUB_CACHE/models--OWNER--NAME/snapshots/COMMIT/PATH   a link to a blob
//	HF_HUB_CACHE/models--OWNER--NAME/refs/REVISION           the commit of a branch or tag
//	HF_HUB_CACHE/.locks/models--OWNER--NAME/DIGEST.lock      held while fetching the blob
//
// Only the files that a repository's model needs are downloaded. A blob gets its name once its
// digest is the one that the hub lists, SHA-256 for large files and git's SHA-1 for small ones. A
// file of a snapshot appears once its blob is complete, the weights after all others, and a
// branch's new commit last. So a killed process leaves files that the next one completes, and
// nothing that seems complete but is not.
//
// The content of the cache is used without asking the hub; only [Client.Get] does.
package hub
