package glasshouse

// Parts of docs/reference.md are generated from the flags, the metrics and the source code of the program. The flags
// are private to cmd/dashboard, so a test of that package writes these parts. Without -update, the test only checks
// that they are current.
//
//go:generate go test ./cmd/dashboard -run TestReferenceIsCurrent -count=1 -update
