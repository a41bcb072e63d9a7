package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/glasshouse-project/glasshouse/deploy/demo/internal/identity"
)

type ports struct {
	APIServer         int `json:"apiserver"`
	Etcd              int `json:"etcd"`
	EtcdPeer          int `json:"etcdPeer"`
	ControllerManager int `json:"controllerManager"`
	Scheduler         int `json:"scheduler"`
	Kubelet           int `json:"kubelet"`
	Forward           int `json:"forward"` // target of kubectl port-forward; the demo does not listen here
}

func (p *ports) all() []*int {
	return []*int{&p.APIServer, &p.Etcd, &p.EtcdPeer, &p.ControllerManager, &p.Scheduler, &p.Kubelet, &p.Forward}
}

func defaultPorts() ports {
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

func choosePorts(path string, apiserver int) (ports, error) {
	preferred := defaultPorts()
	if data, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(data, &preferred); err != nil {
			return ports{}, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if apiserver != 0 {
		preferred.APIServer = apiserver
	}
	chosen, err := freePorts(preferred)
	if err != nil {
		return ports{}, err
	}
	data, err := json.Marshal(chosen)
	if err != nil {
		return ports{}, fmt.Errorf("encode ports: %w", err)
	}
	return chosen, identity.WriteFile(path, data)
}

// freePorts returns the preferred ports. A free port replaces each preferred port that is in use.
func freePorts(preferred ports) (_ ports, err error) {
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
	}()
	for _, port := range preferred.all() {
		l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: *port})
		if err != nil {
			l, err = net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		}
		if err != nil {
			return ports{}, fmt.Errorf("find a free port: %w", err)
		}
		// Keep listening until all ports are chosen, so that none is chosen twice.
		listeners = append(listeners, l)
		addr, ok := l.Addr().(*net.TCPAddr)
		if !ok {
			return ports{}, fmt.Errorf("find a free port: %v is not a TCP address", l.Addr())
		}
		*port = addr.Port
	}
	return preferred, nil
}
