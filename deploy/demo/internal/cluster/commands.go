package cluster

import (
	"encoding/json"
	"fmt"

	"glasshouse/deploy/demo/internal/identity"
	"glasshouse/deploy/demo/internal/parts"
)

// commands is what somebody needs who wants one more of a part, as a test does that kills an API server of its own: the
// executable, and the arguments of each part. A process is the part that its argv[0] names.
type commands struct {
	Path string              `json:"path"`
	Args map[string][]string `json:"args"`
}

// writeCommands writes down how the parts are started.
func (p plan) writeCommands(path string) error {
	text, err := json.MarshalIndent(commands{Path: path, Args: map[string][]string{
		parts.Etcd: p.etcdArgs(), parts.APIServer: p.apiServerArgs(),
		parts.ControllerManager: p.controllerManagerArgs(),
		parts.Scheduler:         p.schedulerArgs(), parts.Kubelet: p.kubeletArgs(),
	}}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the commands: %w", err)
	}
	return identity.WriteFile(p.dir.commands(), text)
}
