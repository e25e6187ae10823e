locals {
  tests = ["unit tests", "it's slow", "$HOME"]
}

# "./run --only 'unit tests' 'it'\''s slow' '$HOME' >report.txt"
output "script" {
  value = "./run --only ${provider::cloudflaresandbox::shell_join(local.tests)} >report.txt"
}
