terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {}

variable "artifact" {
  description = "Where to put what was built."
  type        = string
  default     = "artifact.tar.gz"
}

resource "cloudflaresandbox_sandbox" "build" {}

# The whole source tree in one upload; later only what changed.
resource "cloudflaresandbox_directory" "source" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  source     = "${path.module}/src"
  path       = "src"
}

resource "cloudflaresandbox_exec" "build" {
  sandbox_id  = cloudflaresandbox_sandbox.build.id
  command     = ["bash", "build.sh"]
  working_dir = "src"
  timeout     = "15m"

  triggers = {
    source = cloudflaresandbox_directory.source.revision
  }
}

data "cloudflaresandbox_archive" "artifact" {
  sandbox_id  = cloudflaresandbox_sandbox.build.id
  path        = "src/out"
  output_path = var.artifact

  depends_on = [cloudflaresandbox_exec.build]
}

output "artifact_sha256" {
  value = data.cloudflaresandbox_archive.artifact.sha256
}

output "log" {
  value = cloudflaresandbox_exec.build.stdout
}
