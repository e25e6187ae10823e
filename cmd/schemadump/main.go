// Command schemadump prints the provider's schema as `terraform providers
// schema -json` would, without a Terraform binary.
//
// The documentation is generated from it. Asking Terraform instead would tie
// the generated pages to the version that happens to be installed: Terraform
// 1.11, for one, leaves out actions and resource identities.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"terraform-provider-cloudflaresandbox/internal/provider"
)

func main() {
	as := flag.String("as", provider.Address, "provider address to print the schema under")
	flag.Parse()

	if err := dump(context.Background(), os.Stdout, *as); err != nil {
		fmt.Fprintln(os.Stderr, "schemadump:", err)
		os.Exit(1)
	}
}

// dump writes the schema of this provider to w under the given address.
func dump(ctx context.Context, w io.Writer, as string) error {
	schema, err := providerSchema(ctx, providerserver.NewProtocol6(provider.New("dev")())())
	if err != nil {
		return err
	}

	out := json.NewEncoder(w)
	out.SetIndent("", "  ")

	return out.Encode(schemas{
		FormatVersion: "1.0",
		Schemas:       map[string]*providerJSON{as: schema},
	})
}
