resource "cloudflaresandbox_sandbox" "build" {}

# Text.
resource "cloudflaresandbox_file" "settings" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  path       = "/workspace/settings.json"
  content    = jsonencode({ region = "weur", retries = 3 })
}

# A local file of any size and any bytes.
resource "cloudflaresandbox_file" "tool" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  path       = "/workspace/bin/tool"
  source     = "${path.module}/tool.sh"
  mode       = "0755"
}

# A secret that reaches neither the plan nor the state. Raise the version to
# have it written again.
resource "cloudflaresandbox_file" "token" {
  sandbox_id         = cloudflaresandbox_sandbox.build.id
  path               = "/workspace/.token"
  content_wo         = var.token
  content_wo_version = 1
  mode               = "0600"
}

variable "token" {
  type      = string
  ephemeral = true
}
