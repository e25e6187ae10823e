import {
  to = cloudflaresandbox_tunnel.web
  id = "kjs5dxdhwo5rnkmqjcaixp7tl4/8080"
}
