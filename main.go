// Command terraform-provider-cloudflaresandbox serves the provider to
// Terraform and OpenTofu over plugin protocol 6.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"terraform-provider-cloudflaresandbox/internal/provider"
)

//go:generate bash tools/generate.sh

// version is set by the linker in released and installed builds.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "print TF_REATTACH_PROVIDERS and wait for a debugger instead of being started by Terraform")
	flag.Parse()

	err := provider.Serve(context.Background(), version, providerserver.ServeOpts{
		Address:         provider.Address,
		Debug:           *debug,
		ProtocolVersion: 6,
	})
	if err != nil {
		log.Fatal(err)
	}
}
