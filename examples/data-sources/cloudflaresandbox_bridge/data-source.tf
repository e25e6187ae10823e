# Fails the plan before anything is made when the bridge is not well.
data "cloudflaresandbox_bridge" "this" {
  lifecycle {
    postcondition {
      condition     = self.healthy
      error_message = "The bridge is not well: ${join("; ", self.errors)}."
    }
  }
}

# Warns when there is little room left. The limit is null where the bridge does
# not know it.
check "room" {
  assert {
    condition = (
      data.cloudflaresandbox_bridge.this.max_instances == null ? true :
      data.cloudflaresandbox_bridge.this.max_instances - data.cloudflaresandbox_bridge.this.assigned >= 2
    )
    error_message = "Fewer than two containers are free."
  }
}

output "containers" {
  value = data.cloudflaresandbox_bridge.this.total
}
