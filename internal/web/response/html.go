package response

import (
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"github.com/glasshouse-project/glasshouse/internal/web/request"
	"github.com/glasshouse-project/glasshouse/web/templates"
)

type pageBuffer struct {
	response *Response
	text     []byte
}

func (b *pageBuffer) Write(p []byte) (int, error) {
	b.text = b.response.appendTo(b.text, p)
	return len(p), nil
}

// HTML responds with an HTML page.
func HTML(w http.ResponseWriter, r *http.Request, status int, page templ.Component) error {
	if err := Of(r).Build(r.Context()); err != nil {
		return err
	}
	// Render into a buffer, so that a rendering error does not send half of a page.
	body := pageBuffer{response: Of(r)}
	ctx := r.Context()
	if request.IsKiosk(r) {
		ctx = templates.WithKiosk(ctx)
	}
	if err := page.Render(ctx, &body); err != nil {
		return errors.Join(errors.New("render the page"), err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, err := w.Write(body.text)
	return err
}
