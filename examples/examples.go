// Package examples embeds a text to try commands on.
package examples

import _ "embed"

// Tale is the tale Schippeitaro from Andrew Lang's The Violet Fairy Book (1901), in the public
// domain. The built-in model was not trained on it.
//
//go:embed tale.txt
var Tale string
