// Package bound puts the two sides of the paper's statements beside each other,
// on worlds, on real text and on a network's own chain, and says what the
// numbers show. It computes nothing that packages laws, theory and likelihood
// compute; it chooses, pairs and judges.
package bound

// Schema names the layout of a report's JSON form.
const Schema = "mdmgen.bound/1"

// Report is what `mdmgen bound` prints: statements with both sides, and the
// numbers behind them.
type Report struct {
	Schema string `json:"schema"`
	// Mode is world, text, chain, own or plan.
	Mode string `json:"mode"`
	// Holds is false where a statement that must hold is violated.
	Holds bool   `json:"holds"`
	Lines []Line `json:"lines"`
	// Laws are the laws of a world's data, of first-hitting and of the samplers that were
	// asked for.
	Laws []Law `json:"laws,omitempty"`
	// Plots are series behind the pictures of the HTML page.
	Plots []Plot `json:"plots,omitempty"`
	// Notes say what the numbers measure, and what they do not.
	Notes []string `json:"notes,omitempty"`
	// Interrupted says that the work was ended before it was done: the report is about
	// what was done.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Line is one statement.
type Line struct {
	// Name is short and stable, such as "theorem4"; Statement says it in words,
	// with the source in the paper.
	Name      string `json:"name"`
	Statement string `json:"statement"`
	// Left and Right are the two sides in nats (or as Unit says), Gap is Right − Left.
	Left  Value  `json:"left"`
	Right Value  `json:"right"`
	Gap   Value  `json:"gap"`
	Unit  string `json:"unit"`
	// Verdict is what the numbers show; "" for a line that is reported without one.
	Verdict string `json:"verdict,omitempty"`
	// OK is false where the statement is violated.
	OK bool `json:"ok"`
}

// Value is a number, exact or an estimate. Lo and Hi bound it where it is an
// estimate of N draws; they equal Mean where it is exact.
type Value struct {
	Mean       float64 `json:"mean"`
	Lo         float64 `json:"lo"`
	Hi         float64 `json:"hi"`
	SE         float64 `json:"se,omitempty"`
	N          int     `json:"n,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Exact      bool    `json:"exact"`
	// Bound is "upper" or "lower" where the number is a bound on what is named.
	Bound string `json:"bound,omitempty"`
}

// Plot is a picture: series of points with error bars.
type Plot struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	LogX   bool     `json:"log_x,omitempty"`
	LogY   bool     `json:"log_y,omitempty"`
	Series []Series `json:"series"`
	// Caption carries fitted slopes with their intervals.
	Caption string `json:"caption,omitempty"`
}

// Series is a line of a plot.
type Series struct {
	Name string `json:"name"`
	// Style is how it is drawn; "" joins its points by lines where that means anything.
	Style  string  `json:"style,omitempty"`
	Points []Point `json:"points"`
}

// The styles of a series: a line without marks, in the colour of the series whose name it
// begins with; marks without a line; rings around points of other series.
const (
	StyleLine   = "line"
	StylePoints = "points"
	StyleMarks  = "marks"
)

// Point has a range where Lo < Hi.
type Point struct {
	X, Y   float64
	Lo, Hi float64 `json:",omitempty"`
}
