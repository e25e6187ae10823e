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

# The command returns as soon as the server answers, and fails if it does not come
# to that. The server runs in the background until the container ends, or until
# the resource is destroyed. The sandbox's image has to have Python.
resource "cloudflaresandbox_exec" "server" {
  sandbox_id = cloudflaresandbox_sandbox.preview.id
  script     = <<-EOT
    nohup python3 -m http.server --directory site 8000 > /tmp/server.log 2>&1 &
    echo $! > /tmp/server.pid
    until (exec 3<> /dev/tcp/127.0.0.1/8000) 2> /dev/null; do
      kill -0 $! 2> /dev/null || { cat /tmp/server.log >&2; exit 1; }
      sleep 0.1
    done
  EOT

  # A new container has no server: this runs again then, as everything does that
  # belongs to a container. A changed page needs no restart.
  #
  # A server that has ended by itself is no failure: the script would fail with
  # kill, and then the resource could not be destroyed.
  on_destroy = {
    script = "kill \"$(cat /tmp/server.pid)\" 2> /dev/null || true"
  }

  depends_on = [cloudflaresandbox_directory.site]
}

resource "cloudflaresandbox_tunnel" "preview" {
  sandbox_id = cloudflaresandbox_sandbox.preview.id
  port       = 8000

  depends_on = [cloudflaresandbox_exec.server]
}

output "url" {
  value = cloudflaresandbox_tunnel.preview.url
}
