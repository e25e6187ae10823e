resource "cloudflaresandbox_sandbox" "analysis" {}

resource "cloudflaresandbox_file" "orders" {
  sandbox_id = cloudflaresandbox_sandbox.analysis.id
  path       = "/workspace/orders.csv"
  content    = <<-EOT
    item,amount
    apples,3
    pears,4
  EOT
}

# The value of the last expression is the result.
data "cloudflaresandbox_python" "totals" {
  sandbox_id = cloudflaresandbox_sandbox.analysis.id

  code = <<-EOT
    import csv

    with open("orders.csv") as file:
        amounts = {row["item"]: int(row["amount"]) for row in csv.DictReader(file)}

    print(f"{len(amounts)} items")
    {"amounts": amounts, "total": sum(amounts.values())}
  EOT

  # Wait for the file to be written.
  depends_on = [cloudflaresandbox_file.orders]
}

# An exception that is an answer rather than a failure.
data "cloudflaresandbox_python" "numpy" {
  sandbox_id  = cloudflaresandbox_sandbox.analysis.id
  code        = "import numpy"
  timeout     = "1m"
  allow_error = true
}

output "total" {
  value = jsondecode(data.cloudflaresandbox_python.totals.result_json).total
}

output "has_numpy" {
  value = data.cloudflaresandbox_python.numpy.error == null
}
