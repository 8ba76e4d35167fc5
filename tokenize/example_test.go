package tokenize_test

import (
	"context"
	"fmt"
	"log"

	"mdmgen/tokenize"
)

// Plain text cannot become a special token.
func Example() {
	t, err := tokenize.Open(context.Background(), "../builtin/fairytale")
	if err != nil {
		log.Fatal(err)
	}
	ids, err := t.EncodePlain("Once upon a time")
	if err != nil {
		log.Fatal(err)
	}
	text, err := t.Decode(ids)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ids, text)

	matched, _ := t.Encode("<|endoftext|>")
	plain, _ := t.EncodePlain("<|endoftext|>")
	fmt.Println(matched, plain)

	_, err = t.Decode([]int{4096})
	fmt.Println(err)
	// Output:
	// [1497 322 668 258 525] Once upon a time
	// [2047] [27 91 645 78 682 68 838 91 29]
	// tokenize: id 4096 at position 0: no token of ../builtin/fairytale/tokenizer.json has it: ids run from 0 to 2047
}
