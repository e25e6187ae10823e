resource "cloudflaresandbox_sandbox" "app" {}

# Makes a key in the sandbox. Terraform keeps nothing of it.
ephemeral "cloudflaresandbox_exec" "key" {
  sandbox_id = cloudflaresandbox_sandbox.app.id
  script     = "head -c 32 /dev/urandom | base64 -w 0"
}

resource "cloudflaresandbox_file" "key" {
  sandbox_id = cloudflaresandbox_sandbox.app.id
  path       = "/workspace/key"
  mode       = "0600"

  # It is written only when the version changes, although the command runs, and
  # makes another key, with every plan and apply.
  content_wo         = ephemeral.cloudflaresandbox_exec.key.stdout
  content_wo_version = 1
}
