package web

import (
	"net/http"
	"strings"
	"time"

	"glasshouse"
)

// notices serves the licenses of the software that the program contains. The text is embedded in the program, and is
// served without a copy.
func (s *Server) notices(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(glasshouse.ThirdPartyNotices()))
	return nil
}
