package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// readBody decodes the JSON body of a request into the value that into points to. It refuses unknown JSON members,
// because the server would ignore them and the client expects them to have an effect.
func readBody(r *http.Request, into any) error {
	text, err := io.ReadAll(r.Body)
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return &problem{
			Title: "Body too large", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("A body may have at most %d bytes.", maxBody),
		}
	}
	if err != nil {
		return badRequest("Malformed body", "The body is incomplete.")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(into)
	if err == nil && decoder.Decode(new(json.RawMessage)) != io.EOF {
		err = errors.New("unexpected data after the JSON value")
	}
	if err != nil {
		return badRequest("Malformed body", "The body is not the expected JSON: %.200v. %s", err,
			"GET /api/openapi.json describes it.")
	}
	return nil
}

// writeJSONBody responds with a value as JSON.
func writeJSONBody(w http.ResponseWriter, r *http.Request, status int, value any) error {
	if err := responseOf(r).build(r.Context()); err != nil {
		return err
	}
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode a response: %w", err)
	}
	return writeJSONText(w, status, body)
}

// writeJSONText responds with body, which is already encoded as JSON.
func writeJSONText(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
