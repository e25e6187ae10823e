import {
  to = cloudflaresandbox_sandbox.build
  identity = {
    id = "kjs5dxdhwo5rnkmqjcaixp7tl4"
  }
}
