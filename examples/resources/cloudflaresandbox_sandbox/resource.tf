resource "cloudflaresandbox_sandbox" "build" {
  timeouts = {
    # How long to wait for a free container.
    create = "10m"
  }
}

output "sandbox_id" {
  value = cloudflaresandbox_sandbox.build.id
}
