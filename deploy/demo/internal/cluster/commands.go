package cluster

import (
	"encoding/json"
	"fmt"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/parts"
)

// commands is the content of commands.json. Tests that kill a part of the cluster (such as etcd) use it to restart the
// part.
type commands struct {
	Path string              `json:"path"`
	Args map[string][]string `json:"args"`
}

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
