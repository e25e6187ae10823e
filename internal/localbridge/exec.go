package localbridge

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// rpcLimit is the largest value that the Worker and the container exchange:
// a command's whole output, or an upload (BRIDGE.md, exec and Files).
const rpcLimit = 32 << 20

// execOverhead is what a result takes besides output and command line
// (OBSERVED.md, d: 33554432 bytes of `head -c 33554432 /dev/zero` make 33554587).
const execOverhead = 129

// exec answers POST /v1/sandbox/:id/exec with a stream of events.
func (b *Bridge) exec(w http.ResponseWriter, r *request) {
	var body any
	decoder := json.NewDecoder(r.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil || decoder.More() {
		sendInvalid(w, "Invalid JSON body")
		return
	}
	if body == nil {
		sendCrash(w)
		return
	}
	fields, _ := body.(map[string]any)
	argv, _ := fields["argv"].([]any)
	if len(argv) == 0 {
		sendInvalid(w, "argv must be a non-empty array")
		return
	}
	if !validSessionHeader(r) {
		sendInvalid(w, "Invalid session ID format")
		return
	}
	line, ok := commandLine(argv)
	if !ok {
		sendCrash(w)
		return
	}
	command := agentExec{Command: line, Cwd: workspace}
	if number, isNumber := fields["timeout_ms"].(json.Number); isNumber {
		command.Timeout, command.Notice = timeLimit(number)
	}
	if cwd, isString := fields["cwd"].(string); isString {
		if command.Cwd, ok = inWorkspace(cwd); !ok {
			sendError(w, http.StatusForbidden, codeInvalid, "cwd must resolve to a location within /workspace")
			return
		}
	}
	b.logCommand(r.id, command.Command)
	events := newEventStream(w)
	if r.broken {
		events.fail("exec failed: " + interrupted("commands.executeStream"))
		return
	}
	streamCommand(r, command, events)
}

// streamCommand runs the command and turns its frames into events.
func streamCommand(r *request, command agentExec, events *eventStream) {
	if command.Command == "" {
		events.fail("exec failed: Command execution failed")
		return
	}
	stream, err := r.container.exec(r.operation(), command)
	if err != nil {
		var refused *agentError
		if errors.As(err, &refused) {
			events.fail("exec failed: Command execution failed")
		} else {
			events.fail("exec failed: " + interrupted("commands.executeStream"))
		}
		return
	}
	defer stream.Close()
	text := map[frameKind]*lossyDecoder{frameStdout: {}, frameStderr: {}}
	names := map[frameKind]string{frameStdout: "stdout", frameStderr: "stderr"}
	total := execOverhead + len(command.Command)
	send := func(kind frameKind, data []byte) {
		if len(data) > 0 {
			total += len(data)
			events.send(names[kind], base64.StdEncoding.EncodeToString(data))
		}
	}
	for {
		kind, data, err := readFrame(stream)
		switch {
		case err != nil:
			events.fail(cutExec)
			return
		case kind != frameExit:
			send(kind, text[kind].decode(data))
			continue
		}
		send(frameStdout, text[frameStdout].finish())
		send(frameStderr, text[frameStderr].finish())
		if total > rpcLimit {
			events.fail("exec failed: " + tooLargeForRPC(total))
			return
		}
		events.send("exit", fmt.Sprintf(`{"exit_code":%d}`, exitCode(data)))
		return
	}
}

func tooLargeForRPC(size int) string {
	return fmt.Sprintf("Serialized RPC arguments or return values are limited to 32MiB, "+
		"but the size of this value was: %d bytes.", size)
}

func exitCode(frame []byte) int {
	if len(frame) != 4 {
		return -1
	}
	return int(int32(binary.BigEndian.Uint32(frame)))
}

// commandLine joins argv as the Worker does: what is no string by its text,
// null as nothing at all. ok is false for what makes it fall over: a text that
// would need quotes (OBSERVED.md, d: non-string argv elements).
func commandLine(argv []any) (line string, ok bool) {
	words := make([]string, len(argv))
	for i, element := range argv {
		switch value := element.(type) {
		case string:
			words[i] = quoteWord(value)
		case nil:
		default:
			words[i] = jsText(value)
			if !isHarmless(words[i]) {
				return "", false
			}
		}
	}
	return strings.Join(words, " "), true
}

// jsText is a JSON value as JavaScript's String makes it.
func jsText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		number, _ := value.Float64()
		return jsNumber(number)
	case bool:
		return strconv.FormatBool(value)
	case []any:
		parts := make([]string, len(value))
		for i, part := range value {
			parts[i] = jsText(part)
		}
		return strings.Join(parts, ",")
	case nil:
		return "" // as an array's element
	default:
		return "[object Object]"
	}
}

// timeLimit reads timeout_ms. A timer of JavaScript fires at once for
// anything below 1 and above 2^31-1 (BRIDGE.md, exec).
func timeLimit(number json.Number) (*time.Duration, string) {
	ms, _ := number.Float64()
	limit := time.Duration(ms * float64(time.Millisecond))
	if !(ms >= 1 && ms <= math.MaxInt32) {
		limit = time.Millisecond
	}
	return &limit, fmt.Sprintf("Command timed out after %sms\n", jsNumber(ms))
}

// jsNumber writes a number as JavaScript does.
func jsNumber(n float64) string {
	if n == 0 {
		return "0"
	}
	if size := math.Abs(n); size >= 1e-6 && size < 1e21 {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	text := strconv.FormatFloat(n, 'e', -1, 64)
	return strings.NewReplacer("e-0", "e-", "e+0", "e+").Replace(text)
}
