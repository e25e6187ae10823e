package localbridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// pool assigns containers to sandbox ids. It keeps the published pool's gap:
// between looking for a container and assigning a new one nothing is reserved,
// so that N first requests at once start N containers, the last to be ready
// stays assigned, and the instance limit can be overrun
// (BRIDGE.md, Life of a container; OBSERVED.md, g and l).
type pool struct {
	start func(context.Context) (*container, error)
	idle  time.Duration
	// target is how many containers wait for an id once the pool is primed.
	target int

	mu       sync.Mutex
	assigned map[string]*container
	warm     []*container        // that wait for an id
	warming  int                 // that are on their way to it
	alive    map[*container]bool // also those that lost the race and are counted nowhere
	failing  map[string]int      // requests still to fail after a crash, see FailNext
	max      int
	started  int
	closed   bool
	starting sync.WaitGroup
}

func newPool(start func(context.Context) (*container, error), limit, target int, idle time.Duration) *pool {
	return &pool{
		start: start, idle: idle, max: limit, target: target,
		assigned: map[string]*container{}, alive: map[*container]bool{}, failing: map[string]int{},
	}
}

// capacityError is the instance limit (BRIDGE.md, Errors).
type capacityError struct{ used, limit int }

func (e capacityError) Error() string {
	return fmt.Sprintf("Cannot start container: instance limit reached (%d/%d). "+
		"All container slots are in use. Wait for existing containers to stop.", e.used, e.limit)
}

var errClosed = errors.New("the bridge is closed")

// get returns the id's container, or starts one. The caller has entered it and
// must leave it.
func (p *pool) get(ctx context.Context, id string) (*container, error) {
	p.mu.Lock()
	if c := p.assigned[id]; c != nil && c.running() && c.state.enter() {
		p.mu.Unlock()
		return c, nil
	}
	delete(p.assigned, id)
	if p.closed {
		p.mu.Unlock()
		return nil, errClosed
	}
	if c := p.takeWarm(id); c != nil {
		p.mu.Unlock()
		return c, nil
	}
	if p.max > 0 && len(p.assigned) >= p.max {
		defer p.mu.Unlock()
		return nil, capacityError{used: len(p.assigned), limit: p.max}
	}
	p.starting.Add(1)
	p.mu.Unlock()
	defer p.starting.Done()

	c, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.alive[c] = true
	p.started++
	if p.closed {
		return nil, errClosed // close waits for us and then stops c
	}
	p.assign(id, c)
	go p.forget(c)
	return c, nil
}

// assign gives a container to an id, and enters it. p.mu is held.
func (p *pool) assign(id string, c *container) {
	p.assigned[id] = c
	c.state.enter()
	c.state.watch(p.idle, c.kill)
}

// forget takes a container off the books when it has ended.
func (p *pool) forget(c *container) {
	<-c.done
	c.state.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.alive, c)
	p.warm = slices.DeleteFunc(p.warm, func(waiting *container) bool { return waiting == c })
	maps.DeleteFunc(p.assigned, func(_ string, other *container) bool { return other == c })
}

// drop ends the id's container, if it has one, and the assignment with it.
func (p *pool) drop(id string) bool {
	p.mu.Lock()
	c := p.assigned[id]
	delete(p.assigned, id)
	p.mu.Unlock()
	if c == nil || !c.running() {
		return false
	}
	c.kill()
	return true
}

// find returns the id's running container, or nil.
func (p *pool) find(id string) *container {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.assigned[id]; c != nil && c.running() {
		return c
	}
	return nil
}

// ids lists the ids that have a running container.
func (p *pool) ids() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([]string, 0, len(p.assigned))
	for id, c := range p.assigned {
		if c.running() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// failNext reports whether this request is one of those that FailNext asked for.
func (p *pool) failNext(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing[id] == 0 {
		return false
	}
	p.failing[id]--
	return true
}

// poolStats is the answer of GET /v1/pool/stats.
type poolStats struct {
	Warm         int        `json:"warm"`
	Assigned     int        `json:"assigned"`
	Total        int        `json:"total"`
	Config       poolConfig `json:"config"`
	MaxInstances *int       `json:"maxInstances"`
}

type poolConfig struct {
	WarmTarget      int `json:"warmTarget"`
	RefreshInterval int `json:"refreshInterval"`
	MaxInstances    int `json:"maxInstances"`
	ScaleBatchSize  int `json:"scaleBatchSize"`
}

func (p *pool) stats() poolStats {
	assigned := len(p.ids())
	p.mu.Lock()
	defer p.mu.Unlock()
	stats := poolStats{
		Warm: len(p.warm), Assigned: assigned, Total: len(p.warm) + assigned,
		Config: poolConfig{WarmTarget: p.target, RefreshInterval: 10000, MaxInstances: p.max, ScaleBatchSize: 5},
	}
	if p.max > 0 {
		limit := p.max
		stats.MaxInstances = &limit
	}
	return stats
}

// close ends every container and waits until all are gone.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.starting.Wait()
	p.mu.Lock()
	alive := make([]*container, 0, len(p.alive))
	for c := range p.alive {
		alive = append(alive, c)
	}
	p.mu.Unlock()
	var gone sync.WaitGroup
	for _, c := range alive {
		gone.Go(func() {
			c.kill()
			c.state.close()
		})
	}
	gone.Wait()
}
