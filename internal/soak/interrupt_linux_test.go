package soak_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Whenever Terraform is interrupted, it leaves no command at work and nothing
// staged, its state knows every container, and the next apply converges.
func TestInterruptsLeaveNothingBehind(t *testing.T) {
	t.Parallel()

	for seed := range seeds(t) {
		t.Run(seedName(seed), func(t *testing.T) { newInterrupts(t, seed, 1).rounds() })
	}
}

// The second interrupt makes Terraform leave at once. It may then lose what it
// has not stored yet, so that a container without a sandbox in the state sleeps
// away, something that was on its way into a sandbox lies there for an hour, and a
// mount has to be taken down by hand; but what the state has is true, and the next
// apply converges.
func TestSecondInterruptLeavesAStateThatConverges(t *testing.T) {
	t.Parallel()

	for seed := range seeds(t) {
		t.Run(seedName(seed), func(t *testing.T) { newInterrupts(t, seed, 2).rounds() })
	}
}

// interrupts is a fleet whose commands take their time, and which is interrupted
// at moments of a schedule.
type interrupts struct {
	*world

	fleet fleet
	// signals is how often it is interrupted.
	signals int
	random  *rand.Rand

	tried, came int
	// abandoned are the containers that no state knew after a second interrupt.
	abandoned int
	// unmounted are the mounts that no state knew.
	unmounted int
	// left is how much was staged and not removed, after a second interrupt.
	left int
}

// hold is how many seconds commands take that are to be interrupted. After one
// interrupt it is longer than anything may be left behind. After a second one it is
// not, since commands that nobody could end end by themselves, as their timeouts
// would have it.
func (i *interrupts) hold() string {
	if i.signals == 1 {
		return "40"
	}

	return "5"
}

// abandonedAfter is how long such a command may go on.
const abandonedAfter = time.Minute

func newInterrupts(t *testing.T, seed uint64, signals int) *interrupts {
	t.Helper()

	return &interrupts{
		world: newWorld(t), fleet: fleet{sandboxes: 2, files: 2},
		signals: signals, random: rand.New(rand.NewPCG(seed, 2)),
	}
}

func (i *interrupts) rounds() {
	i.t.Helper()

	rounds := 1
	if soaking() {
		rounds = 5
		i.fleet = fleet{sandboxes: 3, files: 3}
	}
	for range rounds {
		i.round()
	}
	i.t.Logf("%d interrupts tried, %d came while Terraform was at work, %d containers were abandoned, %d mounts were taken down, %d staged files were left for later",
		i.tried, i.came, i.abandoned, i.unmounted, i.left)
}

// round interrupts a first apply, a destroy, and, where there is time for it, a
// plan and an apply that changes things between the two, and has Terraform come to
// an end after each.
func (i *interrupts) round() {
	i.t.Helper()

	i.fleet.round++
	i.declare(i.fleet)
	i.interrupt(apply())
	i.converge()

	if soaking() {
		i.interrupt(plan())
		i.fleet.round++
		i.declare(i.fleet)
		i.interrupt(apply())
		i.converge()
	}

	i.interrupt(destroy())
	if soaking() && i.random.IntN(2) == 0 {
		i.converge()
	}
	i.must(destroy())
	i.expectNothing()
}

// converge applies, and checks that all is as declared and stays so.
func (i *interrupts) converge() {
	i.t.Helper()

	i.must(apply())
	i.must(plan())
	i.expectFleet(i.fleet, false)
}

// interrupt runs a command and interrupts it, as Ctrl-C does or only itself, at
// a moment of the schedule.
func (i *interrupts) interrupt(args []string) {
	i.t.Helper()

	// What comes last waits for commands that are held up.
	n, group, gap := 1+i.random.IntN(i.happens(args[0], i.fleet)*4/5), i.random.IntN(2) == 0, 1+i.random.IntN(8)
	variable := "hold"
	if args[0] == "plan" {
		variable = "hold_reads"
	}
	cmd := i.cli.Command(i.t, append(args, "-var="+variable+"="+i.hold())...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output

	// Its first request may be there before it is known which process that is.
	started := make(chan struct{})
	var sent atomic.Int32
	signal := func(string) {
		<-started
		if interruptProcess(cmd.Process, group) == nil {
			sent.Add(1)
		}
	}
	events := []event{{n: n, do: signal}}
	if i.signals == 2 {
		events = append(events, event{n: n + gap, do: signal})
	}

	began := time.Now()
	i.watch.expect(events...)
	err := cmd.Start()
	close(started)
	if err != nil {
		i.t.Fatal(err)
	}
	err = cmd.Wait()
	i.watch.expect()
	took := time.Since(began)
	i.sane(output.String(), err, faulty...)
	if sent.Load() < 2 {
		// After the second one Terraform kills what still has to answer.
		i.sane(output.String(), err, killed...)
	}

	i.tried++
	if sent.Load() > 0 {
		i.came++
	}
	i.t.Logf("%s, interrupted %d times from event %d on, took %s: %v", args[0], sent.Load(), n, took.Round(100*time.Millisecond), err)
	if i.signals == 1 {
		i.expectNothingRemains(quietAfter)
	} else {
		i.expectQuiet(abandonedAfter)
		i.abandoned += i.abandon()
		i.unmounted += i.unmount()
		i.left += i.age()
	}
	if sent.Load() == 0 && err != nil && args[0] != "plan" {
		i.t.Errorf("it failed without an interrupt")
	}
	if i.t.Failed() {
		i.t.Fatalf("%s", output.String())
	}
}

// interruptProcess interrupts a process that has not been waited for yet, alone
// or with those it has started.
func interruptProcess(process *os.Process, group bool) error {
	if !group {
		return process.Signal(syscall.SIGINT)
	}
	// Once it is waited for, its number may be another's.
	if err := process.Signal(syscall.Signal(0)); err != nil {
		return err
	}

	return syscall.Kill(-process.Pid, syscall.SIGINT)
}

// abandon does what their idle limit will do to containers that nobody knows of.
func (i *interrupts) abandon() int {
	i.t.Helper()

	known, count := values(i.state().sandboxes), 0
	for _, id := range i.local.Running() {
		if !slices.Contains(known, id) {
			i.local.Sleep(id)
			count++
		}
	}

	return count
}

// unmount does what a user has to do with mounts that no state knows of: they
// would be somebody else's for the next apply.
func (i *interrupts) unmount() int {
	i.t.Helper()

	state, count := i.state(), 0
	for _, id := range i.local.Running() {
		unknown, err := i.unknownMounts(id, state)
		for _, place := range unknown {
			err = errors.Join(err, i.local.DropMount(id, place))
			count++
		}
		if err != nil {
			i.t.Fatal(err)
		}
	}

	return count
}

// age lets an hour pass over what was on its way into the sandboxes, and tells how
// much that is. Whatever is asked of them next has to remove it.
func (i *interrupts) age() int {
	i.t.Helper()

	count := 0
	for _, id := range i.local.Running() {
		aged, err := i.local.Inside(id, `shopt -s nullglob; for left in /workspace/.cloudflaresandbox/*; do touch -d '61 minutes ago' "$left" && echo aged; done`)
		if err != nil {
			i.t.Fatal(err)
		}
		count += strings.Count(aged, "aged")
	}

	return count
}
