resource "cloudflaresandbox_sandbox" "build" {}

# A bucket that the sandbox can write to. The keys reach neither the plan nor
# the state. Raise the version to mount with other ones.
resource "cloudflaresandbox_bucket_mount" "results" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  mount_path = "/workspace/results"
  bucket     = "build-results"
  endpoint   = "https://0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com"

  access_key_id_wo       = var.access_key_id
  secret_access_key_wo   = var.secret_access_key
  credentials_wo_version = 1
}

# A part of another one, to read only.
resource "cloudflaresandbox_bucket_mount" "fixtures" {
  sandbox_id = cloudflaresandbox_sandbox.build.id
  mount_path = "/workspace/fixtures"
  bucket     = "test-data"
  prefix     = "/fixtures"
  endpoint   = "https://0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com"
  read_only  = true

  access_key_id_wo       = var.access_key_id
  secret_access_key_wo   = var.secret_access_key
  credentials_wo_version = 1
}

variable "access_key_id" {
  type      = string
  ephemeral = true
}

variable "secret_access_key" {
  type      = string
  ephemeral = true
}
