package soak_test

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Of three sandboxes the first has a tunnel, the second a bucket mount, and the
// third both. They end with their container, and nothing but the bridge tells of
// a tunnel.

// mountPoint is where in /workspace the bucket of a sandbox is.
const mountPoint = "bucket"

// tunnel is the port that is tunnelled, which changes with every second round.
func (f fleet) tunnel(s int) (port int, declared bool) {
	return 8000 + f.round/2%2, s%3 != 1
}

// mount tells whether the mount is read-only, which changes with every third round.
func (f fleet) mount(s int) (readOnly, declared bool) {
	return f.round/3%2 == 1, s%3 != 0
}

// writeReach declares them.
func (f fleet) writeReach(text *strings.Builder, s int) {
	name := sandboxName(s)
	if port, declared := f.tunnel(s); declared {
		fmt.Fprintf(text, `
resource "cloudflaresandbox_tunnel" %[1]q {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  port = %[2]d
}
`, name, port)
	}
	if readOnly, declared := f.mount(s); declared {
		fmt.Fprintf(text, `
resource "cloudflaresandbox_bucket_mount" %[1]q {
  sandbox_id = cloudflaresandbox_sandbox.%[1]s.id
  mount_path = %[2]q
  bucket = "bucket"
  endpoint = "https://s3.example"
  read_only = %[3]t
  access_key_id_wo = "key"
  secret_access_key_wo = "secret"
  credentials_wo_version = 1
}
`, name, mountPoint, readOnly)
	}
}

// reachable is how many of them there are.
func (f fleet) reachable() (count int) {
	for s := range f.sandboxes {
		if _, declared := f.tunnel(s); declared {
			count++
		}
		if _, declared := f.mount(s); declared {
			count++
		}
	}

	return count
}

// checkReach checks that the tunnel and the mount of a sandbox are those that
// the state has, that they lead where it says, and that there are no others.
func (w *world) checkReach(f fleet, s int, state stored, instance string) error {
	name := sandboxName(s)
	id := state.sandboxes[name]

	var ports []int
	if port, declared := f.tunnel(s); declared {
		ports = append(ports, port)
		known := state.tunnels[name]
		if known.Port != port || known.InstanceID != instance {
			return fmt.Errorf("the state has a tunnel to port %d of instance %s, and the container is %s", known.Port, known.InstanceID, instance)
		}
		if err := w.dial(known.URL); err != nil {
			return fmt.Errorf("the tunnel that the state has: %w", err)
		}
	}
	if open := w.local.Tunnels(id); !slices.Equal(open, ports) {
		return fmt.Errorf("there are tunnels to ports %d, and %d are declared", open, ports)
	}

	var mounts []string
	if readOnly, declared := f.mount(s); declared {
		known := state.mounts[name]
		if known.InstanceID != instance {
			return fmt.Errorf("the state has a mount of instance %s, and the container is %s", known.InstanceID, instance)
		}
		access := map[bool]string{true: "ro", false: "rw"}[readOnly]
		mounts = append(mounts, fmt.Sprintf("%s /workspace/%s %s\n", known.MountID, mountPoint, access))
	}
	found, err := w.mounted(id)
	if err == nil && !slices.Equal(found, mounts) {
		err = fmt.Errorf("mounted are %q, and should be %q", found, mounts)
	}

	return err
}

// dial finds out whether anybody listens at a tunnel's address.
func (w *world) dial(address string) error {
	parsed, err := url.Parse(address)
	if err != nil {
		return err
	}
	connection, err := (&net.Dialer{}).DialContext(w.t.Context(), "tcp", parsed.Host)
	if err != nil {
		return err
	}

	return connection.Close()
}

// mounted lists what is mounted in the /workspace of a sandbox: source, place and
// access of each, as the kernel has them.
func (w *world) mounted(id string) ([]string, error) {
	output, err := w.local.Inside(id, `while read -r source place _ options _; do [[ $place != /workspace/* ]] || echo "$source $place ${options%%,*}"; done </proc/mounts`)
	if err != nil {
		return nil, err
	}

	return slices.Collect(strings.Lines(output)), nil
}

// checkKnown checks that the state knows of each tunnel and each mount that there
// is in a container.
func (w *world) checkKnown(id string, state stored) error {
	for _, port := range w.local.Tunnels(id) {
		if !slices.ContainsFunc(slices.Collect(maps.Values(state.tunnels)), func(known object) bool { return known.SandboxID == id && known.Port == port }) {
			return fmt.Errorf("there is a tunnel to port %d, and none in the state", port)
		}
	}
	unknown, err := w.unknownMounts(id, state)
	if len(unknown) > 0 {
		err = fmt.Errorf("mounts that are not in the state: %q", unknown)
	}

	return err
}

// unknownMounts are the places of mounts that the state does not have.
func (w *world) unknownMounts(id string, state stored) ([]string, error) {
	var unknown []string
	mounts, err := w.mounted(id)
	for _, mount := range mounts {
		fields := strings.Fields(mount)
		if !slices.ContainsFunc(slices.Collect(maps.Values(state.mounts)), func(known object) bool { return known.MountID == fields[0] }) {
			unknown = append(unknown, fields[1])
		}
	}

	return unknown, err
}
