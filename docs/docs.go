// Package docs holds what programs say of the words that the documents explain.
package docs

import _ "embed"

// Glossary is glossary.md: a paragraph a word, which begins with the word in bold.
//
//go:embed glossary.md
var Glossary string
