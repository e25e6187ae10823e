terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {
  # Both are better left to the environment: CLOUDFLARE_SANDBOX_API_URL and
  # CLOUDFLARE_SANDBOX_API_KEY.
  api_url = "https://bridge.example.workers.dev"
  api_key = var.bridge_key

  # Defaults of every command; each of them can be set for one command as well.
  timeout = "10m"
  environment = {
    LANG = "C.UTF-8"
  }
}

variable "bridge_key" {
  description = "The bridge's SANDBOX_API_KEY."
  type        = string
  sensitive   = true
}
