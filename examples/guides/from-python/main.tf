terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {
  # api_url and api_key come from CLOUDFLARE_SANDBOX_API_URL and _API_KEY.
  python_executable = "python3"
  working_dir       = "/workspace"
  timeout           = "2m"

  # env_vars of the Python package.
  environment = {
    STAGE = "test"
  }
}

resource "cloudflaresandbox_sandbox" "analysis" {}

# write_file
resource "cloudflaresandbox_file" "numbers" {
  sandbox_id = cloudflaresandbox_sandbox.analysis.id
  path       = "numbers.txt"
  content    = "20\n15\n7\n"
}

# run_code
data "cloudflaresandbox_python" "total" {
  sandbox_id = cloudflaresandbox_sandbox.analysis.id

  code = <<-EOT
    import os
    numbers = [int(line) for line in open("numbers.txt")]
    {"total": sum(numbers), "stage": os.environ["STAGE"]}
  EOT

  depends_on = [cloudflaresandbox_file.numbers]
}

# run_command
data "cloudflaresandbox_exec" "lines" {
  sandbox_id = cloudflaresandbox_sandbox.analysis.id
  command    = ["wc", "-l", "numbers.txt"]
  depends_on = [cloudflaresandbox_file.numbers]
}

output "total" {
  value = jsondecode(data.cloudflaresandbox_python.total.result_json).total
}
