# terraform apply -invoke=action.cloudflaresandbox_shutdown_prewarmed.evening, so
# that no container waits overnight.
action "cloudflaresandbox_shutdown_prewarmed" "evening" {}
