// Package torture is a test that kills mdmgen at random moments and looks at what is left: nothing half
// under a final name, a run that goes on to the bits of one that was never broken, and no
// temporary once a whole run has followed. From the repository's root:
//
//	go test ./tools/torture -v -timeout 0 -ends 1000
//	go test ./tools/torture -v -timeout 0 -ends 50 -only score,bench -seed 7
//	go test ./tools/torture -v -timeout 0 -ends 280 -only pull,convert
//
// Most ends are SIGKILL, some are Ctrl-C, uniformly over the time that a command takes. It works
// in a temporary folder and prints a table. A thousand ends take about half an hour on two cores and
// write some 40 GB to that folder.
package torture
