package provider

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

const (
	// secretKey is where the verifier is kept in the resource's private state.
	secretKey = "content_wo"

	secretSaltSize = 16
)

// secretIterations is what OWASP recommends for PBKDF2 with SHA-256. The state
// may be read by more people than the secret, and a plain SHA-256 of a short
// secret is found by trying. Only tests take fewer: under the race detector one
// verification takes more than a second.
var secretIterations = 600_000

// secretVerifier recognises a write-only content without revealing it.
type secretVerifier struct {
	Iterations int    `json:"iterations"`
	Salt       []byte `json:"salt"`
	Hash       []byte `json:"hash"`
}

func newSecretVerifier(contentSHA256 string) (secretVerifier, error) {
	verifier := secretVerifier{Iterations: secretIterations, Salt: make([]byte, secretSaltSize)}
	// Never fails, and fills the slice.
	_, _ = rand.Read(verifier.Salt)

	hash, err := verifier.derive(contentSHA256)
	verifier.Hash = hash

	return verifier, err
}

func (v secretVerifier) matches(contentSHA256 string) bool {
	hash, err := v.derive(contentSHA256)

	return err == nil && subtle.ConstantTimeCompare(hash, v.Hash) == 1
}

func (v secretVerifier) derive(contentSHA256 string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, contentSHA256, v.Salt, v.Iterations, sha256.Size)
}

// rememberSecret records a verifier for a write-only content, or forgets one.
func rememberSecret(ctx context.Context, private privateState, secret bool, contentSHA256 string) diag.Diagnostics {
	if !secret {
		return private.SetKey(ctx, secretKey, nil)
	}

	var diags diag.Diagnostics

	verifier, err := newSecretVerifier(contentSHA256)
	if err != nil {
		diags.AddError("Content cannot be remembered", sentence(err))
		return diags
	}

	encoded, err := json.Marshal(verifier)
	if err != nil {
		diags.AddError("Content cannot be remembered", sentence(err))
		return diags
	}

	return private.SetKey(ctx, secretKey, encoded)
}

// secretIntact reports whether a file still holds the write-only content that
// was written last. One that cannot be read is taken to.
func secretIntact(ctx context.Context, private privateReader, info bridge.FileInfo) (bool, diag.Diagnostics) {
	if info.Unreadable {
		return true, nil
	}

	encoded, diags := private.GetKey(ctx, secretKey)
	if diags.HasError() || len(encoded) == 0 {
		return false, diags
	}

	var verifier secretVerifier
	if err := json.Unmarshal(encoded, &verifier); err != nil {
		return false, diags
	}

	return verifier.matches(info.SHA256), diags
}
