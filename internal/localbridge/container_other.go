//go:build !linux

package localbridge

import (
	"context"
	"fmt"
	"runtime"
)

// containerStarter refuses: sandboxes are made of Linux namespaces.
func containerStarter(context.Context, limits, []string) (func(context.Context) (*container, error), error) {
	return nil, fmt.Errorf("localbridge runs sandboxes in Linux namespaces, which %s does not have; "+
		"run it on Linux, or use a deployed bridge", runtime.GOOS)
}
