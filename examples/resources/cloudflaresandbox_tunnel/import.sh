# By the sandbox's id and the port. The apply that follows gets the tunnel's
# address, or opens the tunnel if there is none.
terraform import cloudflaresandbox_tunnel.web kjs5dxdhwo5rnkmqjcaixp7tl4/8080
