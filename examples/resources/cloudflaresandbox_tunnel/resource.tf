resource "cloudflaresandbox_sandbox" "web" {}

# A server in the background, which runs for as long as the container does.
resource "cloudflaresandbox_exec" "server" {
  sandbox_id = cloudflaresandbox_sandbox.web.id
  script     = "nohup python3 -m http.server 8080 > /tmp/server.log 2>&1 &"
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
