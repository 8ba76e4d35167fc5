package flags

// Names that flags and their values had in earlier versions, by command, and what they became.
// Whoever types an old one is told the new.
var oldNames = map[[2]string]string{
	{"bound", "windows"}: "--limit",
	{"man", "markdown"}:  "--format markdown",
	{"verify", "limit"}:  "--tolerance",
}

var oldValues = map[[2]string]string{
	{"draw", "exact"}:   "inverse",
	{"format", "md"}:    "text",
	{"format", "table"}: "text",
	{"oe", "md"}:        "text",
}

func renamed(command, flag string) string { return oldNames[[2]string{command, flag}] }

// shownAs is a refused value as a message shows it.
func shownAs(f *Flag, value string) string {
	if now := oldValues[[2]string{f.Name, value}]; now != "" {
		return value + ", which is " + now + " now"
	}
	return value
}
