package soak_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// Whatever dies meanwhile, the next undisturbed apply brings everything back,
// and nothing is lost, run twice or left behind.
func TestContainersThatDieAtAnyMomentAreHealed(t *testing.T) {
	t.Parallel()

	for seed := range seeds(t) {
		t.Run(seedName(seed), func(t *testing.T) {
			s := &soak{
				world:   newWorld(t),
				trouble: &trouble{random: rand.New(rand.NewPCG(seed, 1)), befell: map[string]int{}},
				fleet:   fleet{sandboxes: 2, files: 2},
				kills:   3,
			}
			rounds := 2
			if soaking() {
				s.fleet, s.kills, rounds = fleet{sandboxes: 20, files: 6}, 20, 5
			}
			s.trouble.local = s.local
			for range rounds {
				s.round()
			}
			s.destroy()
			t.Logf("%d rounds with %d objects in %d sandboxes, %d containers started: %v",
				rounds, s.fleet.objects(), s.fleet.sandboxes, s.local.ContainersStarted(), s.trouble.befell)
		})
	}
}

// soak is a fleet and what befalls it.
type soak struct {
	*world

	trouble *trouble
	fleet   fleet
	// kills is how many events there are in a run.
	kills int
}

// round changes what is declared, applies that while containers die, heals it,
// and checks it. Where there is time for it, every second time a plan is disturbed,
// too, and every third all is destroyed.
func (s *soak) round() {
	s.t.Helper()

	s.fleet.round++
	s.declare(s.fleet)
	s.disturb(apply())
	if soaking() && s.fleet.round%2 == 0 {
		s.disturb(plan())
	}
	s.must(apply())
	s.must(plan())
	s.expectFleet(s.fleet, true)
	if s.fleet.round%3 == 0 {
		s.destroy()
	}
}

func (s *soak) destroy() {
	s.t.Helper()

	s.disturb(destroy())
	s.must(destroy())
	s.expectNothing()
}

// disturb runs a command while containers die.
func (s *soak) disturb(args []string) {
	s.t.Helper()

	s.watch.expect(s.trouble.schedule(s.happens(args[0], s.fleet), s.kills)...)
	output, err := s.cli.Try(s.t, args...)
	s.counts[args[0]] = s.watch.counted()
	s.sane(output, err, slices.Concat(faulty, killed)...)
	s.expectNothingRemains(quietAfter)
}

// trouble makes schedules of what befalls containers.
type trouble struct {
	local  *localbridge.Bridge
	random *rand.Rand

	mu     sync.Mutex
	befell map[string]int
}

// schedule spreads n events over what happens in a run.
func (o *trouble) schedule(happens, n int) []event {
	events := make([]event, 0, n)
	for range n {
		kind, which, errors := o.random.IntN(10), o.random.IntN(1<<20), 1+o.random.IntN(3)
		events = append(events, event{n: 1 + o.random.IntN(max(happens, 1)), do: func(id string) {
			o.befall(kind, which, errors, id)
		}})
	}

	return events
}

// befall does one of them: to the sandbox that the moment belongs to, or to any.
func (o *trouble) befall(kind, which, errors int, id string) {
	running := o.local.Running()
	if len(running) == 0 {
		return
	}
	name := "killed any"
	switch {
	case kind == 0:
		name = "all put to sleep"
		o.local.SleepAll()
	case kind <= 2:
		o.local.Kill(running[which%len(running)])
	case id == "":
		return
	case kind <= 5:
		name = "killed, with errors after it"
		// As after a crash: for a moment nothing works.
		o.local.FailNext(id, errors)
		o.local.Kill(id)
	default:
		name = "killed in the middle"
		o.local.Kill(id)
	}

	o.mu.Lock()
	defer o.mu.Unlock()
	o.befell[name]++
}
