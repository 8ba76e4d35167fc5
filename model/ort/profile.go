package ort

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// CPUProvider is the runtime's name of the provider that takes the nodes that the others do not.
const CPUProvider = "CPUExecutionProvider"

// Ran is the number of nodes of an operator that a provider ran.
type Ran struct {
	Provider, Operator string
	Nodes              int
}

// ReadProfiles reads what the runtime wrote to the folder of [Config.Profile], once all sessions are
// closed. A node counts once, however often it ran; one that the runtime folded into a constant, or
// in a branch that was not taken, did not run.
func ReadProfiles(folder string) (all []Ran, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("onnx runtime: it wrote no profile to %s", folder)
	}
	at := make(map[Ran]int)
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var events []struct {
			Name string
			Args struct {
				Provider string `json:"provider"`
				Operator string `json:"op_name"`
				Index    string `json:"node_index"`
			}
		}
		if err := json.Unmarshal(data, &events); err != nil {
			return nil, fmt.Errorf("onnx runtime: its profile: %w", err)
		}
		seen := make(map[string]bool)
		for _, e := range events {
			node, kernel := strings.CutSuffix(e.Name, "_kernel_time")
			key := strings.Join([]string{node, e.Args.Operator, e.Args.Index}, "\x00")
			if !kernel || e.Args.Provider == "" || seen[key] {
				continue
			}
			seen[key] = true
			kind := Ran{Provider: e.Args.Provider, Operator: e.Args.Operator}
			i, ok := at[kind]
			if !ok {
				i = len(all)
				at[kind], all = i, append(all, kind)
			}
			all[i].Nodes++
		}
	}
	return all, nil
}
