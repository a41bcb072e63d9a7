package web

// StatusOf lets tests put a ledger of their own into words.
var StatusOf = statusOf
