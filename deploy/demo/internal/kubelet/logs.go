package kubelet

import (
	"bytes"
	"fmt"
	"time"
)

// Logs returns the output of kubectl logs, which is the same for every container.
func Logs() []byte {
	return lines(
		`level=info msg="starting" version=1.42.0`,
		`level=info msg="configuration loaded" path=/etc/app/config.yaml`,
		`level=info msg="connected" database=postgres-0.postgres.data.svc:5432 took=41ms`,
		`level=info msg="listening" address=:8080`,
		`level=warn msg="slow request" method=GET path=/api/items status=200 took=1.8s`,
		`level=info msg="request" method=POST path=/api/orders status=201 took=23ms`,
		`level=info msg="this is a demo cluster: no container runs, and each of them logs this line"`,
	)
}

// PreviousLogs returns the log that kubectl logs --previous shows.
func PreviousLogs() []byte {
	return lines(
		`level=info msg="starting" version=1.42.0`,
		`level=error msg="connect" database=postgres-0.postgres.data.svc:5432 `+
			`error="password authentication failed for user \"app\""`,
		`level=error msg="giving up" attempts=5`,
	)
}

// lines returns a log in a container runtime's format. The lines are one second apart, and the last one is about a
// minute old.
func lines(text ...string) []byte {
	var out bytes.Buffer
	start := time.Now().UTC().Add(-time.Minute - time.Duration(len(text))*time.Second)
	for i, line := range text {
		fmt.Fprintf(&out, "%s stdout F %s\n", start.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano), line)
	}
	return out.Bytes()
}
