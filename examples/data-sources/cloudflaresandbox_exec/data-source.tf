resource "cloudflaresandbox_sandbox" "build" {}

resource "cloudflaresandbox_file" "numbers" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  path       = "/workspace/numbers.txt"
  content    = "3\n1\n2\n"
}

# One program and its arguments; no shell reads them.
data "cloudflaresandbox_exec" "sorted" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  command    = ["sort", "-n", "numbers.txt"]

  # Wait for the file to be written.
  depends_on = [cloudflaresandbox_file.numbers]
}

# A script, and an exit code that is an answer rather than a failure.
data "cloudflaresandbox_exec" "has_four" {
  sandbox_id = cloudflaresandbox_sandbox.build.id

  script = <<-EOT
    echo "looking for $WANTED" >&2
    grep -qx "$WANTED" numbers.txt
  EOT

  environment = {
    WANTED = "4"
  }

  timeout                  = "30s"
  allow_non_zero_exit_code = true

  depends_on = [cloudflaresandbox_file.numbers]
}

output "sorted" {
  value = split("\n", trimspace(data.cloudflaresandbox_exec.sorted.stdout))
}

output "has_four" {
  value = data.cloudflaresandbox_exec.has_four.exit_code == 0
}
