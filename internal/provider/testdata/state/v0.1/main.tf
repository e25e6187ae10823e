# One resource of every type, as a user of this version may have it in a state.
terraform {
  required_providers {
    cloudflaresandbox = {
      source = "terraform.local/local/cloudflaresandbox"
    }
  }
}

provider "cloudflaresandbox" {}

resource "cloudflaresandbox_sandbox" "test" {
  timeouts = {
    create = "2m"
  }
}

resource "cloudflaresandbox_file" "content" {
  sandbox_id = cloudflaresandbox_sandbox.test.id
  path       = "content"
  content    = "text\r\n"
  mode       = "0600"
}

resource "cloudflaresandbox_file" "base64" {
  sandbox_id     = cloudflaresandbox_sandbox.test.id
  path           = "/workspace/base64"
  content_base64 = "AP8="
}

resource "cloudflaresandbox_file" "source" {
  sandbox_id = cloudflaresandbox_sandbox.test.id
  path       = "source"
  source     = "source"
}

resource "cloudflaresandbox_file" "content_wo" {
  sandbox_id         = cloudflaresandbox_sandbox.test.id
  path               = "content_wo"
  content_wo         = "not in the state"
  content_wo_version = 3
}

resource "cloudflaresandbox_directory" "test" {
  sandbox_id = cloudflaresandbox_sandbox.test.id
  path       = "tree"
  source     = "tree"
  excludes   = ["**/*.log"]
}

resource "cloudflaresandbox_exec" "command" {
  sandbox_id  = cloudflaresandbox_sandbox.test.id
  command     = ["cat", "tree/one"]
  environment = { A = "b" }
  stdin       = ""
  triggers    = { tree = cloudflaresandbox_directory.test.revision }

  environment_wo         = { SECRET = "not in the state" }
  environment_wo_version = 1
}

resource "cloudflaresandbox_exec" "script" {
  sandbox_id               = cloudflaresandbox_sandbox.test.id
  script                   = "echo out; echo err >&2; exit 3"
  interpreter              = ["bash", "-e"]
  working_dir              = "/tmp"
  timeout                  = "1m"
  allow_non_zero_exit_code = true
  max_output_bytes         = 1000

  on_destroy = {
    command = ["true"]
  }
}

resource "cloudflaresandbox_tunnel" "test" {
  sandbox_id = cloudflaresandbox_sandbox.test.id
  port       = 8080
}

resource "cloudflaresandbox_bucket_mount" "test" {
  sandbox_id   = cloudflaresandbox_sandbox.test.id
  mount_path   = "/workspace/bucket"
  bucket       = "bucket"
  endpoint     = "https://s3.example"
  prefix       = "/part"
  read_only    = true
  s3fs_options = ["max_stat_cache_size=1000"]

  access_key_id_wo       = "not in the state"
  secret_access_key_wo   = "not in the state"
  credentials_wo_version = 2
}
