resource "cloudflaresandbox_sandbox" "web" {}

# A server in the background, which runs for as long as the container does. It
# needs Python in the sandbox's image. A shell does not wait for what it starts in
# the background, nor fail with it, so the script waits until the server answers.
resource "cloudflaresandbox_exec" "server" {
  sandbox_id = cloudflaresandbox_sandbox.web.id

  script = <<-EOT
    nohup python3 -m http.server 8080 > /tmp/server.log 2>&1 &
    until (exec 3<> /dev/tcp/127.0.0.1/8080) 2> /dev/null; do
      kill -0 $! 2> /dev/null || { cat /tmp/server.log >&2; exit 1; }
      sleep 0.1
    done
  EOT
}

# A random address that everybody can open. With `name = "preview"` it would be
# preview.example.com, at a bridge that has a Cloudflare API token for that zone.
resource "cloudflaresandbox_tunnel" "web" {
  sandbox_id = cloudflaresandbox_sandbox.web.id
  port       = 8080

  depends_on = [cloudflaresandbox_exec.server]
}

output "url" {
  value = cloudflaresandbox_tunnel.web.url
}
