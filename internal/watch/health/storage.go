package health

func claim(o node, verdict Status) Health {
	h := Health{Status: verdict}
	switch phase := o.text("status", "phase"); phase {
	case "Bound":
		h.Summary = "bound to " + o.text("spec", "volumeName")
		if size := o.text("status", "capacity", "storage"); size != "" {
			h.Summary += ", " + size
		}
	case "Lost":
		h.Status, h.Summary = Failed, "the volume "+o.text("spec", "volumeName")+" that it was bound to is lost"
	default:
		h.Summary = "waits for a volume"
		if class := o.text("spec", "storageClassName"); class != "" {
			h.Summary += " of the class " + class
		}
	}
	for _, c := range o.conditions() {
		switch {
		case !c.is("True"):
		case c.kind == "Resizing", c.kind == "ModifyingVolume":
			h.Details = append(h.Details, "being changed ("+c.kind+"): "+c.why())
		case c.kind == "FileSystemResizePending":
			h.Details = append(h.Details, "its file system grows when a pod uses it next")
		case c.kind == "ControllerResizeError", c.kind == "NodeResizeError", c.kind == "ModifyVolumeError":
			h.Status = Failed
			h.Details = append([]string{h.Summary}, h.Details...)
			h.Summary = "cannot be changed (" + c.kind + "): " + c.why()
		}
	}
	return h
}

func volume(o node, verdict Status) Health {
	owner := o.text("spec", "claimRef", "namespace") + "/" + o.text("spec", "claimRef", "name")
	h := Health{Status: verdict}
	switch phase := o.text("status", "phase"); phase {
	case "Available":
		h.Summary = "available: no claim has it"
	case "Bound":
		h.Summary = "bound to " + owner
	case "Released":
		h.Summary = "released by " + owner + ", and not reclaimed"
	case "Failed":
		h.Status, h.Summary =
			Failed, "cannot be reclaimed: "+join(o.text("status", "reason"), o.text("status", "message"))
	default:
		h.Status, h.Summary = InProgress, "not available yet"
	}
	return h
}
