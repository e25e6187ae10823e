// Package faultproxy stands between the provider and a bridge, for tests: it
// passes requests on, records them, and does to chosen ones what networks,
// Cloudflare's edge and crashed containers do.
package faultproxy
