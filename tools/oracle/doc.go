// Package oracle recomputes the project's own reference files and reports how far
// they differ from the results of this module's packages: exact laws of worlds, tables
// of the paper's asymptotic statements, likelihoods and losses of networks, and
// tensors of checkpoints. It consists of tests alone:
//
//	go test ./tools/oracle
//
// reads testdata/reference and then the whole folder that the environment variable
// MDMGEN_REFERENCE names. Files are recognised by their content, whatever their names and
// places below that folder. Each kind returns the expected contents of a file as a tree of the
// same shape, and every number of the file is compared with the tree. Laws of samplers that the
// program does not have are counted and not compared.
//
// Runs and laws of published decoding loops are reproduced.
//
// Formulas that only those files use are computed here.
package oracle
