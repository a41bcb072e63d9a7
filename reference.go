package glasshouse

// Parts of docs/reference.md are generated from the flags, the metrics and the source code of the program, and
// docs/invariants.md from the comments of tests. The flags are private to cmd/dashboard, so tests of that package write
// these documents. Without -update, the tests only check that they are current.
//
//go:generate go test ./cmd/dashboard -run TestReferenceIsCurrent|TestInvariantsAreCurrent -count=1 -update
