package response

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// JSON responds with a value as JSON.
func JSON(w http.ResponseWriter, r *http.Request, status int, value any) error {
	if err := Of(r).Build(r.Context()); err != nil {
		return err
	}
	body, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode a response: %w", err)
	}
	return JSONText(w, status, body)
}

// JSONText responds with a body that is already JSON.
func JSONText(w http.ResponseWriter, status int, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}
