package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"terraform-provider-cloudflaresandbox/internal/provider"
)

// served is a configured provider, spoken to as Terraform does: for what the
// tests' Terraform does not know yet, or does at times of its own.
type served struct {
	tfprotov6.ProviderServer

	t      *testing.T
	schema *tfprotov6.GetProviderSchemaResponse
}

// serve starts the provider for a bridge at a URL.
func serve(t *testing.T, url, key string) served {
	t.Helper()

	s := served{ProviderServer: providerserver.NewProtocol6(provider.New("test")())(), t: t}
	var err error
	if s.schema, err = s.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{}); err != nil {
		t.Fatal(err)
	}
	configured, err := s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		Config: dynamic(t, s.schema.Provider.ValueType(), map[string]tftypes.Value{
			"api_url": tftypes.NewValue(tftypes.String, url), "api_key": tftypes.NewValue(tftypes.String, key),
		}),
	})
	if err != nil || len(configured.Diagnostics) > 0 {
		t.Fatalf("configure: %v, %v", err, configured.Diagnostics)
	}

	return s
}

func (b *testBridge) serve() served {
	b.t.Helper()

	return serve(b.t, b.url, b.key)
}

// strings reads the string attributes of an object.
func (s served) strings(value *tfprotov6.DynamicValue, of tftypes.Type) map[string]string {
	s.t.Helper()

	object, err := value.Unmarshal(of)
	if err != nil {
		s.t.Fatal(err)
	}
	attributes := map[string]tftypes.Value{}
	if err := object.As(&attributes); err != nil {
		s.t.Fatal(err)
	}

	texts := map[string]string{}
	for name, attribute := range attributes {
		if attribute.Type().Is(tftypes.String) && attribute.IsKnown() && !attribute.IsNull() {
			var text string
			if err := attribute.As(&text); err != nil {
				s.t.Fatal(err)
			}
			texts[name] = text
		}
	}

	return texts
}
