package main

import "net/http"

// problemMeanings explains problems (error documents) by title. It has the problems whose detail contains no general
// sentence that docs/reference.md can quote.
func problemMeanings() map[string]string {
	return map[string]string{
		"Container is waiting": "The container has not run yet. The detail has the reason and the containers of " +
			"the pod.",
		"Context not opened": "The active context does not change. The detail has the reason.",
		"Forbidden": "The API server does not allow the request for this program or this user, or the share link does not " +
			"include the requested data.",
		"Kubeconfig not readable": "The detail has the reason.",
		"Login cannot be checked": "The API server cannot review the token, the OpenID provider cannot be reached, " +
			"or too many users have logged in.",
		"Namespaces unknown": "The user is not allowed to see all objects of the resource, and the namespaces of " +
			"the cluster are not known yet. Name some namespaces with `ns`.",
		"No log": "The container has no such log, for example no log of a previous instance. The detail has the " +
			"containers of the pod.",
		"API server rejected the credentials": "The API server refuses the credentials of this program, for example an " +
			"expired token. Cached data is shown as `stale`.",
		"Not found": "The object does not exist.",
		"Not known yet": "The share link selects by labels or words, and the resource is still being listed or is " +
			"not live. Retry.",
		"List not available": "The list is not complete (503), forbidden (403) or absent (404), and the requested " +
			"format cannot show this state.",
		"Not logged in": "The client is not identified. The detail has the reason.",
		"Not running":   "The program is starting, stopping, or switching to another cluster.",
		"Not shared": "The route is not for guests (403), or `to` shows something that the share link does not " +
			"include (400).",
		"Not watched": "A `watched` subscription is to a resource that is not watched, or not any more, because it " +
			"has no other readers.",
		"Permissions unknown": "The API server cannot check the permissions of this user now.",
		"The API server does not answer": "The API server cannot be reached, has failed, or has not responded in " +
			"time.",
		"Too many requests": "The address has too many requests in flight or exceeds its rate, or the memory or " +
			"the processors for responses are in use.",
		"Too many links": "The creator has the maximum number of share links (400), or all creators together have " +
			"it (503).",
		"Unknown format":     "The route does not have this format.",
		"Unknown member":     "The message has an unknown member.",
		"Unknown op":         "`op` is not `subscribe`, `window`, `unsubscribe` or `ping`.",
		"Unknown view":       "The route, or the WebSocket, does not have this view.",
		"Container required": "The pod has several containers. The detail names the containers.",
		"Wrong type":         "A member of a message has a value of another type.",
	}
}

// problemStatuses contains the statuses of problems (error documents) for which the source code defines title and
// status in different places.
func problemStatuses() map[string][]int {
	return map[string][]int{
		"API server rejected the credentials": {http.StatusServiceUnavailable},
		"List not available":                  {http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable},
	}
}
