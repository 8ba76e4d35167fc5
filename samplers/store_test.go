package samplers

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// InUse returns the number of canvases that use a store, and of its nodes, and whether these are within its
// bound.
func (s *Store) InUse() (users, nodes int, within bool) {
	users = s.root.users
	for e := s.order.Front(); e != nil; e = e.Next() {
		users += e.Value.(*node).users
	}
	return users, s.order.Len(), s.bytes() <= s.most
}

// path is the kept rows of a node of TestStore: the texts of the nodes on its way.
type path string

func (p path) Clone() Kept       { return p }
func (p path) Cut(int, int) Kept { return p }
func (p path) Paste(int, Kept)   {}

// TestStore compares random trees with a list of texts, from which the text goes that was used least
// recently of those that no other begins with and nobody uses.
func TestStore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 1))
		most := 1 + r.IntN(12)
		s := &Store{most: int64(10 * most), each: 10}
		used, clock := make(map[path]int), 0
		type user struct {
			n    *node
			text path
		}
		var users []user
		begins := func(p path) bool {
			for q := range used {
				if strings.HasPrefix(string(q), string(p)) && q != p {
					return true
				}
			}
			return slices.ContainsFunc(users, func(u user) bool { return u.text == p })
		}
		use := func(p path) {
			for ; p != ""; p = p[:len(p)-2] {
				clock++
				used[p] = clock
			}
		}
		for range 60 {
			if len(users) > 0 && r.IntN(3) == 0 {
				i := r.IntN(len(users))
				users[i].n.users--
				users = slices.Delete(users, i, i+1)
			}
			u := user{n: &s.root}
			apart := string(rune('x' + r.IntN(2)))
			u.n.users++
			for range 1 + r.IntN(4) {
				token := int64(r.IntN(2))
				next := u.text + path(fmt.Sprint(token)+"/")
				if u.text == "" {
					next = path(fmt.Sprint(token) + apart)
				}
				_, known := used[next]
				users = append(users, u)
				for !known && len(used) == most {
					leaves := slices.SortedFunc(maps.Keys(used), func(a, b path) int { return used[a] - used[b] })
					i := slices.IndexFunc(leaves, func(p path) bool { return !begins(p) })
					if i < 0 {
						break
					}
					delete(used, leaves[i])
				}
				users = users[:len(users)-1]
				n := s.add(u.n, apart, []int64{token}, func() Kept { return next })
				if (n == nil) != (!known && len(used) == most) || n != nil && n.rows != next {
					t.Fatalf("seed %d: %q gives %v of %d, room for %d", seed, next, n, len(used), most)
				}
				if n == nil {
					break
				}
				use(next)
				u.n.users--
				n.users++
				u = user{n, next}
			}
			users = append(users, u)
			for p := range used {
				above, n := &s.root, (*node)(nil)
				for i := 0; i < len(p); i += 2 {
					n = above.below[above.keyOf(string(p[1]), []int64{int64(p[i] - '0')})]
					if above = n; n == nil {
						t.Fatalf("seed %d: %q is gone", seed, p)
					}
				}
			}
			if got, nodes, within := s.InUse(); got != len(users) || nodes != len(used) || !within {
				t.Fatalf("seed %d: %d users of %d nodes, want %d of %d; within its bound: %t", seed, got, nodes, len(users), len(used), within)
			}
		}
	}
}
