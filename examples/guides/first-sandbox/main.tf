terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {}

resource "cloudflaresandbox_sandbox" "first" {}

resource "cloudflaresandbox_file" "greeting" {
  sandbox_id = cloudflaresandbox_sandbox.first.id
  path       = "greeting.txt"
  content    = "hello from the edge\n"
}

data "cloudflaresandbox_exec" "shout" {
  sandbox_id = cloudflaresandbox_sandbox.first.id
  command    = ["tr", "a-z", "A-Z"]
  stdin      = cloudflaresandbox_file.greeting.content

  # So that it waits for the file, and runs again after each write of it.
  depends_on = [cloudflaresandbox_file.greeting]
}

output "shouted" {
  value = data.cloudflaresandbox_exec.shout.stdout
}
