package provider

import (
	"context"
	"log"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// farewell is how long the end may take: Terraform waits two seconds for a
// provider to exit before it kills it.
const farewell = 1800 * time.Millisecond

// Serve serves the provider until Terraform has no more use for it, and then
// destroys the ephemeral sandboxes that are still open. Terraform closes them
// itself when all goes well; of a run that has failed or was interrupted it
// only ends the provider.
func Serve(ctx context.Context, version string, opts providerserver.ServeOpts) error {
	open, work := &openSandboxes{}, &work{}
	var options []tf6server.ServeOpt
	if opts.Debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	err := tf6server.Serve(opts.Address, func() tfprotov6.ProviderServer {
		server := providerserver.NewProtocol6(&cloudflareSandboxProvider{version: version, open: open})()
		framework, ok := server.(frameworkServer)
		if !ok {
			return server
		}

		return &stoppingServer{frameworkServer: framework, work: work}
	}, options...)

	// The connection has ended, and with it the context of what was under way: it
	// ends its commands and removes what it has staged.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	work.wait(ctx)
	open.destroy(ctx)

	return err
}

// openSandboxes are the ephemeral sandboxes that Terraform has not closed yet.
// A nil one keeps none: nobody would ask for them.
type openSandboxes struct {
	mu      sync.Mutex
	clients map[string]*bridge.Client
}

func (o *openSandboxes) add(id string, client *bridge.Client) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()

	if o.clients == nil {
		o.clients = map[string]*bridge.Client{}
	}
	o.clients[id] = client
}

func (o *openSandboxes) remove(id string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()

	delete(o.clients, id)
}

// destroy destroys them all at once.
func (o *openSandboxes) destroy(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()

	var wait sync.WaitGroup
	for id, client := range o.clients {
		wait.Go(func() {
			// Terraform reads no more answers; the log is all that is left.
			if err := client.DestroySandbox(ctx, id); err != nil {
				log.Printf("[WARN] could not destroy sandbox %s, whose container sleeps after ten idle minutes: %v", id, err)
			}
		})
	}
	wait.Wait()
}
