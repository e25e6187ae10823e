package bridge

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge/scripts"
)

// graceTime is what the end of a command may take beyond its timeout: 5 seconds until SIGKILL, the transfer of its
// output, and connections that have to be made again.
const graceTime = time.Minute

// Run runs a command and returns its result. It is started once, whatever happens to connections; a lost one is taken
// up again where the command is. A result, with any exit code, is proven by the sandbox.
//
// Errors: [*TimeoutError], [*OutputLimitError], [*RecycledError] and [*StartError] (it was not started),
// [*UnknownOutcomeError] (it may have run), [*Error] (the bridge refused before anything was started). When the context
// ends, the command is ended in the sandbox.
func (s *Sandbox) Run(ctx context.Context, command Command) (*Result, error) {
	if err := command.validate(); err != nil {
		return nil, err
	}
	instance, err := s.reach(ctx)
	if err != nil {
		return nil, err
	}
	if command.Instance == "" {
		command.Instance = s.firstInstance()
	}
	if command.Instance != instance {
		return nil, &RecycledError{ID: s.id, Expected: command.Instance, Actual: instance}
	}
	r := newRun(s, command, instance)
	if err := r.stage(ctx); err != nil {
		return nil, err
	}
	follow := ctx
	if command.Timeout > 0 {
		// The sandbox keeps the time. This is for one that does not.
		var cancel context.CancelFunc
		follow, cancel = context.WithTimeout(ctx, command.Timeout+s.grace)
		defer cancel()
	}
	result, err := r.follow(follow)
	if err != nil {
		if r.staged {
			s.discard(ctx, r.nonce)
		}
		return nil, err
	}
	s.finish(r.nonce)
	return r.judge(result)
}

// run is one command on its way.
type run struct {
	sandbox  *Sandbox
	command  Command
	instance string
	nonce    string
	// limit bounds each output stream.
	limit int64
	// fields is what the script is given, in its order: environment, arguments, script, input.
	fields []string
	staged bool
}

// maxInline is how much of a command may travel in the request itself. The bridge's own limit is 128 KiB after its
// quoting, which can make four characters of one (BRIDGE.md, "exec").
const maxInline = 24 << 10

func newRun(s *Sandbox, command Command, instance string) *run {
	r := &run{sandbox: s, command: command, instance: instance, nonce: newNonce(), limit: command.MaxOutputBytes}
	if r.limit == 0 {
		r.limit = defaultMaxOutput
	}
	if r.command.Dir == "" {
		r.command.Dir = Workspace
	}
	for _, name := range slices.Sorted(maps.Keys(command.Environment)) {
		r.fields = append(r.fields, name+"="+command.Environment[name])
	}
	r.fields = append(r.fields, command.Argv...)
	if command.Script != "" {
		r.fields = append(r.fields, command.Script)
	}
	if command.Stdin != nil {
		r.fields = append(r.fields, *command.Stdin)
	}
	size := 0
	for _, field := range r.fields {
		size += len(field)
	}
	// The container logs every command line, and ps shows it: what may be secret does not stand there.
	r.staged = command.Confidential || command.Script != "" || len(command.Environment) > 0 || command.Stdin != nil || size > maxInline
	return r
}

// stage brings the fields into the sandbox, if they do not travel in the request.
func (r *run) stage(ctx context.Context) error {
	if !r.staged {
		return nil
	}
	var payload bytes.Buffer
	for _, field := range r.fields {
		payload.WriteString(field)
		payload.WriteByte(0)
	}
	size := int64(payload.Len())
	if size > MaxCommandBytes {
		return fmt.Errorf("the arguments, environment, script and input of a command can have %d bytes together, and have %d: "+
			"put what is large into a file in the sandbox", MaxCommandBytes, size)
	}
	err := r.sandbox.put(ctx, stagedPart(r.nonce, 1), bytes.NewReader(payload.Bytes()), 0, size)
	if err != nil {
		r.sandbox.discard(ctx, r.nonce)
	}
	return err
}

func (r *run) arguments() []string {
	flag := func(b bool) string {
		if b {
			return "1"
		}
		return "0"
	}
	args := []string{
		strconv.FormatFloat(r.command.Timeout.Seconds(), 'f', -1, 64), strconv.FormatInt(r.limit, 10), r.command.Dir,
		flag(r.staged), strconv.Itoa(len(r.command.Environment)), strconv.Itoa(len(r.command.Argv)),
		flag(r.command.Script != ""), flag(r.command.Stdin != nil), strconv.FormatInt(r.command.MaxReplyBytes, 10),
	}
	if !r.staged {
		args = append(args, r.fields...)
	}
	return args
}

// errStagedLost says that the right to start was given back, since there was nothing to start.
var errStagedLost = errors.New("what was staged for the command was removed before it started")

// steadyAfter is how long a connection must have held to count as a good one.
const steadyAfter = 3 * time.Second

// follow starts the command, or takes up where it is, until its end is proven. Connections may be lost as often as they
// like as long as each holds for a while and brings a sign of life; else it gives up after the usual number of retries.
func (r *run) follow(ctx context.Context) (*outcome, error) {
	c := call{
		program: scripts.Run, args: r.arguments(), nonce: r.nonce, expected: r.instance, changes: true, needsContainer: true,
		heartbeat: r.command.Heartbeat,
		limit:     2*base64.StdEncoding.EncodedLen(int(r.limit)) + base64.StdEncoding.EncodedLen(int(r.command.MaxReplyBytes)) + maxAnswer,
	}
	mayRun := false
	for failures := 1; ; failures++ {
		heard, began := r.sandbox.lastHeard(), time.Now()
		watched, effect := watchEffect(ctx)
		reply, err := r.sandbox.attempt(watched, c)
		var result *outcome
		if err == nil {
			result, err = r.read(reply)
		}
		if err == nil {
			return result, nil
		}
		var start *StartError
		if errors.As(err, &start) {
			return nil, start
		}
		unclear := effect.Load() || isUnproven(err)
		mayRun = mayRun || unclear
		held := time.Since(began) >= steadyAfter
		if held && r.sandbox.lastHeard().After(heard) && !isVerdict(err) {
			failures = 1
		}
		if errors.Is(err, errStagedLost) && failures <= r.sandbox.client.config.RetryMax {
			if err := r.stage(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if unclear && failures <= r.sandbox.client.config.RetryMax {
			if r.sandbox.client.wait(ctx, failures) == nil {
				continue
			}
		}
		if !mayRun {
			return nil, err
		}
		r.cancel(ctx)
		return nil, &UnknownOutcomeError{Err: err}
	}
}

// isVerdict tells an answer that came whole, and that the next one may just repeat, from a connection that was lost.
func isVerdict(err error) bool {
	return errors.Is(err, errStagedLost) || errors.Is(err, errReplyGarbled) || errors.Is(err, errReplyTooLarge)
}

// outcome is what the script says of a command that has ended.
type outcome struct {
	result   *Result
	timedOut bool
}

// read checks and decodes a reply.
func (r *run) read(reply *reply) (*outcome, error) {
	switch reply.status {
	case 0:
	case scripts.StatusNoDirectory:
		return nil, &StartError{fmt.Sprintf("its working directory %s does not exist or cannot be entered", r.command.Dir)}
	case scripts.StatusNoRunDirectory:
		return nil, &StartError{"there is no room in /tmp for its output; the disk is full or /tmp is not writable"}
	case scripts.StatusNotStaged:
		return nil, errStagedLost
	case scripts.StatusCancelled:
		return nil, &UnknownOutcomeError{Err: errors.New("it was cancelled")}
	case scripts.StatusSupervisorGone:
		return nil, &UnknownOutcomeError{Err: errors.New("the process that watched over it was killed in the sandbox, or its record is gone or found no room")}
	case scripts.StatusResultGone:
		how := "it has ended"
		if len(reply.numbers) == 1 {
			how = fmt.Sprintf("it has ended with exit code %d", reply.numbers[0])
		}
		return nil, &UnknownOutcomeError{Err: errors.New(how + ", but its output is not there: the sandbox's disk is full, " +
			"or it was removed or replaced in the sandbox")}
	default:
		return nil, fmt.Errorf("the sandbox answered with the unknown status %d", reply.status)
	}
	return r.readResult(reply)
}

// sentStream is an output stream as the script tells of it.
type sentStream struct {
	to                *[]byte
	size, sent, limit int64
}

// readResult decodes what came of a command, as far as it agrees with itself.
func (r *run) readResult(reply *reply) (*outcome, error) {
	n := reply.numbers
	replied := len(n) == 8 && r.command.MaxReplyBytes > 0
	if len(n) != 6 && !replied || n[0] > 255 {
		return nil, &unprovenError{errReplyGarbled}
	}
	o := &outcome{result: &Result{ExitCode: int(n[0]), StdoutSize: n[2], StderrSize: n[3]}, timedOut: n[1] != 0}
	streams := []sentStream{{&o.result.Stdout, n[2], n[4], r.limit}, {&o.result.Stderr, n[3], n[5], r.limit}}
	if replied {
		o.result.Reply, o.result.ReplySize = []byte{}, n[6]
		streams = append(streams, sentStream{&o.result.Reply, n[6], n[7], r.command.MaxReplyBytes})
	}
	lines := reply.payload
	for _, stream := range streams {
		if stream.sent > stream.limit || stream.size <= stream.limit && stream.size != stream.sent {
			return nil, &unprovenError{errReplyGarbled}
		}
		if stream.sent == 0 {
			continue
		}
		if len(lines) == 0 {
			return nil, &unprovenError{errReplyGarbled}
		}
		data, err := decodeLine(lines[0])
		if err != nil || int64(len(data)) != stream.sent {
			return nil, &unprovenError{errReplyGarbled}
		}
		*stream.to, lines = data, lines[1:]
	}
	return o, nil
}

// judge tells a result from an end that is none.
func (r *run) judge(o *outcome) (*Result, error) {
	switch {
	case o.timedOut:
		return nil, &TimeoutError{Timeout: r.command.Timeout, Result: o.result}
	case o.result.StdoutSize > r.limit:
		return nil, &OutputLimitError{Stream: "stdout", Size: o.result.StdoutSize, Limit: r.limit, Result: o.result}
	case o.result.StderrSize > r.limit:
		return nil, &OutputLimitError{Stream: "stderr", Size: o.result.StderrSize, Limit: r.limit, Result: o.result}
	case o.result.ReplySize > r.command.MaxReplyBytes:
		return nil, &OutputLimitError{Stream: "reply", Size: o.result.ReplySize, Limit: r.command.MaxReplyBytes, Result: o.result}
	default:
		return o.result, nil
	}
}

// cancelLimit bounds the time that ending a command may take, after what asked for it is over.
const cancelLimit = 20 * time.Second

// cancel ends the command in the sandbox if it runs, and prevents a later start.
func (r *run) cancel(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelLimit)
	defer cancel()
	_, err := r.sandbox.call(ctx, call{
		what: "ending a command", program: scripts.Cancel, args: []string{r.nonce}, expected: r.instance, changes: true,
	})
	if err != nil {
		r.sandbox.client.log(ctx, "the command could not be ended in the sandbox", map[string]any{"error": err.Error()})
	}
}
