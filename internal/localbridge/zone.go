package localbridge

import (
	"fmt"
	"sync"
)

// zone stands for the DNS zone in which named tunnels have their records. A
// record outlives the container whose tunnel it belongs to, and the next one of
// the same sandbox cannot take it over: with the published bridge each container
// has an identity of its own, and only the bridge's tunnel and sandbox routes
// delete records.
type zone struct {
	domain string

	mu      sync.Mutex
	records map[string]*tunnel // by tunnel name
}

// claim reserves a name for a tunnel that is going to be.
func (z *zone) claim(t *tunnel) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	name := t.info.Name
	if z.domain == "" {
		return said("Named tunnels require CLOUDFLARE_API_TOKEN. Set it as a secret in your wrangler.jsonc.")
	}
	if other := z.records[name]; other != nil {
		return said(fmt.Sprintf("DNS record for %s.%s already exists with different content (owned by you, not us): "+
			"existing content=%q, existing comment=%q. Delete the record manually to allow the sandbox to manage it.",
			name, z.domain, other.info.ID+".cfargotunnel.com", "sandbox-"+other.owner))
	}
	z.records[name] = t
	return nil
}

// release deletes a tunnel's record, if it has one.
func (z *zone) release(t *tunnel) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.records[t.info.Name] == t {
		delete(z.records, t.info.Name)
	}
}
