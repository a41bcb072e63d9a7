package main

type limitGroup struct {
	title  string
	limits []limit
}

// limitGroups returns the tables of limits for docs/reference.md. A name in braces, such as {quota.maxFields}, is a
// placeholder for the value of the constant with this name.
func limitGroups() []limitGroup {
	return []limitGroup{
		{"Requests and connections", []limit{
			{"Request header", "{web.maxHeader size}; it must arrive within {web.headerTimeout}"},
			{"Header fields of a request", "{quota.maxFields}"},
			{"Size of path and query", "{quota.maxRequestTarget size}"},
			{
				"Request body",
				"none with GET; with other methods {request.MaxBody size}, received within {web.readTimeout}, with a " +
					"`Content-Length`, not compressed",
			},
			{"Size of the login form", "{page.maxLogin size}; the field `to` {request.maxReturnPath size}"},
			{
				"Requests in flight of all users and guests",
				"{quota.maxRequests}; with a memory limit, at most one for each {quota.requestMemory size} of " +
					"1/{quota.requestMemoryDivisor} of the limit, but at least {quota.minRequests}",
			},
			{"Requests in flight of all other clients", "the same limit as for all users and guests"},
			{
				"Requests in flight of one address",
				"{quota.addressRequests}, but at most a quarter of the limit for all users and guests; WebSockets do not count",
			},
			{"Requests in flight of a user, or of a guest at one address", "a quarter of the limit for all users and guests"},
			{"Requests in flight of all guests of one link", "half of the limit for all users and guests"},
			{
				"Request bodies that are being read",
				"{quota.maxBodies}, but at most 1/4 of the limit for requests in flight of all users and guests",
			},
			{
				"Request bodies of one address that are being read",
				"{quota.addressBodies}, but at most 1/32 of the limit for requests in flight of all users and guests",
			},
			{
				"Rate of requests, connections and WebSocket messages of one address",
				"{quota.addressBurst} at once, then {quota.addressRate} a second; an oversized request counts as " +
					"{quota.oversizedCost}",
			},
			{
				"Requests that wait because an address exceeds its rate",
				"{quota.maxRateWaiters}, at most 1/4 of the limit for requests in flight of all users and guests; " +
					"of one address half",
			},
			{"Time that a request waits because its address exceeds its rate", "{listen.AddressWait}"},
			{"Connections", "{listen.maxConnections}; of one address {listen.addressConnections}"},
			{"Connections without a request", "{listen.maxWaiting}"},
			{
				"Idle time of a connection",
				"{listen.IdleTimeout}; shorter if over half of the maximum of connections without a request are open; " +
					"{listen.minIdle} at this maximum",
			},
			{"HTTP/2 streams of one connection", "{quota.MaxStreams}"},
		}},
		{"Responses", []limit{
			{
				"Memory of responses and long WebSocket messages",
				"1/8 of `--memory-limit`, but at least {quota.least size} and at most {quota.most size}; without a limit " +
					"{quota.most size}",
			},
			{"Memory for the responses of one caller", "1/{limit.callerFraction} of the memory of all responses"},
			{
				"Memory for the responses of all guests of a link, or of all clients without a login",
				"1/{limit.groupFraction} of the memory of all responses",
			},
			{"Time that a request waits for memory or a processor", "{response.reserveTimeout}"},
			{
				"Time without progress, or delay compared with the minimum rate, after which a response is unread",
				"{limit.stalledAfter}",
			},
			{
				"Minimum rate at which a client must read while another client waits for memory",
				"{limit.minRate size} a second; doubles with each second of the wait, up to {limit.maxRate size} a second",
			},
			{"Time that a request waits before the server keeps free memory for it", "{limit.overdueAfter}"},
			{"Time in which a client must read each {response.pieceBytes size} of a response", "{response.StallTimeout}"},
			{
				"Scans, response builds and text conversions at the same time",
				"one less than the number of processors, at least 1",
			},
			{
				"Scans, response builds and text conversions of one user, link or address",
				"half of the number of processors, at least 1",
			},
		}},
		{"Logins", []limit{
			{"Size of a bearer token", "{auth.maxToken size}"},
			{"Bearer tokens whose user is cached", "{auth.maxCached}, for {auth.cacheTTL}"},
			{"TokenReviews at the same time", "{auth.maxInFlight}"},
			{
				"Time for a login at an OpenID provider",
				"{auth.providerLoginTimeout}; for each response of the provider {auth.providerTimeout}",
			},
			{"Completed logins at an OpenID provider", "{auth.maxUsedStates} within {auth.providerLoginTimeout}"},
			{
				"Login sessions",
				"{auth.maxSessions}; of one user {auth.maxUserSessions}; a further login ends the session " +
					"that was idle longest",
			},
		}},
		{"Share links", []limit{
			{"Share links", "{share.maxShares}; of one creator {share.maxCreatorShares}"},
			{"Lifetime of a link", "{share.MinLifetime} to {share.MaxLifetime}; default {share.DefaultLifetime}"},
			{"Size of a link", "{api.maxParts} parts; a note of {api.maxNote} bytes"},
			{
				"Audit lines with `open` for one link, or with `refuse` for all clients",
				"{share.guestLineBurst} at once, then one every {share.guestLineInterval}",
			},
			{"Size of an audit file", "{share.auditSize size}; there is one current and one previous file"},
		}},
		{"WebSockets and subscriptions", []limit{
			{"WebSockets", "{quota.maxSockets}; of one address {quota.addressSockets}, of one user {quota.viewerSockets}"},
			{"WebSockets of guests", "{quota.guestSockets}; of one link {quota.linkSockets}"},
			{"Messages from one WebSocket", "{quota.messageBurst} at once, then {quota.messageRate} a second"},
			{
				"Frames from one WebSocket",
				"{quota.frameBurst} at once, then {quota.frameRate} a second; each {listen.frameBytes size} of a " +
					"frame count as one more frame",
			},
			{
				"Frames from all WebSockets of one address",
				"{quota.addressFrameBurst} at once, then {quota.addressFrames} a second",
			},
			{
				"Size of a frame from the client",
				"{live.maxMessage size}; a longer frame causes an error, and counts as one message for each " +
					"{live.maxMessage size}; over {live.maxDrained size}, the connection is closed",
			},
			{"Invalid messages of one connection", "{live.maxInvalidMessages}"},
			{"Subscriptions of one connection", "{live.maxSubscriptions}"},
			{
				"Subscriptions of one user, link or address, and of all guests",
				"{quota.SocketSubscriptions} times their limit of WebSockets",
			},
			{"Time in which a client must read a message, or a chunk of a message", "{listen.WriteTimeout}"},
			{"Pings from the server", "every {live.pingInterval}; the client must respond within {live.pongTimeout}"},
			{"Time that the server waits for further changes before a message, under load", "{stream.maxDelay}"},
		}},
		{"Queries and views", []limit{
			{"Namespaces of one query", "{query.maxNamespaces}"},
			{"Size of a label selector, field selector or text filter", "{query.maxSelector size}"},
			{"Requirements and values of a label selector; words of a text filter", "{query.maxTerms}"},
			{"Name of an object", "253 characters"},
			{"Text and results of a search", "{search.maxSearch size}; {api.maxSearchLimit} results"},
			{
				"Field selectors in use",
				"{pool.maxFieldScopes}; of one user {pool.userFieldScopes}, of one link {pool.linkFieldScopes}, " +
					"of all links {pool.guestFieldScopes}",
			},
			{"Rows of a window", "{query.MaxWindow}"},
			{
				"Rankings (sorted lists of rows) of one resource",
				"{ranking.maxAllRankings}; of one user or link {ranking.maxRankings}, of all links " +
					"{ranking.maxGuestRankings}",
			},
			{"Time that a ranking without readers is kept", "{ranking.rankingLinger}; less if the maximum is reached"},
			{
				"Changes and objects from which the view `rates` counts",
				"{rates.maxChanges} changes of each resource; {rates.maxCounts} counts of objects",
			},
			{"Changes in the snapshot of the view `changes`", "{stream.maxHistoryChanges}, about {stream.maxHistoryBytes size}"},
			{"Health of an object", "{result.maxDetails} details; {result.maxText} bytes for each sentence"},
			{"Run of a health script", "{script.maxInstructions} instructions, about 50 ms at most"},
			{"Nodes of a graph of related objects", "{relations.maxNodes}"},
			{"Resources that are searched for a graph", "{relations.maxKinds}"},
			{"Objects that are read one by one for a graph", "{relations.maxReads}; further objects have the state `unknown`"},
			{
				"Nodes for objects of one kind and owner in a graph",
				"{relations.maxPerGroup}; one more node represents all further objects",
			},
			{
				"Logs that are read at the same time",
				"{quota.maxLogs}; of one user {quota.viewerLogs}, of one link {quota.linkLogs}, of all links " +
					"{quota.guestLogs}",
			},
			{"Lines at the start of a log", "{logstream.maxTail}; default {logstream.DefaultTail}"},
		}},
		{"Watching", []limit{
			{"Namespaces of one resource that are watched one by one", "{lease.Max}"},
			{
				"Access reviews of the program's permissions in single namespaces",
				"{reconcile.reviewSpacing rate} a second for permitted namespaces, and as many for denied " +
					"namespaces",
			},
			{
				"Time between two access reviews of a namespace",
				"{authz.ReviewEvery} if permitted, {reconcile.deniedEvery} if denied; up to " +
					"{reconcile.maxReviewInterval} with very many namespaces",
			},
			{"Namespaces that are reviewed one by one for a user", "{authz.MaxReviewedNamespaces}"},
			{"Cached decisions (allowed or denied) about users", "{authz.maxDecisions}"},
			{"Access reviews at the same time", "{authz.allReviews}; of one user {authz.userReviews}"},
			{
				"Time until the program again lists a resource that does not fit into memory",
				"{reconcile.estimateDelay} if the estimated size does not fit, {reconcile.relistDelay} if the list does not fit",
			},
		}},
	}
}
