package main

import "net/http"

// problemMeanings explains the problems (error documents) whose detail text is too specific to be quoted in
// docs/reference.md. The key is the title of the problem.
func problemMeanings() map[string]string {
	return map[string]string{
		"Container is waiting": "The container has not run yet. The detail has the reason and the containers of " +
			"the pod.",
		"Context not opened": "The requested context cannot be opened, so the active context does not change. The detail " +
			"has the reason.",
		"Only one cluster":          "The server cannot switch clusters. The detail has the conditions for a switch.",
		"Another cluster is active": "The share link was created for another cluster than the active one.",
		"Forbidden": "The API server does not allow the request for this program or this user, or the share link does not " +
			"include the requested data.",
		"Log is cut": "The API server interrupted the log.",
		"Link not found": "The opened URL belongs to no valid link: the link has expired, was revoked, or its URL is " +
			"incomplete. Or you tried to revoke a link, and none of your links has this ID.",
		"Masked field":      "A field selector uses a field whose values are masked.",
		"No such container": "The pod has no container with this name.",
		"No such context":   "The kubeconfig has no context with this name.",
		"Origin not allowed": "A page of another site sent the request, or a WebSocket request with a cookie has no header " +
			"`Origin`. Other sites can only link to this server.",
		"Page not found": "The path does not exist. The paths under `/debug/pprof/` exist only on the listener of " +
			"--metrics-listen, and only if its address is a loopback address.",
		"Read only": "The method is not allowed for this path.",
		"Too many field selectors": "Each field selector needs its own watch, and the maximum number of these watches " +
			"is reached.",
		"Too many sort orders": "The server keeps a sorted list of rows for each requested order and filter. The maximum " +
			"number of these lists is reached, or memory is short.",
		"Unknown namespace": "The namespace does not exist.",
		"Unknown resource": "The cluster does not serve the resource, or the text is not of the form " +
			"group/version/resource, such as core/v1/pods.",
		"Kubeconfig not readable": "The server cannot read the kubeconfig, or its contexts. The detail has the reason.",
		"Login not available": "The server has no login page, or no callback for an OpenID provider, because of the value " +
			"of `--auth`.",
		"Login cannot be checked": "The API server cannot review the token, the OpenID provider cannot be reached, " +
			"or too many users have logged in.",
		"Namespaces unknown": "The user is not allowed to see all objects of the resource, and the namespaces of " +
			"the cluster are not known yet. Name some namespaces with `ns`.",
		"No log": "The container has no such log, for example no log of a previous instance. The detail names the " +
			"containers of the pod.",
		"API server rejected the credentials": "The API server refuses the credentials of this program, for example an " +
			"expired token. Cached data is shown as `stale`.",
		"Not found": "The object does not exist.",
		"Not known yet": "The share link selects objects by labels or words. The server does not know yet whether these " +
			"select the object, because the first list is not complete or the watch is interrupted. Retry.",
		"List not available": "The program has not loaded the resource yet (503), the resource is forbidden (403), or " +
			"the cluster does not serve it (404). In the format json, the server sends the state of the list instead.",
		"Not logged in": "The client is not identified. The detail has the reason.",
		"Not running":   "The program is starting, stopping, or switching to another cluster.",
		"Not shared": "The route is not for guests (403), or the page `to` of a new share link shows something that " +
			"the link does not include (400).",
		"Not watched": "A subscription with `\"watched\":true` can only use a watch that other readers have opened. " +
			"The resource has no such watch, or the watch has ended.",
		"Permissions unknown": "The API server cannot check the permissions of this user now.",
		"The API server does not respond": "The API server cannot be reached, has failed, or has not responded in " +
			"time.",
		"Too many requests": "The client has too many requests in flight or exceeds the rate of its address, or all " +
			"memory or processors for responses are in use.",
		"Too many links": "The creator has the maximum number of share links (400), or all creators together have " +
			"the maximum (503).",
		"Container required": "The pod has several containers. The detail names the containers.",
	}
}

// problemStatuses contains the HTTP statuses of problems (error documents) for which this test cannot find them: the
// source code defines the title and the status in different places.
func problemStatuses() map[string][]int {
	return map[string][]int{
		"API server rejected the credentials": {http.StatusServiceUnavailable},
		"List not available":                  {http.StatusForbidden, http.StatusNotFound, http.StatusServiceUnavailable},
	}
}
