package livetest

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
)

// UpgradeHeader returns the header lines of a request that opens a WebSocket, each as "Name: value". The given lines
// replace those of the same name, and are otherwise added. The line Host is missing unless it is given.
func UpgradeHeader(lines ...string) []string {
	header := []string{
		"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol: glasshouse.v1+json",
	}
	header = slices.DeleteFunc(header, func(line string) bool { return hasLine(lines, line) })
	return append(header, lines...)
}

func hasLine(lines []string, line string) bool {
	name, _, _ := strings.Cut(line, ":")
	return slices.ContainsFunc(lines, func(other string) bool {
		otherName, _, _ := strings.Cut(other, ":")
		return strings.EqualFold(otherName, name)
	})
}

// Upgrade opens a WebSocket over conn, for tests that send invalid frames or never read. It sends data together with
// the request. The lines are those of UpgradeHeader. Upgrade reads at most a few bytes after the response; the returned
// Reader contains them.
func Upgrade(conn net.Conn, data string, lines ...string) (*bufio.Reader, error) {
	if !hasLine(lines, "Host") {
		lines = append([]string{"Host: localhost"}, lines...)
	}
	request := append([]string{"GET /api/v1/live HTTP/1.1"}, UpgradeHeader(lines...)...)
	if _, err := io.WriteString(conn, strings.Join(request, "\r\n")+"\r\n\r\n"+data); err != nil {
		return nil, err
	}
	reader := bufio.NewReaderSize(conn, 16)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close() // The connection stays open.
	if response.StatusCode != http.StatusSwitchingProtocols {
		return nil, &RefusedError{response.StatusCode, errors.New("WebSocket refused")}
	}
	return reader, nil
}

// TextFrame returns a text frame of a client.
func TextFrame(text string) string { return Frame(0x81, text) }

// Frame returns a frame of a client (RFC 6455 section 5.2). The first byte contains the flags and the type. The masking
// key is 0, so that the payload stays readable.
func Frame(first byte, payload string) string {
	const masked = 0x80
	head := []byte{first}
	switch size := len(payload); {
	case size > 65535:
		head = binary.BigEndian.AppendUint64(append(head, masked|127), uint64(size))
	case size > 125:
		head = binary.BigEndian.AppendUint16(append(head, masked|126), uint16(size)) //nolint:gosec // Below 64 KiB.
	default:
		head = append(head, masked|byte(size))
	}
	return string(append(head, 0, 0, 0, 0)) + payload
}
