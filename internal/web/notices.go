package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/glasshouse-project/glasshouse"
)

// notices serves the licenses of third-party software. It reads the embedded text directly, without a copy per request.
func notices(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(glasshouse.ThirdPartyNotices()))
	return nil
}
