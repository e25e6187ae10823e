# Every run block works on the same sandbox; Terraform destroys it after the file.

run "adds_up" {
  assert {
    condition     = output.total == "42"
    error_message = "The total is ${output.total}."
  }
}

run "follows_a_change" {
  variables {
    orders = [1, 2]
  }

  assert {
    condition     = output.total == "3"
    error_message = "The total is ${output.total}."
  }
}

run "says_what_is_wrong" {
  command = plan

  variables {
    orders = []
  }

  assert {
    condition     = cloudflaresandbox_file.orders.size == 0
    error_message = "An empty list must give an empty file."
  }
}
