// Package torture is a test that kills mdmgen at random moments and checks what remains: no partial file
// under a final name, a run that continues to the same bits as an uninterrupted one, and no
// temporary files after a complete run. From the repository's root:
//
//	go test ./tools/torture -v -timeout 0 -ends 1000
//	go test ./tools/torture -v -timeout 0 -ends 50 -only score,bench -seed 7
//	go test ./tools/torture -v -timeout 0 -ends 280 -only pull,convert
//
// Most ends are SIGKILL, some are Ctrl-C, uniformly distributed over the duration of a command. It works
// in a temporary folder and prints a table. A thousand ends take about half an hour on two cores and
// write some 40 GB to that folder.
//
// Another test attacks a server as one client can, and measures the delay of another's requests and the
// server's memory, on a machine that is otherwise idle:
//
//	go test ./tools/torture -v -timeout 0 -attacks
package torture
