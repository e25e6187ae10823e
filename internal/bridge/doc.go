// Package bridge talks to the sandbox bridge, the HTTP Worker that Cloudflare publishes, and gives on top of it what the
// bridge does not: proof.
//
// It has two layers. [Client] speaks the routes: authentication, errors, retries of what is safe to retry. [Sandbox] is
// a handle for one sandbox and stands on it: it serialises the first contact, notices a container that was replaced,
// runs a command exactly once and returns its exact output, and writes and reads files whose every byte is verified.
// The programs it runs inside the sandbox are in the directory scripts.
//
// The package knows nothing of Terraform. BRIDGE.md, cited in the comments, is the record of how the published bridge
// behaves; what it says there was measured.
package bridge
