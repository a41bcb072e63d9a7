package web

import (
	"net/http"
	"strings"
	"time"

	"glasshouse"
)

// notices serves the licenses of the third-party software in this program. The text is embedded in the binary, and is
// not copied for each request.
func notices(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(glasshouse.ThirdPartyNotices()))
	return nil
}
