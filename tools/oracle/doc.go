// Package oracle recomputes the project's own reference files and reports how far
// they are from what the packages of this module give: exact laws of worlds and tables
// of the paper's asymptotic statements, likelihoods and losses of networks, and
// tensors of checkpoints. It is tests alone:
//
//	go test ./tools/oracle
//
// reads testdata/reference and then the whole folder that the environment variable
// MDMGEN_REFERENCE names. A file is known by its content, whatever it is called and
// wherever it lies below that folder. Each kind says what a file must hold as a tree of its
// shape, and every number of the file is compared with the tree. Laws of samplers that the
// program does not offer are counted and not compared.
//
// Runs and laws of published decoding loops are repeated.
//
// Laws of other papers' samplers and formulas that only those files hold are worked out here.
package oracle
