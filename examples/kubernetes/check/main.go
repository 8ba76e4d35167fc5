// Command check reads Kubernetes manifests as the types of k8s.io/api, strictly: a field that is
// misspelt, in the wrong place or of another type is an error. From this folder:
//
//	go run . ../parts.yaml ../merge.yaml ../serve.yaml
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, path := range os.Args[1:] {
		data, err := os.ReadFile(path)
		if err != nil {
			fail(path, err)
		}
		for i, part := range bytes.Split(data, []byte("\n---\n")) {
			var kind struct{ APIVersion, Kind string }
			if err := yaml.Unmarshal(part, &kind); err != nil {
				fail(path, err)
			}
			into := map[string]any{
				"apps/v1 Deployment": &apps.Deployment{}, "batch/v1 Job": &batch.Job{},
				"v1 PersistentVolumeClaim": &core.PersistentVolumeClaim{}, "v1 Service": &core.Service{},
			}[kind.APIVersion+" "+kind.Kind]
			if into == nil {
				fail(path, fmt.Errorf("part %d is %s %s", i+1, kind.APIVersion, kind.Kind))
			}
			text, err := yaml.YAMLToJSONStrict(part)
			if err != nil {
				fail(path, err)
			}
			strict, err := json.UnmarshalStrict(text, into)
			if err := errors.Join(append(strict, err)...); err != nil {
				fail(path, err)
			}
			fmt.Printf("%s: part %d is a %s\n", path, i+1, kind.Kind)
		}
	}
}

func fail(path string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
	os.Exit(1)
}
