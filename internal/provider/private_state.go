package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// privateReader and privateState are the framework's private state, whose type
// cannot be named outside of it.
type privateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

type privateState interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}
