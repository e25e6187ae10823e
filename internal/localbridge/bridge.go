package localbridge

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Config says how a bridge runs. The zero value is a bridge on a free port of
// 127.0.0.1 with a random key and no instance limit.
type Config struct {
	Addr         string        // listen address, loopback only; default "127.0.0.1:0"
	Key          string        // what clients must present; empty: a fresh random key
	NoKey        bool          // serve without any authentication, as a bridge without SANDBOX_API_KEY does
	MaxInstances int           // instance limit; 0: none
	WarmTarget   int           // containers that wait for an id once the pool is primed
	IdleTimeout  time.Duration // a container sleeps after that idle time; default 10 minutes
	DiskBytes    int64         // size of each writable file system of a container; default half of the memory
	MaxProcesses int           // processes and threads of a container, with the dozen of its process 1; 0: no limit
	Environment  []string      // NAME=value, on top of the published image's, as another image may have it
	Logger       *slog.Logger  // default: discard

	// Bindings are the names of R2 bindings that the mount route knows. They need
	// ContainerProxy, and so do credential proxies: a Worker that exports that
	// class, which the published template does not.
	Bindings       []string
	ContainerProxy bool
	// TunnelZone is the domain of named tunnels. Without one they are refused, as
	// by a bridge without CLOUDFLARE_API_TOKEN.
	TunnelZone string
	// CleanCuts ends broken reads like a runtime of mid-2026: 200 with a body
	// that stops early but cleanly, where newer ones close the connection
	// (BRIDGE.md, Files).
	CleanCuts bool
}

// Bridge is a running bridge. Its methods may be called from any goroutine.
type Bridge struct {
	cfg      Config
	pool     *pool
	listener net.Listener
	server   *http.Server
	served   chan struct{}

	zone     zone
	logMu    sync.Mutex
	commands []string
}

// Start starts a bridge, or says what this machine lacks for it. The context
// bounds the start alone; the bridge runs until Close.
func Start(ctx context.Context, cfg Config) (*Bridge, error) {
	if cfg.Addr == "" {
		cfg.Addr = "127.0.0.1:0"
	}
	if err := checkLoopback(cfg.Addr); err != nil {
		return nil, err
	}
	if cfg.Key == "" && !cfg.NoKey {
		cfg.Key = randomHex(32)
	}
	if cfg.IdleTimeout <= 0 {
		cfg.IdleTimeout = 10 * time.Minute
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	start, err := containerStarter(ctx, limits{disk: cfg.DiskBytes, processes: cfg.MaxProcesses}, cfg.Environment)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("localbridge: %w", err)
	}
	b := &Bridge{
		cfg:      cfg,
		pool:     newPool(start, cfg.MaxInstances, cfg.WarmTarget, cfg.IdleTimeout),
		listener: listener,
		served:   make(chan struct{}),
		zone:     zone{domain: cfg.TunnelZone, records: map[string]*tunnel{}},
	}
	b.server = &http.Server{
		Handler:           b.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          slog.NewLogLogger(cfg.Logger.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(b.served)
		if err := b.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			cfg.Logger.Error("localbridge stopped serving", "error", err)
		}
	}()
	return b, nil
}

// checkLoopback refuses to offer commands on this machine to a network.
func checkLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("localbridge: listen address %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("localbridge: listen address %q is not on loopback; "+
		"whoever reaches this bridge runs commands on this machine, so it serves loopback only", addr)
}

// URL is the bridge's base URL, without a trailing slash.
func (b *Bridge) URL() string { return "http://" + b.listener.Addr().String() }

// Key is what clients must present, empty with Config.NoKey.
func (b *Bridge) Key() string { return b.cfg.Key }

// Handler serves the bridge's routes, for a test that puts its own server or
// proxy around it.
func (b *Bridge) Handler() http.Handler { return http.HandlerFunc(b.serve) }

// Close ends the server and every container, and waits until no process of
// theirs is left.
func (b *Bridge) Close() error {
	err := b.server.Close()
	<-b.served
	b.pool.close()
	return err
}

// Kill crashes the id's container as kill -9 does and reports whether it had
// one. The id lives on: its next request gets a fresh, empty container.
func (b *Bridge) Kill(id string) bool { return b.pool.drop(id) }

// FailNext makes the next n requests for id fail as they do in the moments
// after a crash: 502, an error event, or running false (OBSERVED.md, e+f).
func (b *Bridge) FailNext(id string, n int) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	b.pool.failing[id] = n
}

// Sleep stops the id's container as its idle limit does and reports whether it
// had one.
func (b *Bridge) Sleep(id string) bool { return b.pool.drop(id) }

// SleepAll puts every container that belongs to an id to sleep.
func (b *Bridge) SleepAll() {
	for _, id := range b.pool.ids() {
		b.pool.drop(id)
	}
}

// SetMaxInstances changes the instance limit; 0 lifts it. Running containers
// stay, also above a new limit.
func (b *Bridge) SetMaxInstances(n int) {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	b.pool.max = n
}

// Assigned is the number of containers that pool/stats counts.
func (b *Bridge) Assigned() int { return len(b.pool.ids()) }

// Running lists the ids that have a container, sorted.
func (b *Bridge) Running() []string { return b.pool.ids() }

// ContainersStarted counts all containers ever started, also those that lost
// the race of first requests.
func (b *Bridge) ContainersStarted() int {
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	return b.pool.started
}

// CommandLog holds the whole command line of each exec in order, as the
// published container logs it: what a test finds here, a log reader finds too.
func (b *Bridge) CommandLog() []string {
	b.logMu.Lock()
	defer b.logMu.Unlock()
	return slices.Clone(b.commands)
}

func (b *Bridge) logCommand(id, command string) {
	b.cfg.Logger.Debug("exec", "sandbox", id, "command", command)
	b.logMu.Lock()
	defer b.logMu.Unlock()
	b.commands = append(b.commands, command)
}

// Processes lists the command lines of what runs in the id's container now,
// without its process 1. It starts nothing.
func (b *Bridge) Processes(id string) ([]string, error) {
	c := b.pool.find(id)
	if c == nil {
		return nil, fmt.Errorf("sandbox %s has no container", id)
	}
	return c.processes(c.operation())
}

// Inside runs a script of bash in the id's container and returns what it prints,
// past the HTTP interface and its log. A script that fails is an error. It starts
// no container.
func (b *Bridge) Inside(id, script string) (string, error) {
	c := b.pool.find(id)
	if c == nil {
		return "", fmt.Errorf("sandbox %s has no container", id)
	}
	result, err := c.run(c.operation(), script)
	if err == nil && result.code != 0 {
		err = fmt.Errorf("exit code %d: %s", result.code, result.stderr)
	}
	return string(result.stdout), err
}

func randomHex(bytes int) string {
	buffer := make([]byte, bytes)
	_, _ = rand.Read(buffer) // never fails, by its documentation
	return hex.EncodeToString(buffer)
}
