package live

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/glasshouse-project/glasshouse/internal/watch"
	"github.com/glasshouse-project/glasshouse/internal/watch/query"
	"github.com/glasshouse-project/glasshouse/internal/web/request"
)

const viewRates = "rates"

// followRates sends the restarts and warnings of a list at the start and after each change. The method
// rates.Reader.Next limits the number of messages per second.
func (s *session) followRates(ctx context.Context, o *operation) error {
	if o.Fields+o.Name+o.Cursor != "" || o.Every != 0 || o.Watched {
		return request.BadRequest("Invalid rates subscription",
			"The view rates allows no other members than id, resource, ns, labels and q.")
	}
	reader, err := watch.OpenRates(ctx, s.access, query.Query{
		Resource: o.Resource, Namespaces: o.Namespaces, Labels: o.Labels, Text: o.Text,
	})
	if err != nil {
		return err
	}
	defer reader.Close()
	for {
		result, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		text, err := json.Marshal(result)
		if err != nil {
			return fmt.Errorf("encode the rates: %w", err)
		}
		message := append([]byte(`"type":"rates",`), text[1:len(text)-1]...)
		if s.conn.write(ctx, message, &o.ID, true) != nil {
			return nil // The connection has ended, so the error cannot be sent.
		}
	}
}
