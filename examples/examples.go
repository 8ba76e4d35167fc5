// Package examples holds texts that commands can be tried with.
package examples

import _ "embed"

// Tale is a short tale, of some sixty sentences, that was written for this project.
//
//go:embed tale.txt
var Tale string
