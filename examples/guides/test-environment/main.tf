terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

variable "orders" {
  description = "Amounts to add up."
  type        = list(number)
  default     = [20, 15, 7]
}

resource "cloudflaresandbox_sandbox" "environment" {}

resource "cloudflaresandbox_file" "orders" {
  sandbox_id = cloudflaresandbox_sandbox.environment.id
  path       = "orders.txt"
  content    = join("\n", [for amount in var.orders : tostring(amount)])
}

resource "cloudflaresandbox_exec" "total" {
  sandbox_id = cloudflaresandbox_sandbox.environment.id
  script     = <<-EOT
    total=0
    while read -r amount || [ -n "$amount" ]; do
      total=$((total + amount))
    done < orders.txt
    echo "$total"
  EOT

  triggers = {
    orders = cloudflaresandbox_file.orders.revision
  }
}

output "total" {
  value = trimspace(cloudflaresandbox_exec.total.stdout)
}
