package localbridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// agentName is what process 1 of a container is called, in argv and in ps.
const agentName = "localbridge-container"

// controlFD is the inherited socket over which the bridge hands connections in.
const controlFD = 3

// init turns this executable into a container's process 1 when startContainer
// started it as that. It is an init function because the bridge must also run
// inside any test binary, whose main function is not ours.
func init() {
	if len(os.Args) != 4 || os.Args[0] != agentName {
		return
	}
	if err := runAgent(os.Args[1], parseLimits(os.Args[2], os.Args[3])); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// runAgent builds the root file system and serves the bridge until the control
// socket closes. The kernel ends every other process of the container with it.
func runAgent(hostname string, most limits) error {
	syscall.Umask(0o022)
	// Whatever else the bridge's parent left open is none of a command's business.
	_ = unix.CloseRange(controlFD+1, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
	if err := buildRoot(hostname, most.disk); err != nil {
		return fmt.Errorf("sandbox file system: %w", err)
	}
	if err := most.setProcesses(); err != nil {
		return fmt.Errorf("limit of processes: %w", err)
	}
	control, err := unixConn(os.NewFile(controlFD, "control"))
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	agent := &agent{spawner: newSpawner()}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /processes", agent.processes)
	mux.HandleFunc("POST /exec", agent.exec)
	mux.HandleFunc("PUT /file", agent.write)
	mux.HandleFunc("GET /file", agent.read)
	mux.HandleFunc("PUT /mount", agent.mount)
	mux.HandleFunc("DELETE /mount", agent.unmount)
	err = (&http.Server{Handler: mux}).Serve(handedConns{control})
	if errors.Is(err, io.EOF) {
		return nil // the bridge is gone or has let go of this container
	}
	return err
}

// agent answers the bridge from inside a container.
type agent struct {
	spawner spawner
}

// fail reports err as a JSON agentError.
func fail(w http.ResponseWriter, during string, err error) {
	reply := agentError{Errno: "EIO", Message: err.Error(), During: during}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		reply.Errno, reply.Message = describeErrno(errno)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_ = json.NewEncoder(w).Encode(reply)
}

// handedConns is a listener whose connections arrive as file descriptors on
// the control socket.
type handedConns struct{ control *net.UnixConn }

func (l handedConns) Accept() (net.Conn, error) {
	message, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	n, oobn, _, _, err := l.control.ReadMsgUnix(message, rights)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:oobn])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("control message: %d parts, %w", len(messages), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("control message: %d descriptors, %w", len(fds), err)
	}
	syscall.CloseOnExec(fds[0])
	return unixConn(os.NewFile(uintptr(fds[0]), "connection"))
}

func (l handedConns) Close() error   { return l.control.Close() }
func (l handedConns) Addr() net.Addr { return l.control.LocalAddr() }
