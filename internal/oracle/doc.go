// Package oracle recomputes the project's own reference files and says how far apart
// they are from what the packages of this module give: exact laws of worlds and tables
// of the paper's asymptotic statements, likelihoods and losses of networks, and
// tensors of checkpoints. Only tests use it:
//
//	go test ./internal/oracle
//
// reads testdata/reference and then the whole folder that the environment variable
// MDMGEN_REFERENCE names. A file is known by its content, whatever it is called and
// wherever it lies below that folder. Each kind turns itself into items, and a report
// does not know which kind they came from. Laws of samplers that the program does not offer
// are counted and not compared ([Report.NotOffered]).
//
// Runs, laws and quotas of published decoding loops are repeated, and not made items of:
// [Folder.Decoders], [Folder.DecoderLaws] and [Quotas] tell what differs.
//
// Laws of other papers' samplers and formulas that only those files hold are worked out here.
package oracle
