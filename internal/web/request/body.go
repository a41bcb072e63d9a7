package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// MaxBody is the maximum length of the body of a request, in bytes.
const MaxBody = 64 << 10

// ReadBody decodes the JSON body of a request. It refuses unknown members, because a client that sends a member expects
// an effect.
func ReadBody(r *http.Request, into any) error {
	text, err := io.ReadAll(r.Body)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return &Problem{
			Title: "Body too large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("A body may have at most %d bytes.", MaxBody),
		}
	}
	if err != nil {
		return BadRequest("Malformed body", "The complete body was not received.")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err = decoder.Decode(into); errors.Is(err, io.EOF) {
		err = errors.New("the body is empty")
	}
	if err == nil && decoder.Decode(new(json.RawMessage)) != io.EOF {
		err = errors.New("unexpected data after the JSON value")
	}
	if err != nil {
		return BadRequest("Malformed body", "The body is not the expected JSON: %.200v. %s", err,
			"GET /api/openapi.json describes it.")
	}
	return nil
}
