package overview

import "time"

// LatencyStep exports latencyStep.
func LatencyStep(latency time.Duration) int { return latencyStep(latency) }
