package serve

import _ "embed"

//go:generate go test -run TestDocument -update .

// document is the OpenAPI document, which TestDocument makes of the types of requests and answers.
//
//go:embed openapi.json
var document []byte

// document answers with the OpenAPI document.
func (s *Server) document(x *exchange) error {
	x.w.Header().Set("Content-Type", "application/json")
	_, err := x.w.Write(document)
	return err
}
