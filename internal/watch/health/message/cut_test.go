package message_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
)

func TestCutKeepsDecisivePart(t *testing.T) {
	const start = "Container app: CrashLoopBackOff, restarted 27 times, last exit 1: "
	frames := strings.Repeat("at app.Server.start(Server.java:52) ", 12) + "at app.Main.main(Main.java:9)"
	info := strings.Repeat("info: loading the next module ", 12)
	for name, test := range map[string]struct{ text, want string }{
		"exception before its stack trace": {
			start + "[2026-01-01 15:46:31,042] FATAL The server cannot start. It stops now, and releases all its resources " +
				"(app.Server) app.StartException: No license for this host. Contact the vendor " + frames,
			"app.StartException: No license for this host",
		},
		"cause of an exception": {
			start + "app.StartException: cannot start " + frames +
				" Caused by: app.LicenseException: no license for this host " + frames,
			"app.LicenseException: no license for this host",
		},
		"logged error": {
			start + info + `{"level":"error","msg":"cannot start","error":"no license for this host"} ` + info,
			`"error":"no license for this host"`,
		},
		"expired certificate before a timeout": {
			start + info + `desc = "handshake failed: x509: certificate has expired". Reconnecting... ` + info +
				"Error: context deadline exceeded",
			"x509: certificate has expired",
		},
		"reason before its effect": {
			start + info + `stderr: "Cloning...\nPermissions 0440 for '/etc/git/key' are too open.\nThe key is ignored.\n" ` +
				info + "fatal: Could not read from remote repository",
			"Permissions 0440 for '/etc/git/key' are too open",
		},
		"error at the end": {
			start + info + "Error: cannot read /etc/one " + info + "Error: cannot read /etc/two",
			info[len(info)-64:] + "Error: cannot read /etc/two",
		},
		"impossible action before its effects": {
			start + info + "[WARNING] Unable to detect an address on [eth0]: no valid interfaces found " + info +
				"[WARNING] Terminating. The program failed to start",
			"Unable to detect an address on [eth0]: no valid interfaces found",
		},
		"error at the start": {
			start + "Error: cannot read /etc/one " + info, start + "Error: cannot read /etc/one " + info[:60],
		},
		"no decisive part": {start + info + info, info[:90]},
		"vague error":      {start + info + "rpc error: code = Internal " + info, info[len(info)-95:]},
	} {
		t.Run(name, func(t *testing.T) {
			short := message.Cut(test.text, 300)
			if !strings.Contains(short, test.want) || len(short) > 300 || !strings.HasPrefix(short, start) ||
				!strings.HasSuffix(short, test.text[len(test.text)-40:]) {
				t.Errorf("got %d bytes: %q, want %q", len(short), short, test.want)
			}
		})
	}
}

func TestCutSplitsNoCharacter(t *testing.T) {
	for at := range 400 {
		text := strings.Repeat("é", at) + " x509: ééé" + strings.Repeat("é", 400-at)
		if short := message.Cut(text, 301); !utf8.ValidString(short) || len(short) > 301 || len(short) < 280 {
			t.Errorf("%d: got %d bytes: %q", at, len(short), short)
		}
	}
}
