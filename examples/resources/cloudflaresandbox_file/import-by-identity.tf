import {
  to = cloudflaresandbox_file.settings
  identity = {
    sandbox_id = "kjs5dxdhwo5rnkmqjcaixp7tl4"
    path       = "/workspace/settings.json"
  }
}
