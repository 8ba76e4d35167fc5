// Package docs embeds the glossary for pages that define their terms.
package docs

import _ "embed"

// Glossary is glossary.md: one paragraph per term, beginning with the term in bold.
//
//go:embed glossary.md
var Glossary string
