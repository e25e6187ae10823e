variable "signing_key" {
  type      = string
  ephemeral = true
  default   = "for this example only"
}

resource "cloudflaresandbox_sandbox" "build" {}

# Neither the key nor the token that is made of it is in a plan or a state.
ephemeral "cloudflaresandbox_python" "token" {
  sandbox_id = cloudflaresandbox_sandbox.build.id

  code = <<-EOT
    import hashlib, hmac, os

    print(hmac.new(os.environ["SIGNING_KEY"].encode(), b"build", hashlib.sha256).hexdigest(), end="")
  EOT

  environment = {
    SIGNING_KEY = var.signing_key
  }
}

resource "cloudflaresandbox_file" "token" {
  sandbox_id         = cloudflaresandbox_sandbox.build.id
  path               = "/workspace/.token"
  content_wo         = ephemeral.cloudflaresandbox_python.token.stdout
  content_wo_version = 1
  mode               = "0600"
}
