package provider

import "terraform-provider-cloudflaresandbox/internal/bridge"

func mountPath() stringCheck {
	return stringCheck{
		description: "a directory in the sandbox, absolute or relative to /workspace",
		summary:     "Invalid mount path",
		check: func(text string) error {
			_, err := bridge.CleanMountPath(text)
			return err
		},
	}
}

func bucketName() stringCheck {
	return stringCheck{description: "the name of a bucket", summary: "Invalid bucket name", check: bridge.ValidateBucketName}
}

func bindingName() stringCheck {
	return stringCheck{description: "the name of a binding", summary: "Invalid binding name", check: bridge.ValidateBindingName}
}

func mountEndpoint() stringCheck {
	return stringCheck{description: "an http or https URL", summary: "Invalid endpoint", check: bridge.ValidateMountEndpoint}
}

func mountPrefix() stringCheck {
	return stringCheck{description: "a part of a bucket, starting with /", summary: "Invalid prefix", check: bridge.ValidateMountPrefix}
}

func accessKeyID() stringCheck {
	return stringCheck{description: "an access key id", summary: "Invalid access key id", check: bridge.ValidateAccessKeyID}
}

func secretAccessKey() stringCheck {
	return stringCheck{description: "a secret access key", summary: "Invalid secret access key", check: bridge.ValidateSecretAccessKey}
}
