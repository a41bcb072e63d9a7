// Package glasshouse embeds the files of the repository's root that the program serves.
package glasshouse

import _ "embed"

//go:generate go run ./internal/notices/generate

//go:embed THIRD_PARTY_NOTICES
var thirdPartyNotices string

// ThirdPartyNotices returns the licenses of the third-party software that the program contains.
func ThirdPartyNotices() string { return thirdPartyNotices }
