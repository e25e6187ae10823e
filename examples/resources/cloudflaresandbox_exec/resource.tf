variable "token" {
  type      = string
  ephemeral = true
}

resource "cloudflaresandbox_sandbox" "app" {}

resource "cloudflaresandbox_file" "numbers" {
  sandbox_id = cloudflaresandbox_sandbox.app.id
  path       = "/workspace/numbers.txt"
  content    = "3\n1\n2\n"
}

# Runs once, and again whenever the file was written.
resource "cloudflaresandbox_exec" "build" {
  sandbox_id = cloudflaresandbox_sandbox.app.id
  script     = "sort -n numbers.txt > sorted.txt; wc -l < sorted.txt"

  triggers = {
    numbers = cloudflaresandbox_file.numbers.revision
  }

  # Kept in neither plan nor state.
  environment_wo         = { TOKEN = var.token }
  environment_wo_version = 1
}

# A process that stays, and is ended with the resource.
resource "cloudflaresandbox_exec" "server" {
  sandbox_id = cloudflaresandbox_sandbox.app.id

  script = <<-EOT
    nohup tail -f sorted.txt > server.log 2>&1 &
    echo $! > server.pid
  EOT

  triggers = {
    build = cloudflaresandbox_exec.build.revision
  }

  # A process that has ended by itself is no failure: the script would fail with
  # kill, and then the resource could not be destroyed.
  on_destroy = {
    script = "kill \"$(cat server.pid)\" 2> /dev/null || true"
  }
}

output "lines" {
  value = tonumber(trimspace(cloudflaresandbox_exec.build.stdout))
}
