package localbridge

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spawner starts processes without any capability. They inherit those of the
// thread that forks them, so that is always the same thread, which has given
// all of its own away; the other threads of process 1 keep the right to mount.
type spawner chan<- func()

func newSpawner() spawner {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		// Neither call can fail on a kernel that has made these namespaces.
		_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		var none [2]unix.CapUserData
		_ = unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
		for job := range jobs {
			job()
		}
	}()
	return jobs
}

func (s spawner) start(argv []string, attr *os.ProcAttr) (process *os.Process, err error) {
	done := make(chan struct{})
	s <- func() {
		process, err = os.StartProcess(argv[0], argv, attr)
		close(done)
	}
	<-done
	return process, err
}

// exec runs a command and streams its output as frames. The command does not
// end when the bridge stops listening; what it still prints is thrown away.
func (a *agent) exec(w http.ResponseWriter, r *http.Request) {
	var request agentExec
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		fail(w, "exec", err)
		return
	}
	run, err := a.start(request)
	if err != nil {
		fail(w, "exec", err)
		return
	}
	out := &frameWriter{w: w, flush: http.NewResponseController(w)}
	var streams sync.WaitGroup
	streams.Go(func() { out.copy(frameStdout, run.stdout) })
	streams.Go(func() { out.copy(frameStderr, run.stderr) })
	code := run.wait(request.Timeout)
	streams.Wait() // a background child that holds the pipes keeps the stream open
	if run.timedOut {
		out.write(frameStderr, []byte(request.Notice))
		code = 124
	}
	out.write(frameExit, binary.BigEndian.AppendUint32(nil, uint32(code)))
}

// runningCommand is a started command. Its output arrives over sockets, not pipes, as
// in the published container: /dev/stdout cannot be opened there.
type runningCommand struct {
	process        *os.Process
	stdout, stderr *os.File
	timedOut       bool
}

func (a *agent) start(request agentExec) (*runningCommand, error) {
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	stdout, childStdout, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer childStdout.Close()
	stderr, childStderr, err := socketPair()
	if err != nil {
		stdout.Close()
		return nil, err
	}
	defer childStderr.Close()
	process, err := a.spawner.start([]string{"/bin/bash", "-c", request.Command}, &os.ProcAttr{
		Dir:   request.Cwd,
		Env:   os.Environ(),
		Files: []*os.File{stdin, childStdout, childStderr},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		stdout.Close()
		stderr.Close()
		return nil, err
	}
	return &runningCommand{process: process, stdout: stdout, stderr: stderr}, nil
}

// wait waits for the command, at most as long as it may run, and returns its
// exit code in the shell's way: 128 and the signal's number.
func (c *runningCommand) wait(timeout *time.Duration) int {
	ended := make(chan struct{})
	var status syscall.WaitStatus
	go func() {
		defer close(ended)
		if state, err := c.process.Wait(); err == nil {
			status = state.Sys().(syscall.WaitStatus)
		}
	}()
	if timeout != nil {
		limit := time.NewTimer(*timeout)
		defer limit.Stop()
		select {
		case <-ended:
		case <-limit.C:
			c.timedOut = true
			c.stop(ended)
		}
	}
	<-ended
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}

// stop signals the command's process group.
func (c *runningCommand) stop(ended <-chan struct{}) {
	_ = syscall.Kill(-c.process.Pid, syscall.SIGTERM)
	grace := time.NewTimer(killGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		_ = syscall.Kill(-c.process.Pid, syscall.SIGKILL)
	}
}

// frameWriter sends frames until the bridge stops listening.
type frameWriter struct {
	mu    sync.Mutex
	w     http.ResponseWriter
	flush *http.ResponseController
	gone  bool
}

func (f *frameWriter) write(kind frameKind, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gone {
		return
	}
	if _, err := f.w.Write(appendFrame(nil, kind, data)); err != nil {
		f.gone = true
		return
	}
	f.gone = f.flush.Flush() != nil
}

// copy sends all of a stream and closes it.
func (f *frameWriter) copy(kind frameKind, stream *os.File) {
	defer stream.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := stream.Read(buffer)
		if n > 0 {
			f.write(kind, buffer[:n])
		}
		if err != nil {
			return
		}
	}
}

// processes lists the command lines in the container, without process 1 and
// without the dead that nobody waits for: like the published one, process 1
// does not reap orphans.
func (a *agent) processes(w http.ResponseWriter, _ *http.Request) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		fail(w, "read", err)
		return
	}
	lines := []string{}
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil || len(line) == 0 || file == fmt.Sprintf("/proc/%d/cmdline", os.Getpid()) {
			continue
		}
		lines = append(lines, strings.ReplaceAll(strings.TrimSuffix(string(line), "\x00"), "\x00", " "))
	}
	_ = json.NewEncoder(w).Encode(lines)
}
