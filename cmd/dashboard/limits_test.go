package main

// limitGroup is one table of limits in docs/reference.md.
type limitGroup struct {
	title  string
	limits []limit
}

// limitGroups returns the tables of limits in docs/reference.md. A text in braces is the name of a Go constant, and
// is replaced by its value. Limits without a number are not in the tables. The document describes them after the
// tables.
func limitGroups() []limitGroup {
	return []limitGroup{
		{"Requests and connections", []limit{
			{"Request header", "{web.maxHeader size}, within {web.headerTimeout}"},
			{"Header fields of a request", "{web.maxFields}"},
			{"Path with query", "{web.maxRequestTarget size}"},
			{
				"Request body",
				"none with GET; otherwise {web.maxBody size}, within {web.readTimeout}, with a " +
					"`Content-Length`, not compressed",
			},
			{"Form of a login", "{web.maxLogin size}; the field `to` {web.maxReturnPath size}"},
			{
				"Requests in flight of all users and guests",
				"{web.maxRequests}; with a memory limit, only as many as fit into " +
					"1/{web.requestMemoryDivisor} of it with {web.requestMemory size} for each request, at least " +
					"{web.minRequests}",
			},
			{"Requests in flight of all other clients", "as many as of all users and guests"},
			{
				"Requests in flight of one address",
				"{web.addressRequests}, at most a quarter of the first row; WebSockets do not count",
			},
			{"Requests in flight of a user, or of a guest at one address", "a quarter of the requests of all users and guests"},
			{"Requests in flight of all guests of one link", "half of the requests of all users and guests"},
			{"Request bodies that are being read", "{web.maxBodies}, at most 1/4 of the requests in flight"},
			{"Request bodies of one address that are being read", "{web.addressBodies}, at most 1/32 of the requests in flight"},
			{
				"Rate of requests, connections and WebSocket messages of one address",
				"{web.addressBurst} at once, then {web.addressRate} a second; an oversized request counts as " +
					"{web.oversizedCost}",
			},
			{
				"Requests that wait because an address exceeds its rate",
				"{web.maxRateWaiters}, at most a quarter of the requests in flight; of one address half as many",
			},
			{"Time that such a request waits", "{web.addressWait}"},
			{"Connections", "{web.maxConnections}, of one address {web.addressConnections}"},
			{"Connections without a request", "{web.maxWaiting}"},
			{
				"Idle time of a connection",
				"{web.idleTimeout}; if more than half of the connections without a request are in use, less, " +
					"down to {web.minIdle} when all are",
			},
			{"HTTP/2 streams of one connection", "{web.maxStreams}"},
		}},
		{"Responses", []limit{
			{
				"Memory of responses and long WebSocket messages",
				"1/8 of `--memory-limit`, from {web.least size} to {web.most size}; without a limit {web.most size}",
			},
			{"Memory for the responses of one caller", "1/{limit.callerFraction} of the memory of all responses"},
			{
				"Memory for the responses of all guests of a link, or of all clients without a login",
				"1/{limit.groupFraction} of the memory of all responses",
			},
			{"Time that a request waits for memory or a processor", "{web.reserveTimeout}"},
			{"Time until an unread response can be aborted for others", "{limit.stalledAfter}"},
			{
				"Rate below which a response counts as unread",
				"{limit.minRate size} a second; the rate doubles for each second that another client waits " +
					"for memory, up to {limit.maxRate size} a second",
			},
			{"Time until memory is kept for the request that has waited longest", "{limit.overdueAfter}"},
			{"Time to read each {web.pieceBytes size} of a response", "{web.stallTimeout}"},
			{
				"Scans, response builds and text conversions at the same time",
				"one less than the number of processors, at least 1",
			},
			{"... of one user, link or address", "half of the number of processors, at least 1"},
		}},
		{"Logins", []limit{
			{"Bearer token", "{auth.maxToken size}"},
			{"Tokens whose identity is cached", "{auth.maxCached}, for {auth.cacheTTL}"},
			{"TokenReviews at the same time", "{auth.maxInFlight}"},
			{
				"Time for a login at an OpenID provider",
				"{auth.providerLoginTimeout}; for each response of the provider {auth.providerTimeout}",
			},
			{"Completed logins at an OpenID provider", "{auth.maxUsedStates} within {auth.providerLoginTimeout}"},
			{
				"Login sessions",
				"{auth.maxSessions}, of one user {auth.maxUserSessions}; a further login ends the session " +
					"that was idle longest",
			},
		}},
		{"Share links", []limit{
			{"Links", "{share.maxShares}, of one creator {share.maxCreatorShares}"},
			{"Lifetime of a link", "{web.minShareLifetime} to {web.maxShareLifetime}; default {web.defaultShareLifetime}"},
			{"One link", "{web.maxParts} parts; a note of {web.maxNote} bytes"},
			{
				"Audit lines about clients without a login",
				"{share.guestLineBurst} at once, then one every {share.guestLineInterval}; separately for `open` of each link, " +
					"and for all `refuse`",
			},
			{"Size of an audit file", "{share.auditSize size}; there is one current and one previous file"},
		}},
		{"WebSockets and subscriptions", []limit{
			{"WebSockets", "{web.maxSockets}; of one address {web.addressSockets}, of one user {web.viewerSockets}"},
			{"WebSockets of guests", "{web.guestSockets}; of one link {web.linkSockets}"},
			{"Messages from the client", "{web.messageBurst} at once, then {web.messageRate} a second"},
			{
				"Frames from one WebSocket",
				"{web.frameBurst} at once, then {web.frameRate} a second; each {web.frameBytes size} of a " +
					"frame count as one more frame",
			},
			{"Frames from all WebSockets of one address", "{web.addressFrameBurst} at once, then {web.addressFrames} a second"},
			{
				"Size of a frame from the client",
				"{web.maxMessage size}; a frame of up to {web.maxDrained size} gets an error, and each " +
					"{web.maxMessage size} of it count as a message",
			},
			{"Invalid messages of one connection", "{web.maxInvalidMessages}"},
			{"Subscriptions of one connection", "{web.maxSubscriptions}"},
			{
				"Subscriptions of one user, link or address, and of all guests",
				"{web.socketSubscriptions} for each WebSocket that they may have",
			},
			{"Time to write a message, or a chunk of a message", "{web.writeTimeout}"},
			{"Chunks", "messages of more than {web.maxUnchunked size} are sent in chunks of {web.chunkBytes size}"},
			{"Ping", "every {web.pingInterval}; the response within {web.pongTimeout}"},
			{"Time without a message on a subscription, before a heartbeat", "{stream.Heartbeat}"},
			{"Changes in one message", "{stream.batch}"},
			{"`every`", "{web.maxEvery} ms"},
			{"Time that the server waits for further changes, under load", "{stream.maxDelay}"},
			{
				"Messages to each of {stream.fanOutMinimum} or more WebSockets of one address, user or link",
				"10 a second, half as many for each doubling; no limit if no others are open",
			},
		}},
		{"Queries and views", []limit{
			{"Namespaces of one query", "{query.maxNamespaces}"},
			{"Label selector, field selector or text filter", "{query.maxSelector size}"},
			{"Requirements and values of a label selector; words of a text filter", "{query.maxTerms}"},
			{"Name of an object", "253 characters"},
			{"Search", "{watch.maxSearch size}; {web.maxSearchLimit} results"},
			{
				"Field selectors in use",
				"{informer.maxFieldScopes}; of one user {informer.userFieldScopes}, of one link {informer.linkFieldScopes}, " +
					"of all links {informer.guestFieldScopes}",
			},
			{"Rows of a window", "{query.MaxWindow}"},
			{"Messages about changes outside a window", "one a second"},
			{
				"Rankings of one resource",
				"{ranking.maxAllRankings}; of one user or link {ranking.maxRankings}, of all links " +
					"{ranking.maxGuestRankings}",
			},
			{"Time that a ranking without readers is kept", "{ranking.rankingLinger}, less if another ranking needs its place"},
			{"Changes in the snapshot of the view `changes`", "{stream.maxHistoryChanges}, about {stream.maxHistoryBytes size}"},
			{"Health of an object", "{health.maxDetails} details; {health.maxText} bytes for each sentence"},
			{"Nodes of a graph of related objects", "{relations.maxNodes}"},
			{"Resources that are searched for a graph", "{relations.maxKinds}"},
			{"Objects that are read one by one for a graph", "{relations.maxReads}; further objects are `unknown`"},
			{
				"Nodes for objects of one kind and owner in a graph",
				"{relations.maxPerGroup}; one more node has the number of further objects",
			},
			{
				"Logs that are read at the same time",
				"{web.maxLogs}; of one user {web.viewerLogs}, of one link {web.linkLogs}, of all links " +
					"{web.guestLogs}",
			},
			{"Log lines at the start", "{web.maxTail}; default {web.logTail}"},
			{"Part of a log that is sent at once", "{web.logChunk size}"},
		}},
		{"Watching", []limit{
			{"Namespaces of one resource that are watched one by one", "{informer.maxLeases}"},
			{
				"Access reviews of single namespaces",
				"{informer.reviewSpacing rate} a second for permitted namespaces, and as many for denied " +
					"namespaces",
			},
			{
				"Time between two access reviews of a namespace",
				"{authz.ReviewEvery} if permitted, {informer.deniedEvery} if denied; with very many " +
					"namespaces {informer.maxReviewInterval}",
			},
			{"Namespaces that are reviewed one by one for a user", "{authz.MaxReviewedNamespaces}"},
			{"Cached decisions about users", "{authz.maxDecisions}"},
			{"Access reviews at the same time", "{authz.allReviews}; of one user {authz.userReviews}"},
			{
				"Time until a resource that does not fit into memory is retried",
				"{informer.estimateDelay}, or {informer.relistDelay} (see below)",
			},
		}},
	}
}
