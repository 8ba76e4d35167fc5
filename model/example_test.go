package model_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"mdmgen/model"
	"mdmgen/samplers"
)

// A world is a model whose rows are a table: here three bits whose sum is even, with noise.
func ExampleOpen() {
	m, err := model.Open(context.Background(), "../testdata/reference/laws/xor3-mixed.json", model.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	f := m.Facts()
	fmt.Println(f.Family, "with", f.Columns, "tokens,", f.Length, "positions, MASK is", f.MaskID)

	canvas := []int64{0, 1, int64(f.MaskID)}
	row, err := m.Logits(context.Background(), samplers.Call{IDs: canvas, Positions: []int64{2}, Counts: []int{1}})
	if err != nil {
		log.Fatal(err)
	}
	for a, logit := range row {
		fmt.Printf("after 0 1 comes %d with probability %.3f\n", a, math.Exp(float64(logit)))
	}
	// Output:
	// world with 2 tokens, 3 positions, MASK is 2
	// after 0 1 comes 0 with probability 0.157
	// after 0 1 comes 1 with probability 0.843
}
