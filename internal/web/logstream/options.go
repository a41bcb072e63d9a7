package logstream

import (
	"time"

	"glasshouse/internal/watch"
	"glasshouse/internal/web/request"
)

// CheckTail returns a problem if tail is not a valid number of last lines of a log. The parameter text is the value
// of tail in the request, for the message of the problem.
func CheckTail(tail int, text string) error {
	if tail < 0 || tail > maxTail {
		return request.BadRequest("Invalid number of lines",
			"The value of tail is %.40q, but must be an integer up to %d.", text, maxTail)
	}
	return nil
}

// SetSince parses text, and sets where the log starts: the field Since to a time, or the field Age to a duration
// before now. An empty text changes nothing.
func SetSince(o *watch.LogOptions, text string) (err error) {
	if text == "" {
		return nil
	}
	if o.Since, err = time.Parse(time.RFC3339, text); err == nil {
		return nil
	}
	if o.Age, err = time.ParseDuration(text); err != nil || o.Age <= 0 {
		return request.BadRequest("Invalid time",
			"The value of since is %.40q, but must be an age, such as 10m, or a time, such as 2026-11-21T10:00:00Z.", text)
	}
	return nil
}
