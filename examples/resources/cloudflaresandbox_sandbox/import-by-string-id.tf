import {
  to = cloudflaresandbox_sandbox.build
  id = "kjs5dxdhwo5rnkmqjcaixp7tl4"
}
