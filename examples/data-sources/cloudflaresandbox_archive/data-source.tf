resource "cloudflaresandbox_sandbox" "build" {}

resource "cloudflaresandbox_exec" "build" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  script     = "mkdir -p dist && date >dist/built && echo debug >dist/build.log"
}

# What was built, on the local disk. It waits for the build, also when the
# container was replaced and the build runs again.
data "cloudflaresandbox_archive" "dist" {
  sandbox_id  = cloudflaresandbox_sandbox.build.id
  path        = "/workspace/dist"
  excludes    = ["**/*.log"]
  output_path = "${path.module}/dist.tar.gz"

  depends_on = [cloudflaresandbox_exec.build]
}

output "archive" {
  value = "${data.cloudflaresandbox_archive.dist.output_path}: ${data.cloudflaresandbox_archive.dist.size} bytes, SHA-256 ${data.cloudflaresandbox_archive.dist.sha256}"
}
