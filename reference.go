package glasshouse

// The generated parts of docs/reference.md are derived from the flags, the metrics and the source code of the program.
// The flags are private to cmd/dashboard, so a test of that package writes them. Without -update it checks the
// document.
//
//go:generate go test ./cmd/dashboard -run TestReferenceIsCurrent -count=1 -update
