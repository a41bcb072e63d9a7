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
				"none with GET; otherwise {web.maxBody size}, within {web.readTimeout}, with a `Content-Length`, " +
					"not compressed",
			},
			{"Form of a login", "{web.maxLogin size}; its `to` {web.maxReturnPath size}"},
			{
				"Requests in flight of users and guests, and of other clients",
				"{web.maxRequests} each; under a memory limit 1/{web.requestMemoryDivisor} of it at {web.requestMemory size} " +
					"each, at least {web.minRequests}",
			},
			{
				"Requests in flight of one address",
				"{web.addressRequests}, at most a quarter of the row above; WebSockets do not count",
			},
			{
				"Requests in flight of a user, or of a guest at one address",
				"a quarter of the first row; all guests of one link: half",
			},
			{
				"Request bodies that are being read",
				"{web.maxBodies}, of one address {web.addressBodies}; at most 1/4 and 1/32 of the requests in flight",
			},
			{
				"Requests, connections and WebSocket messages of one address",
				"{web.addressBurst} at once, then {web.addressRate} a second; an oversized request counts as " +
					"{web.oversizedCost}",
			},
			{
				"Requests that wait for that rate",
				"{web.maxRateWaiters}, at most a quarter of the requests in flight; half of them of one address; " +
					"each for {web.addressWait}",
			},
			{"Connections", "{web.maxConnections}, of one address {web.addressConnections}"},
			{"Connections without a request", "{web.maxWaiting}"},
			{
				"Idle time of a connection",
				"{web.idleTimeout}, down to {web.minIdle} as their number grows from half of that row to all of it",
			},
			{"HTTP/2 streams of one connection", "{web.maxStreams}"},
		}},
		{"Responses", []limit{
			{
				"Memory of responses and long WebSocket messages",
				"1/8 of `--memory-limit`, from {web.least size} to {web.most size}; without a limit {web.most size}",
			},
			{
				"Memory of one caller",
				"1/{limit.callerFraction} of it; the guests of one link, and all clients without a login: " +
					"1/{limit.groupFraction}",
			},
			{"Waiting for memory or a processor", "{web.reserveTimeout}"},
			{"Time until an unread response can be aborted for others", "{limit.stalledAfter}"},
			{
				"Rate below which a response counts as unread",
				"{limit.minRate size} a second; it doubles each second that a client waits, up to " +
					"{limit.maxRate size} a second",
			},
			{"Time until memory is kept for the request that has waited longest", "{limit.overdueAfter}"},
			{"Time to read each {web.pieceBytes size} of a response", "{web.stallTimeout}"},
			{
				"Scans, response builds and text conversions at the same time",
				"all processors but one; one user, link or address: half of the processors; at least 1 each",
			},
		}},
		{"Logins", []limit{
			{"Bearer token", "{auth.maxToken size}"},
			{"Cached identities of tokens", "{auth.maxCached}, for {auth.cacheTTL}"},
			{"TokenReviews at the same time", "{auth.maxInFlight}"},
			{"Login at an OpenID provider", "{auth.providerLoginTimeout}; each response of the provider {auth.providerTimeout}"},
			{"Completed logins at a provider", "{auth.maxUsedStates} within {auth.providerLoginTimeout}"},
			{
				"Login sessions",
				"{auth.maxSessions}, of one user {auth.maxUserSessions}; one more ends the one that is idle longest",
			},
		}},
		{"Share links", []limit{
			{"Links", "{share.maxShares}, of one creator {share.maxCreatorShares}"},
			{"Expiry", "{web.minShareLifetime} to {web.maxShareLifetime}; default {web.defaultShareLifetime}"},
			{"One link", "{web.maxParts} parts; a note of {web.maxNote} bytes"},
			{
				"Audit lines about clients without a login",
				"{share.guestLineBurst} at once, then one every {share.guestLineInterval}; for the `open` of each link, and " +
					"for all `refuse` together",
			},
			{"Audit file", "{share.auditSize size}, and as much in the previous file"},
		}},
		{"WebSockets and subscriptions", []limit{
			{"WebSockets", "{web.maxSockets}; of one address {web.addressSockets}, of one user {web.viewerSockets}"},
			{"WebSockets of guests", "{web.guestSockets}; of one link {web.linkSockets}"},
			{"Messages from the client", "{web.messageBurst} at once, then {web.messageRate} a second"},
			{
				"Frames from the client",
				"{web.frameBurst} at once, then {web.frameRate} a second; of one address {web.addressFrameBurst} and " +
					"{web.addressFrames}; each {web.frameBytes size} count as one more",
			},
			{
				"Size of a frame from the client",
				"{web.maxMessage size}; up to {web.maxDrained size} the response is an error, and each " +
					"{web.maxMessage size} count as a message",
			},
			{"Invalid messages of one connection", "{web.maxInvalidMessages}"},
			{
				"Subscriptions of one connection",
				"{web.maxSubscriptions}; of all connections of a user, link or address, and of all guests, " +
					"{web.socketSubscriptions} for each WebSocket that they may have",
			},
			{"Time to write a message, or a chunk of one", "{web.writeTimeout}"},
			{"Chunks", "from {web.maxUnchunked size} on, of {web.chunkBytes size}"},
			{"Ping", "every {web.pingInterval}; the response within {web.pongTimeout}"},
			{"Time without a message on a subscription", "{stream.Heartbeat}"},
			{"Changes in one message", "{stream.batch}"},
			{"`every`", "{web.maxEvery} ms"},
			{"Coalescing under load", "{stream.maxDelay}"},
			{
				"Fan-out to sockets of one address, user or link, from {stream.fanOutMinimum} sockets on",
				"10 messages a second to each, half as many for each doubling, if there are others",
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
			{"Rows of a window", "{query.MaxWindow}; at most one message about other rows a second"},
			{
				"Rankings of one resource",
				"{ranking.maxAllRankings}; of one user or link {ranking.maxRankings}, of all links " +
					"{ranking.maxGuestRankings}; without a reader kept for " +
					"{ranking.rankingLinger}, or until there is no room",
			},
			{"Changes in the snapshot of the view `changes`", "{stream.maxHistoryChanges}, about {stream.maxHistoryBytes size}"},
			{"Health", "{health.maxDetails} details; {health.maxText} bytes a sentence"},
			{
				"Graph of related objects",
				"{relations.maxNodes} nodes; {relations.maxKinds} searched resources; {relations.maxReads} objects that are " +
					"checked one by one, others are `unknown`",
			},
			{"Objects of one kind and owner in the graph", "{relations.maxPerGroup}; the others are counted"},
			{
				"Logs that are read at the same time",
				"{web.maxLogs}; of one user {web.viewerLogs}, of one link {web.linkLogs}, of all links " +
					"{web.guestLogs}",
			},
			{"Log lines at the start", "{web.maxTail}; default {web.logTail}"},
			{"Part of a log", "{web.logChunk size}"},
		}},
		{"Watching", []limit{
			{"Namespaces of one resource that are watched one by one", "{informer.maxLeases}"},
			{
				"Access reviews of single namespaces",
				"{informer.reviewSpacing rate} a second for permitted ones, and as many for denied ones",
			},
			{
				"Recheck of a namespace",
				"every {authz.ReviewEvery} if permitted, every {informer.deniedEvery} if denied; with very many " +
					"namespaces every {informer.maxReviewInterval}",
			},
			{"Namespaces that are reviewed one by one for a user", "{authz.MaxReviewedNamespaces}"},
			{"Cached decisions about users", "{authz.maxDecisions}"},
			{"Access reviews at the same time", "of one user {authz.userReviews}, of all {authz.allReviews}"},
			{"Retry of a resource that does not fit into memory", "{informer.estimateDelay}, or {informer.relistDelay}"},
		}},
	}
}
