package localbridge

import (
	"context"
	"slices"
)

// The pool can keep containers waiting, so that the first request of an id need
// not wait for its own (OBSERVED.md, l). It fills up when it is primed, and not
// again by itself.

// prime starts what is missing of the target and does not wait for it.
func (p *pool) prime() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	missing := p.target - len(p.warm) - p.warming
	if p.max > 0 {
		missing = min(missing, p.max-len(p.assigned)-len(p.warm)-p.warming)
	}
	for range missing {
		p.warming++
		p.starting.Add(1)
		go p.warmUp()
	}
}

func (p *pool) warmUp() {
	defer p.starting.Done()
	c, err := p.start(context.Background())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.warming--
	if err != nil {
		return
	}
	p.alive[c] = true
	p.started++
	p.warm = append(p.warm, c)
	go p.forget(c)
}

// takeWarm gives a waiting container to an id, if there is one. p.mu is held.
func (p *pool) takeWarm(id string) *container {
	for len(p.warm) > 0 {
		c := p.warm[0]
		p.warm = p.warm[1:]
		if c.running() {
			p.assign(id, c)
			return c
		}
	}
	return nil
}

// shutdownWarm ends the waiting containers.
func (p *pool) shutdownWarm() {
	p.mu.Lock()
	warm := slices.Clone(p.warm)
	p.warm = nil
	p.mu.Unlock()
	for _, c := range warm {
		c.kill()
	}
}
