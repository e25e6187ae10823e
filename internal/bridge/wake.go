package bridge

import "context"

// Wake returns the instance to work with. It asks the sandbox only if it has not been heard of lately, starting a
// container if there is none. A [Command] that names the instance runs in this container or not at all.
func (s *Sandbox) Wake(ctx context.Context) (string, error) { return s.awake(ctx) }
