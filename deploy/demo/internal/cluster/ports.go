package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"glasshouse/deploy/demo/internal/identity"
)

// ports says where each part listens on the loopback.
type ports struct {
	APIServer         int `json:"apiserver"`
	Etcd              int `json:"etcd"`
	EtcdPeer          int `json:"etcdPeer"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
	Kubelet           int `json:"kubelet"`
	Forward           int `json:"forward"` // Nobody listens there; port-forward leads there.
}

func (p *ports) all() []*int {
	return []*int{&p.APIServer, &p.Etcd, &p.EtcdPeer, &p.ControllerManager, &p.Scheduler, &p.Kubelet, &p.Forward}
}

// usualPorts are those that each part has by tradition.
func usualPorts() ports {
	return ports{
		APIServer:         6443,
		Etcd:              2379,
		EtcdPeer:          2380,
		ControllerManager: 10257,
		Scheduler:         10259,
		Kubelet:           10247,
		Forward:           18080,
	}
}

// choosePorts gives the ports that the file at path has from last time, or the usual ones, each of them only if it is
// free now; otherwise any free one. An apiserver other than 0 is preferred to both. The choice is kept in the file, so
// that kubeconfigs written earlier stay true where they can.
func choosePorts(path string, apiserver int) (ports, error) {
	wanted := usualPorts()
	if data, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(data, &wanted); err != nil {
			return ports{}, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if apiserver != 0 {
		wanted.APIServer = apiserver
	}
	chosen, err := freePorts(wanted)
	if err != nil {
		return ports{}, err
	}
	data, err := json.Marshal(chosen)
	if err != nil {
		return ports{}, fmt.Errorf("encode ports: %w", err)
	}
	return chosen, identity.WriteFile(path, data)
}

// freePorts holds each port until the last is chosen, so that no two are the same.
func freePorts(wanted ports) (_ ports, err error) {
	var held []net.Listener
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Close())
		}
	}()
	for _, port := range wanted.all() {
		l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: *port})
		if err != nil {
			l, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		}
		if err != nil {
			return ports{}, fmt.Errorf("find a free port: %w", err)
		}
		held = append(held, l)
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return ports{}, fmt.Errorf("find a free port: %v is no TCP address", l.Addr())
		}
		*port = addr.Port
	}
	return wanted, nil
}
