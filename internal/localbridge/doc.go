// Package localbridge is a Cloudflare Sandbox bridge on this machine, for a
// first try and for the acceptance tests.
//
// It answers the bridge's HTTP routes on loopback and runs every sandbox as a
// process tree of its own in private Linux namespaces (user, mount, pid, uts,
// ipc) with a private /workspace, /tmp and home directory. It behaves like the
// published bridge wherever BRIDGE.md and its record OBSERVED.md say how that
// one behaves, the unpleasant parts included: lazy start, the race of first
// requests, lossy text, the limit of an upload and its collateral cut.
//
// It is a development tool and NO SECURITY BOUNDARY: sandboxes share the
// host's kernel and network and see much of its file system read-only.
//
// # How a sandbox runs
//
// A container is this same executable, started again in new namespaces: the
// init function in agent_linux.go recognises that case, builds the root file
// system out of tmpfs and read-only binds, and serves commands and files as
// process 1. The bridge reaches it only through a socket that the container
// inherits, so there is no path on the host that leads into a sandbox, and
// nothing remains when its process 1 ends: not a process, a mount or a file.
//
// # Known differences from the published bridge
//
//   - A stopped container leaves the pool's count at once, not within ten seconds.
//   - The pool fills up when it is primed, and not again every ten seconds.
//   - Session-Id is checked and then ignored; sessions are names without a shell.
//   - A tunnel's URL is plain HTTP on loopback, a named one's too. Sandboxes share the
//     host's network, so what it leads to is a port of the host.
//   - A successful bucket mount is an empty tmpfs under the name that s3fs would have;
//     no bucket is ever contacted, and options of s3fs are not checked.
//   - A request target with an invalid percent escape ("100%") is refused by
//     net/http with 400 before it arrives here.
//   - There is no pty and no OpenAPI document.
//   - /usr, /etc and the like are read-only, so writing there says so in a
//     shell instead of "Permission denied".
package localbridge
