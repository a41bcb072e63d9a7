package web

// NewAssets is newAssets. It lets tests create Assets from other files than the embedded ones.
var NewAssets = newAssets
