package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"mdmgen/model/ort/library"
	"mdmgen/tools/internal/fatal"
)

// materials returns the SPDX 2.3 document of a program: its modules, Go and ONNX Runtime.
func materials(info *buildinfo.BuildInfo, commit string, date time.Time, name string) []byte {
	const document, unknown = "SPDXRef-DOCUMENT", "NOASSERTION"
	type object = map[string]any
	var packages, relations []object
	add := func(name, version, licence, source string) {
		id, how := fmt.Sprintf("SPDXRef-%d", len(packages)), object{"spdxElementId": "SPDXRef-0", "relationshipType": "CONTAINS"}
		if len(packages) == 0 {
			how = object{"spdxElementId": document, "relationshipType": "DESCRIBES"}
		}
		how["relatedSpdxElement"] = id
		packages, relations = append(packages, object{
			"SPDXID": id, "name": name, "versionInfo": version, "licenseConcluded": licence, "licenseDeclared": licence,
			"downloadLocation": unknown, "copyrightText": unknown, "filesAnalyzed": false,
			"externalRefs": []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": source + "@" + version}},
		}), append(relations, how)
	}
	add("mdmgen", info.Main.Version, "MIT", "pkg:golang/"+info.Main.Path)
	add("onnxruntime", library.Version, "MIT", "pkg:pypi/onnxruntime")
	add("go", strings.TrimPrefix(info.GoVersion, "go"), "BSD-3-Clause", "pkg:golang/std")
	for _, m := range info.Deps {
		add(m.Path, m.Version, unknown, "pkg:golang/"+m.Path)
	}
	return append(fatal.Must(json.MarshalIndent(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": document, "name": name,
		"documentNamespace": "urn:mdmgen:" + commit + ":" + name,
		"creationInfo":      object{"created": date.Format(time.RFC3339), "creators": []string{"Tool: mdmgen-release"}},
		"packages":          packages, "relationships": relations,
	}, "", " ")), '\n')
}
