# terraform apply -invoke=action.cloudflaresandbox_prime_pool.morning, before the
# first sandboxes of the day are needed.
action "cloudflaresandbox_prime_pool" "morning" {}
