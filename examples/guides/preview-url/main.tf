terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {}

resource "cloudflaresandbox_sandbox" "preview" {}

resource "cloudflaresandbox_directory" "site" {
  sandbox_id = cloudflaresandbox_sandbox.preview.id
  source     = "${path.module}/site"
  path       = "site"
}

# The command returns at once; the server it leaves in the background runs until
# the container ends, or until the resource is destroyed.
resource "cloudflaresandbox_exec" "server" {
  sandbox_id = cloudflaresandbox_sandbox.preview.id
  script     = <<-EOT
    nohup python3 -m http.server --directory site 8080 > /tmp/server.log 2>&1 &
    echo $! > /tmp/server.pid
    until (exec 3<> /dev/tcp/127.0.0.1/8080) 2> /dev/null; do
      kill -0 $!
      sleep 0.1
    done
  EOT

  # A new container has no server: this runs again then, as everything does that
  # belongs to a container. A changed page needs no restart.
  on_destroy = {
    script = "kill $(cat /tmp/server.pid)"
  }

  depends_on = [cloudflaresandbox_directory.site]
}

resource "cloudflaresandbox_tunnel" "preview" {
  sandbox_id = cloudflaresandbox_sandbox.preview.id
  port       = 8080

  depends_on = [cloudflaresandbox_exec.server]
}

output "url" {
  value = cloudflaresandbox_tunnel.preview.url
}
