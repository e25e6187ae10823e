# A sandbox with a small program in it, and the program's output.
#
# The bridge's address and key come from the environment:
#
#   export CLOUDFLARE_SANDBOX_API_URL=https://bridge.example.workers.dev
#   export CLOUDFLARE_SANDBOX_API_KEY=...

terraform {
  required_version = ">= 1.11"

  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {}

resource "cloudflaresandbox_sandbox" "report" {}

# A local file, copied byte for byte, and executable.
resource "cloudflaresandbox_file" "program" {
  sandbox_id = cloudflaresandbox_sandbox.report.id
  path       = "/workspace/report.sh"
  source     = "${path.module}/report.sh"
  mode       = "0755"
}

# Content written here.
resource "cloudflaresandbox_file" "orders" {
  sandbox_id = cloudflaresandbox_sandbox.report.id
  path       = "/workspace/data/orders.csv"

  content = <<-EOT
    1001,20
    1002,15
    1003,7
  EOT
}

# Content that nobody else in the sandbox may read.
resource "cloudflaresandbox_file" "settings" {
  sandbox_id = cloudflaresandbox_sandbox.report.id
  path       = "/workspace/settings.env"
  content    = "CURRENCY=EUR\n"
  mode       = "0600"
}

# Runs at every plan. Naming the files' revisions makes it wait for a write that
# is still to come, instead of running on files that are about to change.
data "cloudflaresandbox_exec" "report" {
  sandbox_id = cloudflaresandbox_sandbox.report.id
  command    = ["./report.sh", "data/orders.csv"]

  environment = {
    REVISIONS = join(",", [
      cloudflaresandbox_file.program.revision,
      cloudflaresandbox_file.orders.revision,
      cloudflaresandbox_file.settings.revision,
    ])
  }
}

output "sandbox_id" {
  description = "The sandbox's lasting handle."
  value       = cloudflaresandbox_sandbox.report.id
}

output "report" {
  description = "What the program printed in the sandbox."
  value       = trimspace(data.cloudflaresandbox_exec.report.stdout)
}

output "orders_sha256" {
  description = "SHA-256 of the file as it lies in the sandbox, verified after writing."
  value       = cloudflaresandbox_file.orders.sha256
}
