package provider

import (
	"context"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// frameworkServer is what the framework's server can do that this provider uses.
type frameworkServer interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
}

var _ frameworkServer = (*stoppingServer)(nil)

// stoppingServer makes a stop last, and lets the end of the process wait for
// work to clear up behind itself.
//
// An interrupted Terraform asks its providers to stop once, and then still
// begins what it had in hand at that moment. The framework ends only what runs
// already, so that a command begun a moment later would keep Terraform waiting
// for all its time.
type stoppingServer struct {
	frameworkServer

	work *work
}

// work is what is under way in this process.
type work struct {
	mu      sync.Mutex
	running int
	// idle is closed when nothing runs, if somebody waits for that.
	idle chan struct{}
	// stopped ends with an interrupt; nil before there is anything to interrupt.
	stopped context.Context //nolint:containedctx // it is the interrupt, and that of no single operation
	stop    context.CancelFunc
}

// resume makes what is begun from now on independent of former interrupts: under
// a debugger one process serves several runs of Terraform.
func (w *work) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped, w.stop = context.WithCancel(context.Background())
}

// begin returns the context for an operation, and what its end has to call.
func (w *work) begin(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)

	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
	detach := func() bool { return true }
	if w.stopped != nil {
		detach = context.AfterFunc(w.stopped, cancel)
	}

	return ctx, func() {
		detach()
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.running--
		if w.running == 0 && w.idle != nil {
			close(w.idle)
			w.idle = nil
		}
	}
}

// interrupt ends what runs and what is begun from now on.
func (w *work) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		w.stop()
	}
}

// wait returns when nothing is under way, or when the context ends.
func (w *work) wait(ctx context.Context) {
	w.mu.Lock()
	if w.running == 0 {
		w.mu.Unlock()
		return
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	idle := w.idle
	w.mu.Unlock()

	select {
	case <-idle:
	case <-ctx.Done():
	}
}

func (s *stoppingServer) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	s.work.resume()

	return s.frameworkServer.ConfigureProvider(ctx, req)
}

func (s *stoppingServer) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	s.work.interrupt()

	return s.frameworkServer.StopProvider(ctx, req)
}

func (s *stoppingServer) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, end := s.work.begin(ctx)
	defer end()

	return s.frameworkServer.ReadResource(ctx, req)
}

func (s *stoppingServer) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	ctx, end := s.work.begin(ctx)
	defer end()

	return s.frameworkServer.ApplyResourceChange(ctx, req)
}

func (s *stoppingServer) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	ctx, end := s.work.begin(ctx)
	defer end()

	return s.frameworkServer.ReadDataSource(ctx, req)
}

func (s *stoppingServer) OpenEphemeralResource(ctx context.Context, req *tfprotov6.OpenEphemeralResourceRequest) (*tfprotov6.OpenEphemeralResourceResponse, error) {
	ctx, end := s.work.begin(ctx)
	defer end()

	return s.frameworkServer.OpenEphemeralResource(ctx, req)
}

// InvokeAction runs the action while its events are read.
func (s *stoppingServer) InvokeAction(ctx context.Context, req *tfprotov6.InvokeActionRequest) (*tfprotov6.InvokeActionServerStream, error) {
	ctx, end := s.work.begin(ctx)
	stream, err := s.frameworkServer.InvokeAction(ctx, req)
	if err != nil || stream == nil || stream.Events == nil {
		end()
		return stream, err
	}

	events := stream.Events
	stream.Events = func(yield func(tfprotov6.InvokeActionEvent) bool) {
		defer end()
		events(yield)
	}

	return stream, nil
}
