// Command localbridge runs a Cloudflare Sandbox bridge on this machine, to try
// the provider without a Cloudflare account. It is a development tool and no
// security boundary; see internal/localbridge.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "localbridge:", err)
		os.Exit(1)
	}
}

// run serves until the context ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("localbridge", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var (
		addr      = flags.String("addr", "127.0.0.1:8787", "`address` to listen on, loopback only; port 0 picks a free one")
		key       = flags.String("key", "", "API `key` that clients must present (default: a fresh random one)")
		instances = flags.Int("max-instances", 0, "how many sandboxes may run at once; 0 means no limit")
		idle      = flags.Duration("idle-timeout", 10*time.Minute, "a sandbox that long unused goes to sleep and loses its files")
		readyFile = flags.String("ready-file", "", "`path` of a JSON file {url,key,pid} to write once the bridge serves")
		verbose   = flags.Bool("verbose", false, "log every command, secrets in its arguments included, as the real bridge does")
	)
	if err := flags.Parse(args); err != nil {
		return err
	}
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	bridge, err := localbridge.Start(ctx, localbridge.Config{
		Addr:         *addr,
		Key:          *key,
		MaxInstances: *instances,
		IdleTimeout:  *idle,
		Logger:       slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})),
	})
	if err != nil {
		return err
	}
	defer bridge.Close()
	if *readyFile != "" {
		if err := writeReadyFile(*readyFile, bridge); err != nil {
			return err
		}
		defer os.Remove(*readyFile)
	}
	fmt.Fprintf(stdout, `A Cloudflare Sandbox bridge is serving on %[1]s.

  export CLOUDFLARE_SANDBOX_API_URL=%[1]s
  export CLOUDFLARE_SANDBOX_API_KEY=%[2]s

It is a development tool and no security boundary: sandboxes share this
machine's kernel and network and can read much of its file system. Run nothing
in it that you would not run yourself. Ctrl-C stops it and every sandbox.
`, bridge.URL(), bridge.Key())
	<-ctx.Done()
	return bridge.Close()
}

// writeReadyFile writes the file whole or not at all, readable for its owner
// alone, since the key is in it.
func writeReadyFile(path string, bridge *localbridge.Bridge) error {
	content, err := json.Marshal(map[string]any{"url": bridge.URL(), "key": bridge.Key(), "pid": os.Getpid()})
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".localbridge-*")
	if err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	defer os.Remove(file.Name()) // no longer there after the rename
	_, err = file.Write(append(content, '\n'))
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("ready file: %w", err)
	}
	return nil
}
