package parts

import (
	_ "time/tzdata" // time zones for CronJobs

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // adds support for --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go metrics on /metrics
	_ "k8s.io/component-base/metrics/prometheus/version"  // adds the metric kubernetes_build_info
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	kubescheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func apiServer() int { return cli.Run(apiserver.NewAPIServerCommand()) }

func controllerManager() int { return cli.Run(manager.NewControllerManagerCommand()) }

func scheduler() int { return cli.Run(kubescheduler.NewSchedulerCommand()) }
