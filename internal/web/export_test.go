package web

import (
	"context"
	"time"
)

// StatusOf lets tests put a ledger of their own into words.
var StatusOf = statusOf

// DocumentOf writes JSON as YAML.
var DocumentOf = documentOf

// Documents are those of a view that many follow.
type Documents = documents

// Latest is documents.latest.
func (d *Documents) Latest(ctx context.Context, after time.Time, text func(context.Context) ([]byte, error)) (number int, made []byte, err error) {
	one, err := d.latest(ctx, after, text)
	if err != nil {
		return 0, nil, err
	}
	return one.number, one.text, nil
}

// PlainText is what is shown of a log that comes in pieces.
func PlainText(pieces ...[]byte) string {
	var p plainText
	var text []byte
	for _, piece := range pieces {
		text = p.append(text, piece)
	}
	return string(p.end(text))
}
