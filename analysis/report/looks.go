package report

import (
	"image/color"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mdmgen/samplers/catalog"
)

// The colours of Okabe and Ito (2008), which can be told apart with every common colour
// blindness. Orange and sky are darker than theirs, so that every colour has a contrast of 3 or
// more on white and on a dark page.
var (
	ink       = color.RGBA{0x00, 0x00, 0x00, 0xff} // the text's colour on a page
	blue      = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	vermilion = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green     = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	purple    = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	orange    = color.RGBA{0xb8, 0x78, 0x00, 0xff}
	sky       = color.RGBA{0x3d, 0x9b, 0xd9, 0xff}
	grey      = color.RGBA{0x80, 0x80, 0x80, 0xff}
)

var (
	shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}}
	dashes = [][]vg.Length{nil, {6, 3}, {8, 2, 2, 2}, {4, 4}, {10, 3}}
)

// look is how a series is drawn: shape and dash say again what the colour says.
type look struct {
	colour      color.RGBA
	shape, dash int
}

// samplerLooks are those of samplers, the same in every picture. Those that are compared most
// have a colour of their own; of two with one colour the second is the less usual.
var samplerLooks = map[string]look{
	"fhs":            {ink, 0, 0},
	"euler":          {vermilion, 1, 0},
	"tweedie":        {blue, 0, 0},
	"tau-leaping":    {orange, 2, 0},
	"parallel-fhs":   {green, 1, 0},
	"uniformization": {sky, 3, 0},
	"matu":           {sky, 4, 1},
	"dmpm":           {grey, 5, 0},
	"trapezoidal":    {purple, 2, 0},
	"paired-fhs":     {green, 5, 1},
	"ordered":        {ink, 6, 1},

	"confidence":      {vermilion, 2, 2},
	"threshold":       {blue, 3, 2},
	"factor":          {blue, 4, 3},
	"localleap":       {blue, 5, 4},
	"entropy-bounded": {purple, 1, 2},
	"llada2":          {orange, 6, 2},
	"remdm":           {grey, 7, 3},
	"p2":              {orange, 7, 4},
}

// others are the looks of what is no sampler, such as a bound, in the order of preference.
var others = []look{{grey, 0, 1}, {sky, 2, 2}, {orange, 0, 3}, {purple, 1, 4}, {green, 0, 2}, {blue, 1, 1}, {vermilion, 0, 3}, {ink, 1, 4}}

var word = regexp.MustCompile(`[\pL\d_-]+`)

// samplerIn is the sampler that a series names, "" for none.
func samplerIn(name string) string {
	for _, w := range word.FindAllString(strings.ReplaceAll(strings.ToLower(name), "τ", "tau"), -1) {
		if d, ok := catalog.Describe(w); ok {
			return d.Name
		}
		if strings.HasPrefix(w, "tau-") { // tau-one and tau-any of worlds
			return "tau-leaping"
		}
	}
	return ""
}

// looksOf gives the series of pictures that are shown together their looks, by name: that of
// the sampler that a series names, with another shape and dash for a second one of the same
// sampler; or one that no other has.
func looksOf(plots ...Plot) map[string]look {
	out := make(map[string]look)
	count := make(map[string]int)
	var rest []string
	for _, p := range plots {
		for _, s := range p.Series {
			_, known := out[s.Name]
			switch name := samplerIn(s.Name); {
			case known || slices.Contains(rest, s.Name) || p.parent(s) != "":
			case samplerLooks[name] == look{}: // no sampler, or one that is new
				rest = append(rest, s.Name)
			default:
				l := samplerLooks[name]
				k := count[name]
				count[name]++
				out[s.Name] = look{l.colour, (l.shape + k) % len(shapes), (l.dash + k) % len(dashes)}
			}
		}
	}
	free := slices.Clone(others)
	slices.SortStableFunc(free, func(a, b look) int { return uses(out, a) - uses(out, b) })
	for i, name := range rest {
		l := free[i%len(free)]
		l.shape = (l.shape + i/len(free)) % len(shapes)
		out[name] = l
	}
	for _, p := range plots {
		for _, s := range p.Series {
			if of := p.parent(s); of != "" {
				out[s.Name] = out[of]
			}
		}
	}
	return out
}

// uses counts the series that have a look's colour.
func uses(all map[string]look, l look) (n int) {
	for _, o := range all {
		if o.colour == l.colour {
			n++
		}
	}
	return n
}

// parent is the name of the series that a line belongs to, which its own begins with: it has
// the same colour, and no name in the picture.
func (p Plot) parent(s Series) string {
	if s.Style != StyleLine {
		return ""
	}
	for _, o := range p.Series {
		if o.Style != StyleLine && strings.HasPrefix(s.Name, o.Name+", ") {
			return o.Name
		}
	}
	return ""
}
