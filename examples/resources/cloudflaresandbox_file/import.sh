# By the sandbox's id and the file's path.
terraform import cloudflaresandbox_file.settings kjs5dxdhwo5rnkmqjcaixp7tl4/workspace/settings.json
