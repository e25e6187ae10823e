package localbridge

// parseMount checks a mount's body in the Worker's order and returns its
// complaint, if any (OBSERVED.md, j).
func parseMount(fields map[string]any) (m mountRequest, complaint string) {
	bucket, bucketGiven := fields["bucket"]
	bucketText, _ := bucket.(string)
	if bucketGiven && bucketText == "" {
		return m, "bucket must be a non-empty string"
	}
	if m.path, complaint = mountPath(fields); complaint != "" {
		return m, complaint
	}
	options, isObject := fields["options"].(map[string]any)
	if !isObject {
		return m, "options must be an object"
	}
	endpoint, endpointGiven := options["endpoint"]
	endpointText, endpointIsText := endpoint.(string)
	binding, bindingGiven := fields["binding"]
	bindingText, bindingIsText := binding.(string)
	switch {
	case endpointGiven && !endpointIsText:
		return m, "options.endpoint must be a string when provided"
	case bindingGiven && !bindingIsText:
		return m, "binding must be a string when provided"
	case bindingGiven && bindingText == "":
		return m, "binding must be a non-empty string when provided"
	case bindingGiven && endpointGiven:
		return m, "Provide either binding or options.endpoint, not both"
	}
	if complaint = m.parseOptions(options); complaint != "" {
		return m, complaint
	}
	switch {
	case endpointGiven && bucketText == "":
		return m, "bucket must be a non-empty string for remote mounts"
	case endpointGiven:
		m.source, m.endpoint = bucketText, endpointText
	case bindingGiven:
		m.source, m.binding = bindingText, true
	default:
		return m, "binding must be a non-empty string for R2 binding mounts"
	}
	return m, ""
}

// parseOptions reads the options that every kind of mount has.
func (m *mountRequest) parseOptions(options map[string]any) (complaint string) {
	if value, given := options["s3fsOptions"]; given {
		list, ok := value.([]any)
		for _, element := range list {
			option, isText := element.(string)
			ok = ok && isText
			m.s3fsOptions = append(m.s3fsOptions, option)
		}
		if !ok {
			return "options.s3fsOptions must be an array of strings when provided"
		}
	}
	if value, given := options["readOnly"]; given {
		var ok bool
		if m.readOnly, ok = value.(bool); !ok {
			return "options.readOnly must be a boolean when provided"
		}
	}
	if value, given := options["prefix"]; given {
		prefix, ok := value.(string)
		if !ok {
			return "options.prefix must be a string when provided"
		}
		m.prefix = &prefix
	}
	if value, given := options["credentialProxy"]; given {
		var ok bool
		if m.proxied, ok = value.(bool); !ok {
			return "options.credentialProxy must be a boolean when provided"
		}
	}
	if value, given := options["credentials"]; given {
		credentials, _ := value.(map[string]any)
		_, hasID := credentials["accessKeyId"].(string)
		_, hasSecret := credentials["secretAccessKey"].(string)
		if !hasID || !hasSecret {
			return "options.credentials must include string accessKeyId and secretAccessKey"
		}
		m.hasCredentials = true
	}
	return ""
}
