package web

// NewAssets creates Assets from other files than the embedded ones.
var NewAssets = newAssets
