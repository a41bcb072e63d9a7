package listwatch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/glasshouse-project/glasshouse/internal/watch/compact"
)

const (
	metadataPage = 500 // The maximum number of objects in one page of a list of metadata.
	// acceptMetadata is the Accept header of lists of metadata. Some servers can send only complete objects.
	acceptMetadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

var errLimit = errors.New("the list has more objects than the limit")

// EachMetadata lists the objects of a resource, and calls visit with the metadata of at most limit objects, including
// their managedFields. It does not keep the metadata. isComplete is false if there are more objects than limit.
func (c *Client) EachMetadata(
	ctx context.Context, resource schema.GroupVersionResource, namespace string, limit int, visit func(*compact.Metadata),
) (isComplete bool, err error) {
	client, err := c.restClient(resource.GroupVersion())
	if err != nil {
		return false, err
	}
	for options := (metav1.ListOptions{Limit: metadataPage}); ; {
		body, err := client.Get().NamespaceIfScoped(namespace, namespace != "").Resource(resource.Resource).
			SpecificallyVersionedParams(&options, runtime.NewParameterCodec(c.scheme), schema.GroupVersion{Version: "v1"}).
			SetHeader("Accept", acceptMetadata).Stream(ctx)
		if err == nil {
			options.Continue, err = readMetadata(body, func(m *compact.Metadata) error {
				if limit--; limit < 0 {
					return errLimit
				}
				visit(m)
				return nil
			})
			_ = body.Close()
		}
		switch {
		case errors.Is(err, errLimit):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("list the metadata of %s: %w", resource.Resource, err)
		case options.Continue == "" || limit == 0:
			return options.Continue == "", nil
		}
	}
}

// readMetadata reads one page of a list, object by object, and returns the token of the next page.
func readMetadata(body io.Reader, visit func(*compact.Metadata) error) (next string, err error) {
	dec := json.NewDecoder(bufio.NewReaderSize(body, 64<<10))
	isList := false
	err = eachMember(dec, func(key string) error {
		switch key {
		case "metadata":
			var meta metav1.ListMeta
			err := dec.Decode(&meta)
			next = meta.Continue
			return err
		case "items":
			isList = true
			return eachElement(dec, func(object json.RawMessage) error {
				m, err := compact.ReadMetadata(object)
				if err != nil {
					return err
				}
				return visit(&m)
			})
		}
		var skipped json.RawMessage
		return dec.Decode(&skipped)
	})
	if err == nil && !isList {
		err = errNotAList
	}
	return next, err
}
