package kinds

import (
	"cmp"
	"time"

	"github.com/glasshouse-project/glasshouse/internal/watch/health/builtin"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/message"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/object"
	"github.com/glasshouse-project/glasshouse/internal/watch/health/result"
	"github.com/glasshouse-project/glasshouse/internal/watch/verdict"
)

func persistentVolumeClaim(o object.Object, status result.Status) result.Result {
	h := result.Result{Status: status}
	switch phase := o.Text("status", "phase"); phase {
	case "Bound":
		h.Summary = "Bound to " + o.Text("spec", "volumeName")
		if size := o.Text("status", "capacity", "storage"); size != "" {
			h.Summary += ", " + size
		}
		if text := builtin.NotResized(o); text != "" {
			h.Progress(time.Time{}, verdict.Degraded)
			h.Reason = "NotResized"
			h.ExplainOverdue(text, "the resizer of its CSI driver might not be running")
		}
	case "Lost":
		h.Status, h.Summary = result.Failed, "Bound volume "+o.Text("spec", "volumeName")+" is lost"
		h.Reason = "Lost"
	default:
		h.Summary, h.Reason = "Waiting for a volume", "Pending"
		if class := o.Text("spec", "storageClassName"); class != "" {
			h.Summary += " (storage class " + class + ")"
		}
		// A storage class can delay the creation of the volume until a pod uses the claim. Then, this annotation gets the
		// name of the provisioner.
		const annotation = "volume.kubernetes.io/storage-provisioner"
		if provisioner := o.Text("metadata", "annotations", annotation); provisioner != "" {
			h.Summary = "Waiting for provisioner " + provisioner + " to create a volume"
			h.Progress(time.Time{}, verdict.Failed)
		} else {
			limitBinding(&h, o)
		}
	}
	for _, c := range o.Conditions() {
		switch {
		case !c.Is("True"):
		case c.Kind == "Resizing", c.Kind == "ModifyingVolume":
			h.Details = append(h.Details, "Being modified ("+c.Kind+")"+c.Suffix())
		case c.Kind == "FileSystemResizePending":
			h.Details = append(h.Details, "The file system will be resized when a pod next uses the volume")
			h.Progress(c.ChangedAt, verdict.OK) // Package cause sets the severity: it knows whether a pod uses the volume.
			h.OverdueReason = c.Kind
		case c.Kind == "ControllerResizeError", c.Kind == "NodeResizeError", c.Kind == "ModifyVolumeError":
			h.Status = result.Failed
			h.Details = append([]string{h.Summary}, h.Details...)
			h.Summary, h.Reason = "Cannot be modified ("+c.Kind+"): "+c.Explanation(), c.Kind
			h.Severity = verdict.Degraded
		}
	}
	return h
}

// limitBinding makes a claim overdue if it is not bound in time. If the claim has a storage class but no volume name,
// it possibly waits for a pod that uses it. In this case, limitBinding changes only the reason, and package cause,
// which knows the class, sets the severity.
func limitBinding(r *result.Result, o object.Object) {
	r.Progress(o.Created(), verdict.Progressing)
	r.Reason = "Pending"
	likely := "no volume matches it, its provisioner does not run, or no pod uses it yet"
	if o.Text("spec", "storageClassName") == "" || o.Text("spec", "volumeName") != "" {
		r.Overdue, likely = verdict.Failed, "no volume matches it, or "+result.ControllerManager+" does not run"
	}
	r.ExplainOverdue("Not bound", likely)
	r.OverdueReason = "NotBound"
}

func persistentVolume(o object.Object, status result.Status) result.Result {
	owner := o.Text("spec", "claimRef", "namespace") + "/" + o.Text("spec", "claimRef", "name")
	h := result.Result{Status: status}
	switch phase := o.Text("status", "phase"); phase {
	case "Available":
		h.Summary = "Available: not bound to a claim"
	case "Bound":
		h.Summary = "Bound to " + owner
	case "Released":
		h.Summary = "Released by " + owner + ", not reclaimed"
		if o.Text("spec", "persistentVolumeReclaimPolicy") == "Delete" {
			h.Status, h.Summary, h.Reason = result.InProgress, "Released by "+owner+", waiting to be deleted", "Released"
			h.Progress(o.Time("status", "lastPhaseTransitionTime"), verdict.Degraded)
		}
	case "Failed":
		h.Reason = cmp.Or(o.Text("status", "reason"), "Failed")
		h.Status, h.Summary =
			result.Failed, "Cannot be reclaimed: "+message.Join(o.Text("status", "reason"), o.Text("status", "message"))
	default:
		h.Status, h.Summary, h.Reason = result.InProgress, "Not available yet", "Pending"
		h.Progress(cmp.Or(o.Time("status", "lastPhaseTransitionTime"), o.Created()), verdict.Failed)
		h.Promised = serveTime
		h.ExplainOverdue("Not available", result.ControllerManager+" might not be running")
	}
	return h
}

// volumeAttachment returns InProgress while a volume cannot be attached, because the attacher retries. After
// result.SettleTime, the severity becomes Failed.
func volumeAttachment(o object.Object, _ result.Status) result.Result {
	node := o.Text("spec", "nodeName")
	h := result.Result{Status: result.Current, Summary: "Attached to node " + node}
	attach, detach := o.Text("status", "attachError", "message"), o.Text("status", "detachError", "message")
	switch {
	case detach != "" && o.Has("metadata", "deletionTimestamp"):
		h.Summary = "Cannot be detached from node " + node + ": " + detach
	case o.Flag("status", "attached"):
	case attach != "":
		h.Status, h.Summary, h.Reason = result.InProgress, "Cannot be attached to node "+node+": "+attach, "AttachError"
		h.Progress(o.Created(), verdict.Failed)
	default:
		h.Status, h.Summary, h.Reason = result.InProgress, "Waiting to be attached to node "+node, "NotAttached"
		h.Progress(o.Created(), verdict.Degraded)
		h.ExplainOverdue("Not attached to node "+node, "attacher "+o.Text("spec", "attacher")+" might not be running")
	}
	return h
}
