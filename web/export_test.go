package web

// NewAssets is the function newAssets. With it, tests can create Assets from files other than the embedded ones.
var NewAssets = newAssets
