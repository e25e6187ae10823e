// Package soak_test lets many objects go through many rounds of apply, plan and
// destroy while their containers are killed and Terraform is interrupted, and
// looks from inside the sandboxes whether what Terraform says is what is there.
//
// go test runs a short version of it, once. `make soak` runs for as long as SOAK
// says, with new seeds all the time, or with the one that SEED names.
package soak_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"terraform-provider-cloudflaresandbox/internal/clitest"
)

func TestMain(m *testing.M) {
	os.Exit(clitest.Main(m))
}

// soaking reports whether this is the soak and not the short version.
func soaking() bool { return os.Getenv("SOAK") != "" }

// seeds are those to go through: the one that SEED names, as many as there is
// time for if SOAK names a time, or else one. A failure is the last.
func seeds(t *testing.T) iter.Seq[uint64] {
	t.Helper()

	if given := os.Getenv("SEED"); given != "" {
		seed, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			t.Fatal(err)
		}

		return func(yield func(uint64) bool) { yield(seed) }
	}

	var limit time.Duration
	if soaking() {
		var err error
		if limit, err = time.ParseDuration(os.Getenv("SOAK")); err != nil {
			t.Fatal(err)
		}
	}

	return func(yield func(uint64) bool) {
		for began := time.Now(); yield(rand.Uint64()) && !t.Failed() && time.Since(began) < limit; {
		}
	}
}

// seedName names the run of a seed, in the way it is repeated.
func seedName(seed uint64) string { return fmt.Sprintf("SEED=%d", seed) }
