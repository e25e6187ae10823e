terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

variable "teams" {
  description = "Who gets a sandbox, and what is in it: per team, files by path, and commands to prepare it."

  type = map(object({
    files = optional(map(string), {})
    setup = optional(string, "")
  }))
}

locals {
  files = merge([
    for team, wanted in var.teams : {
      for path, content in wanted.files : "${team}/${path}" => {
        team    = team
        path    = path
        content = content
      }
    }
  ]...)
}

resource "cloudflaresandbox_sandbox" "team" {
  for_each = var.teams
}

resource "cloudflaresandbox_file" "team" {
  for_each = local.files

  sandbox_id = cloudflaresandbox_sandbox.team[each.value.team].id
  path       = each.value.path
  content    = each.value.content
}

# Runs again when a file of the team changes, or when its container was replaced.
resource "cloudflaresandbox_exec" "setup" {
  for_each = { for team, wanted in var.teams : team => wanted if wanted.setup != "" }

  sandbox_id = cloudflaresandbox_sandbox.team[each.key].id
  script     = each.value.setup

  triggers = {
    for key, file in local.files : key => cloudflaresandbox_file.team[key].revision if file.team == each.key
  }
}

output "sandboxes" {
  description = "Sandbox id by team."
  value       = { for team, sandbox in cloudflaresandbox_sandbox.team : team => sandbox.id }
}
