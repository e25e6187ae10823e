variable "report" {
  description = "Where the report is, under /workspace."
  type        = string
  default     = "out/report.txt"

  validation {
    condition     = can(provider::cloudflaresandbox::workspace_path(var.report))
    error_message = "The report must be a file under /workspace."
  }
}

# "/workspace/out/report.txt"
output "report" {
  value = provider::cloudflaresandbox::workspace_path(var.report)
}
