package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse"
)

// notices serves the licenses of third-party software. The embedded text is not copied for each request.
func notices(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(glasshouse.ThirdPartyNotices()))
	return nil
}
