package logstream

import (
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

// CheckTail returns a problem if tail, the number of last lines, is not valid. The problem quotes text, the number as
// the client sent it.
func CheckTail(tail int, text string) error {
	if tail < 0 || tail > maxTail {
		return request.BadRequest("Invalid number of lines",
			"The value of tail is %.40q, but must be an integer up to %d.", text, maxTail)
	}
	return nil
}

// SetSince sets the start of the log. An age, such as "10m", sets the field Age. A point in time sets the field Since.
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
