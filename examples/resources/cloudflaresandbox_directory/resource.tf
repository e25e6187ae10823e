resource "cloudflaresandbox_sandbox" "build" {}

# All that is in the directory "site" beside this configuration, but for logs.
resource "cloudflaresandbox_directory" "site" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  source     = "${path.module}/site"
  path       = "/workspace/site"
  excludes   = ["**/*.log", "**/node_modules"]
}

# Runs after the upload, and again whenever something was sent.
resource "cloudflaresandbox_exec" "build" {
  sandbox_id  = cloudflaresandbox_sandbox.build.id
  command     = ["./build.sh"]
  working_dir = cloudflaresandbox_directory.site.path

  triggers = {
    site = cloudflaresandbox_directory.site.revision
  }
}
