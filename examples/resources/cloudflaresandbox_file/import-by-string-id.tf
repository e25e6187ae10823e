import {
  to = cloudflaresandbox_file.settings
  id = "kjs5dxdhwo5rnkmqjcaixp7tl4/workspace/settings.json"
}
