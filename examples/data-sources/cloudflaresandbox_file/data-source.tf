resource "cloudflaresandbox_sandbox" "build" {}

resource "cloudflaresandbox_exec" "report" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  script     = "printf '{\"tests\": 12, \"failed\": 0}' >report.json"
}

# What a command has made.
data "cloudflaresandbox_file" "report" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  path       = "/workspace/report.json"

  # Wait for the command.
  depends_on = [cloudflaresandbox_exec.report]
}

# A file that may be missing.
data "cloudflaresandbox_file" "warnings" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  path       = "/workspace/warnings.txt"
  must_exist = false

  depends_on = [cloudflaresandbox_exec.report]
}

output "failed" {
  value = jsondecode(data.cloudflaresandbox_file.report.content).failed
}

output "has_warnings" {
  value = data.cloudflaresandbox_file.warnings.exists
}
