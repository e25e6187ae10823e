package localbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// startDeadline bounds one container's start.
const startDeadline = 30 * time.Second

// containerStarter finds out how this machine can start containers.
func containerStarter(ctx context.Context, most limits, environment []string) (func(context.Context) (*container, error), error) {
	ns, err := detectNamespaces(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (*container, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), startDeadline)
		defer cancel()
		return startContainer(ctx, ns, most, environment)
	}, nil
}

// startContainer starts a container and waits until its agent answers.
func startContainer(ctx context.Context, ns namespaces, most limits, environment []string) (*container, error) {
	local, remote, err := socketPair()
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	defer remote.Close()
	control, err := unixConn(local)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}

	c := &container{
		hostname: randomHex(6),
		stderr:   &bytes.Buffer{},
		done:     make(chan struct{}),
		control:  control,
	}
	c.state.init()
	c.opsCtx, c.opsStop = context.WithCancel(context.Background())
	c.client = &http.Client{Transport: &http.Transport{
		DialContext:         c.dial,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 16,
	}}
	c.cmd = &exec.Cmd{
		Path:        "/proc/self/exe",
		Args:        append([]string{agentName, c.hostname}, most.arguments()...),
		Env:         append(containerEnv(c.hostname), environment...), // of a name that is there twice, the last counts
		Dir:         "/",
		Stderr:      c.stderr,
		ExtraFiles:  []*os.File{remote},
		SysProcAttr: ns.attributes(),
	}
	if err := c.cmd.Start(); err != nil {
		control.Close()
		return nil, fmt.Errorf("start in new namespaces: %w", err)
	}
	go func() {
		_ = c.cmd.Wait() // how it ended does not matter, that it ended does
		control.Close()
		c.opsStop()
		c.client.CloseIdleConnections()
		close(c.done)
	}()
	if err := c.ready(ctx); err != nil {
		c.kill()
		if said := strings.TrimSpace(c.stderr.String()); said != "" {
			err = errors.New(said)
		}
		return nil, err
	}
	return c, nil
}

// dial hands the agent one end of a new socket pair over the control socket.
func (c *container) dial(context.Context, string, string) (net.Conn, error) {
	local, remote, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer remote.Close()
	c.controlMu.Lock()
	_, _, err = c.control.WriteMsgUnix([]byte{0}, syscall.UnixRights(int(remote.Fd())), nil)
	c.controlMu.Unlock()
	if err != nil {
		local.Close()
		return nil, err
	}
	return unixConn(local)
}

// socketPair makes a connected pair of stream sockets that no other process
// inherits. The first end is ours and does not block; the second is given away.
func socketPair() (ours, given *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		syscall.Close(fds[0])
		syscall.Close(fds[1])
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket"), nil
}

// unixConn turns a socket into a connection and closes the file.
func unixConn(f *os.File) (*net.UnixConn, error) {
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil
}
