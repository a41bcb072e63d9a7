//go:build integration

package bench_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"testing"
)

// message is one WebSocket message. The field size is its bytes on the wire, with the frame headers.
type message struct {
	text []byte
	size int
}

// messages reads a WebSocket connection (RFC 6455, RFC 7692) until it ends.
func messages(t *testing.T, in io.Reader, onMessage func(message)) {
	t.Helper()
	var m message
	isCompressed := false
	for {
		head := make([]byte, 2, 8)
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		length := uint64(head[1])
		if extra := map[uint64]int{126: 2, 127: 8}[length]; extra > 0 {
			long := make([]byte, 8)
			if _, err := io.ReadFull(in, long[8-extra:]); err != nil {
				return
			}
			length, m.size = binary.BigEndian.Uint64(long), m.size+extra
		}
		payload := make([]byte, length)
		if _, err := io.ReadFull(in, payload); err != nil {
			return
		}
		m.text = append(m.text, payload...)
		m.size += len(head) + len(payload)
		isCompressed = isCompressed || head[0]&0x40 != 0
		if head[0]&0x80 == 0 {
			continue
		}
		if isCompressed {
			// The first four bytes end the message's deflate data: a sender of WebSocket messages omits them. The other bytes
			// are an empty block, which marks the end of the stream for the reader.
			const tail = "\x00\x00\xff\xff\x01\x00\x00\xff\xff"
			text, err := io.ReadAll(flate.NewReader(
				io.MultiReader(bytes.NewReader(m.text), bytes.NewReader([]byte(tail))),
			))
			if err != nil {
				t.Errorf("read a compressed message: %v", err)
				return
			}
			m.text = text
		}
		onMessage(m)
		m, isCompressed = message{}, false
	}
}
