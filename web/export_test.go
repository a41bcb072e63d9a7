package web

// NewAssets are those of other files than the embedded ones.
var NewAssets = newAssets
