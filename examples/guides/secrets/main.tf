terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {}

variable "token" {
  description = "A secret that must be in neither plan nor state."
  type        = string
  sensitive   = true
  ephemeral   = true
}

resource "cloudflaresandbox_sandbox" "worker" {}

# Write-only: the content reaches the sandbox and nothing else. Terraform cannot
# compare what it does not keep, so a new secret needs a new version.
resource "cloudflaresandbox_file" "token" {
  sandbox_id         = cloudflaresandbox_sandbox.worker.id
  path               = "secrets/token"
  content_wo         = var.token
  content_wo_version = 1
  mode               = "0600"
}

# Ephemeral: runs, and leaves nothing in plan or state. The variable is in no
# command line and no log of the sandbox either.
ephemeral "cloudflaresandbox_exec" "login" {
  sandbox_id  = cloudflaresandbox_sandbox.worker.id
  command     = ["bash", "-c", "printf %s \"$TOKEN\" | sha256sum"]
  environment = { TOKEN = var.token }
}
