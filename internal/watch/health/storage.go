package health

func persistentVolumeClaim(o node, status Status) Health {
	h := Health{Status: status}
	switch phase := o.text("status", "phase"); phase {
	case "Bound":
		h.Summary = "Bound to " + o.text("spec", "volumeName")
		if size := o.text("status", "capacity", "storage"); size != "" {
			h.Summary += ", " + size
		}
	case "Lost":
		h.Status, h.Summary = Failed, "Bound volume "+o.text("spec", "volumeName")+" is lost"
	default:
		h.Summary = "Waiting for a volume"
		if class := o.text("spec", "storageClassName"); class != "" {
			h.Summary += " (storage class " + class + ")"
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
			h.Summary = "Cannot be modified (" + c.kind + "): " + c.explanation()
		}
	}
	return h
}

func persistentVolume(o node, status Status) Health {
	owner := o.text("spec", "claimRef", "namespace") + "/" + o.text("spec", "claimRef", "name")
	h := Health{Status: status}
	switch phase := o.text("status", "phase"); phase {
	case "Available":
		h.Summary = "Available: not bound to a claim"
	case "Bound":
		h.Summary = "Bound to " + owner
	case "Released":
		h.Summary = "Released by " + owner + ", not reclaimed"
	case "Failed":
		h.Status, h.Summary =
			Failed, "Cannot be reclaimed: "+joinReason(o.text("status", "reason"), o.text("status", "message"))
	default:
		h.Status, h.Summary = InProgress, "Not available yet"
	}
	return h
}
