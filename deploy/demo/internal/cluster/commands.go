package cluster

import (
	"encoding/json"
	"fmt"

	"glasshouse/deploy/demo/internal/identity"
	"glasshouse/deploy/demo/internal/parts"
)

// commands contains what is needed to start another process of a part: the executable and the arguments of each part.
// For example, a test starts an API server of its own and kills it. A process runs the part that its argv[0] names.
type commands struct {
	Path string              `json:"path"`
	Args map[string][]string `json:"args"`
}

// writeCommands stores the command lines of the parts in a file.
func (p plan) writeCommands(path string) error {
	text, err := json.MarshalIndent(commands{Path: path, Args: map[string][]string{
		parts.Etcd:              p.etcdArgs(),
		parts.APIServer:         p.apiServerArgs(),
		parts.ControllerManager: p.controllerManagerArgs(),
		parts.Scheduler:         p.schedulerArgs(),
		parts.Kubelet:           p.kubeletArgs(),
	}}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the commands: %w", err)
	}
	return identity.WriteFile(p.dir.commands(), text)
}
