# A sandbox for this run only.
ephemeral "cloudflaresandbox_sandbox" "build" {
  timeouts = {
    # How long to wait for a free container.
    open = "10m"
  }
}

ephemeral "cloudflaresandbox_exec" "keys" {
  sandbox_id = ephemeral.cloudflaresandbox_sandbox.build.id

  script = <<-EOT
    head -c 32 /dev/urandom >key
    base64 -w 0 key
  EOT
}

# Where the key is to stay: in a file that lasts, and in no plan or state.
resource "cloudflaresandbox_sandbox" "app" {}

resource "cloudflaresandbox_file" "key" {
  sandbox_id = cloudflaresandbox_sandbox.app.id
  path       = "/workspace/key"
  mode       = "0600"

  content_wo         = ephemeral.cloudflaresandbox_exec.keys.stdout
  content_wo_version = 1
}
