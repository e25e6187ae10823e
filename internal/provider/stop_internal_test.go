package provider

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// readingServer tells what became of the context of a read.
type readingServer struct {
	frameworkServer

	reading func(context.Context)
}

func (s readingServer) ReadDataSource(ctx context.Context, _ *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	s.reading(ctx)

	return &tfprotov6.ReadDataSourceResponse{}, nil
}

func (readingServer) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

func (readingServer) ConfigureProvider(context.Context, *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	return &tfprotov6.ConfigureProviderResponse{}, nil
}

// Serve would fall back to a server whose stop does not last.
func TestFrameworkServerIsWhatStopsAreMadeToLastFor(t *testing.T) {
	t.Parallel()

	server := providerserver.NewProtocol6(New("test")())()
	if _, ok := server.(frameworkServer); !ok {
		t.Errorf("%T lacks what the provider needs", server)
	}
}

func TestWorkBegunAfterAnInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()

	ended := func(ctx context.Context) { <-ctx.Done() }
	server := &stoppingServer{frameworkServer: readingServer{reading: ended}, work: &work{}}
	configure(t, server)

	began := make(chan struct{})
	server.frameworkServer = readingServer{reading: func(ctx context.Context) { close(began); <-ctx.Done() }}
	done := make(chan error)
	go func() {
		_, err := server.ReadDataSource(t.Context(), nil)
		done <- err
	}()
	<-began
	if _, err := server.StopProvider(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	server.frameworkServer = readingServer{reading: ended}
	if _, err := server.ReadDataSource(t.Context(), nil); err != nil {
		t.Fatal(err)
	}

	configure(t, server)
	server.frameworkServer = readingServer{reading: func(ctx context.Context) {
		if ctx.Err() != nil {
			t.Error("another run of Terraform is interrupted as well")
		}
	}}
	if _, err := server.ReadDataSource(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func configure(t *testing.T, server *stoppingServer) {
	t.Helper()

	if _, err := server.ConfigureProvider(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestEndWaitsForWorkThatIsUnderWay(t *testing.T) {
	t.Parallel()

	w := &work{}
	w.wait(t.Context())

	_, end := w.begin(t.Context())
	waited := make(chan struct{})
	go func() {
		w.wait(t.Context())
		close(waited)
	}()
	select {
	case <-waited:
		t.Error("nothing was waited for")
	default:
	}
	end()
	<-waited

	w.begin(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.wait(ctx)
}
