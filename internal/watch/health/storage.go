package health

import (
	"cmp"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func persistentVolumeClaim(o object, status Status) result {
	h := result{Health: Health{Status: status}}
	switch phase := o.text("status", "phase"); phase {
	case "Bound":
		h.Summary = "Bound to " + o.text("spec", "volumeName")
		if size := o.text("status", "capacity", "storage"); size != "" {
			h.Summary += ", " + size
		}
	case "Lost":
		h.Status, h.Summary = Failed, "Bound volume "+o.text("spec", "volumeName")+" is lost"
		h.reason = "Lost"
	default:
		h.Summary, h.reason = "Waiting for a volume", "Pending"
		if class := o.text("spec", "storageClassName"); class != "" {
			h.Summary += " (storage class " + class + ")"
		}
		// Until a pod uses the claim, a storage class can wait. Then the claim names the provisioner.
		const annotation = "volume.kubernetes.io/storage-provisioner"
		if provisioner := o.text("metadata", "annotations", annotation); provisioner != "" {
			h.Summary = "Waiting for provisioner " + provisioner + " to create a volume"
			h.progress(time.Time{}, verdict.Failed)
		}
	}
	for _, c := range o.conditions() {
		switch {
		case !c.is("True"):
		case c.kind == "Resizing", c.kind == "ModifyingVolume":
			h.Details = append(h.Details, "Being modified ("+c.kind+"): "+c.explanation())
		case c.kind == "FileSystemResizePending":
			h.Details = append(h.Details, "The file system is resized when a pod next uses the volume")
		case c.kind == "ControllerResizeError", c.kind == "NodeResizeError", c.kind == "ModifyVolumeError":
			h.Status = Failed
			h.Details = append([]string{h.Summary}, h.Details...)
			h.Summary, h.reason = "Cannot be modified ("+c.kind+"): "+c.explanation(), c.kind
			h.severity = verdict.Degraded
		}
	}
	return h
}

func persistentVolume(o object, status Status) result {
	owner := o.text("spec", "claimRef", "namespace") + "/" + o.text("spec", "claimRef", "name")
	h := result{Health: Health{Status: status}}
	switch phase := o.text("status", "phase"); phase {
	case "Available":
		h.Summary = "Available: not bound to a claim"
	case "Bound":
		h.Summary = "Bound to " + owner
	case "Released":
		h.Summary = "Released by " + owner + ", not reclaimed"
		if o.text("spec", "persistentVolumeReclaimPolicy") == "Delete" {
			h.Status, h.Summary, h.reason = InProgress, "Released by "+owner+", waiting to be deleted", "Released"
			h.progress(o.time("status", "lastPhaseTransitionTime"), verdict.Degraded)
		}
	case "Failed":
		h.reason = cmp.Or(o.text("status", "reason"), "Failed")
		h.Status, h.Summary =
			Failed, "Cannot be reclaimed: "+message.Join(o.text("status", "reason"), o.text("status", "message"))
	default:
		h.Status, h.Summary, h.reason = InProgress, "Not available yet", "Pending"
	}
	return h
}

// volumeAttachment returns Failed if a volume has an error for a long time. The attacher retries after short errors.
func volumeAttachment(o object, _ Status) result {
	node := o.text("spec", "nodeName")
	h := result{Health: Health{Status: Current, Summary: "Attached to node " + node}}
	attach, detach := o.text("status", "attachError", "message"), o.text("status", "detachError", "message")
	created := o.time("metadata", "creationTimestamp")
	switch {
	case detach != "" && o.has("metadata", "deletionTimestamp"):
		h.Summary = "Cannot be detached from node " + node + ": " + detach
	case o.flag("status", "attached"):
	case attach != "":
		h.Status, h.Summary, h.reason = InProgress, "Cannot be attached to node "+node+": "+attach, "AttachError"
		h.progress(created, verdict.Failed)
	default:
		h.Status, h.Summary, h.reason = InProgress, "Waiting to be attached to node "+node, "NotAttached"
		h.progress(created, verdict.Degraded)
	}
	return h
}
