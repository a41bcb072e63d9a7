package message

import "cmp"

// SyncState describes an Argo CD Application by its sync status and the health of its resources.
func SyncState(sync, health string) string {
	if sync == "Synced" && health == "Healthy" {
		return "Synced and healthy"
	}
	return "Sync: " + cmp.Or(sync, "Unknown") + ", health: " + cmp.Or(health, "Unknown")
}
