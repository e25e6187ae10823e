resource "cloudflaresandbox_sandbox" "app" {}

resource "cloudflaresandbox_file" "numbers" {
  sandbox_id = cloudflaresandbox_sandbox.app.id
  path       = "/workspace/numbers.txt"
  content    = "3\n1\n2\n"

  # Run the command after each write of the file.
  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.cloudflaresandbox_exec.sort]
    }
  }
}

# terraform apply -invoke=action.cloudflaresandbox_exec.sort runs it at any time.
action "cloudflaresandbox_exec" "sort" {
  config {
    sandbox_id = cloudflaresandbox_sandbox.app.id
    command    = ["sort", "-n", "-o", "sorted.txt", "numbers.txt"]
    timeout    = "1m"
  }
}
