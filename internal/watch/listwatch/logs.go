package listwatch

import (
	"context"
	"io"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// LogOptions selects a part of a container's log.
type LogOptions struct {
	Container  string // Can be empty if the pod has only one container.
	Follow     bool
	Previous   bool
	Timestamps bool
	Tail       int           // Maximum number of existing lines to send; the newest are sent.
	Age        time.Duration // Maximum age of a line; 0 means no limit.
	Since      time.Time     // Time of the oldest line to send; the zero Time for no limit.
}

// Logs opens the log of a container. Its only time limit is ctx, because the server can wait for the container's first
// output.
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
	for name, set := range map[string]bool{
		"follow": options.Follow, "previous": options.Previous, "timestamps": options.Timestamps,
	} {
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
