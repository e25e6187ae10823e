import {
  to = cloudflaresandbox_tunnel.web
  identity = {
    sandbox_id = "kjs5dxdhwo5rnkmqjcaixp7tl4"
    port       = 8080
  }
}
