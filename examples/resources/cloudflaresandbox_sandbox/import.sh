# By the sandbox's id.
terraform import cloudflaresandbox_sandbox.build kjs5dxdhwo5rnkmqjcaixp7tl4
