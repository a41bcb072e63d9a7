package wire

import (
	"context"
	"io"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// LogOptions say what of a container's log is wanted.
type LogOptions struct {
	Container  string // Empty where the pod has one alone.
	Follow     bool
	Previous   bool
	Timestamps bool
	Tail       int           // The newest lines there are at the start.
	Age        time.Duration // Of the oldest line; 0 is any.
	Since      time.Time     // The same; the zero Time is any.
}

// Logs opens a container's log. A server that has nothing to send may not answer
// before it has: ctx alone bounds that, and the reading.
func (c *Client) Logs(ctx context.Context, namespace, pod string, options LogOptions) (io.ReadCloser, error) {
	client, err := c.restClient(schema.GroupVersion{Version: "v1"})
	if err != nil {
		return nil, err
	}
	request := client.Get().Namespace(namespace).Resource("pods").Name(pod).SubResource("log").
		Param("tailLines", strconv.Itoa(options.Tail)).SetHeader("Accept", "*/*")
	if options.Container != "" {
		request.Param("container", options.Container)
	}
	for name, set := range map[string]bool{"follow": options.Follow, "previous": options.Previous, "timestamps": options.Timestamps} {
		if set {
			request.Param(name, "true")
		}
	}
	if options.Age > 0 {
		request.Param("sinceSeconds", strconv.FormatInt(int64(max(1, options.Age.Round(time.Second).Seconds())), 10))
	}
	if !options.Since.IsZero() {
		request.Param("sinceTime", options.Since.UTC().Format(time.RFC3339))
	}
	return request.Stream(ctx)
}
