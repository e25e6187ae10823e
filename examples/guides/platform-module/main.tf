terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {}

module "sandboxes" {
  source = "./sandboxes"

  teams = {
    data = {
      files = {
        "README.md"     = "# Data\n"
        "input/one.csv" = "a,b\n1,2\n"
      }
      setup = "mkdir -p output && sha256sum input/* > output/checksums"
    }

    web = {
      files = { "index.html" = "<h1>Hello</h1>\n" }
    }

    empty = {}
  }
}

output "sandboxes" {
  value = module.sandboxes.sandboxes
}
