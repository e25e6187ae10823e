package bridge

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// reply reads what a script says on its standard output (scripts/prelude.sh):
//
//	NONCE begin INSTANCE
//	payload lines of base64, with empty lines between them as signs of life
//	NONCE end STATUS NUMBER...
//
// Only what stands between the two lines with its own nonce counts, and only the last of them proves that the script
// came to its end. It is fed piece by piece, since an event of the stream may end anywhere.
//
// Code in the sandbox may be able to write into the stream, or to stand in for the script: whatever arrives, it costs no
// more than the limit.
type reply struct {
	nonce string
	// limit bounds the payload in bytes of base64; a sandbox that sends more is not answering what was asked.
	limit int

	// begun, if set, is called once the first line has arrived: the container is there.
	begun func(instance string)
	// heartbeat, if set, is called at every empty line after it.
	heartbeat func()

	line     []byte
	instance string
	payload  [][]byte
	held     int
	passed   int
	ended    bool
	status   int
	numbers  []int64
}

// maxPassed bounds what is passed over: lines before the first, which are few, and signs of life, of which there is one in
// 10 seconds.
const maxPassed = 1 << 20

// maxNumbers is how many numbers a script may end with: that of a command has two for its end, and two for each line.
const maxNumbers = 2 + 2*maxPayload

// maxPayload is how many lines of payload a script may send: that of a command has one for each stream, and its reply.
const maxPayload = 3

var (
	errReplyTooLarge = errors.New("the sandbox sent more than was asked for")
	errReplyGarbled  = errors.New("the sandbox's answer is garbled")
)

// feed takes the next piece of the stream.
func (r *reply) feed(data []byte) error {
	for len(data) > 0 && !r.ended {
		line, rest, complete := bytes.Cut(data, []byte("\n"))
		if n := len(r.line) + len(line); r.held+n > r.limit || r.instance == "" && n > maxPassed {
			return errReplyTooLarge
		}
		r.line = append(r.line, line...)
		if !complete {
			return nil
		}
		data = rest
		whole := r.line
		r.line = nil
		if err := r.take(whole); err != nil {
			return err
		}
	}
	return nil
}

func (r *reply) take(line []byte) error {
	var words string
	rest, ours := bytes.CutPrefix(line, []byte(r.nonce+" "))
	if ours {
		words = string(rest)
	}
	switch {
	case ours && strings.HasPrefix(words, "begin ") && r.instance == "":
		instance := strings.TrimPrefix(words, "begin ")
		if !isNonce(instance) {
			return errReplyGarbled
		}
		r.instance = instance
		if r.begun != nil {
			r.begun(instance)
		}
		return nil
	case ours && strings.HasPrefix(words, "end "):
		return r.end(strings.TrimPrefix(words, "end "))
	case r.instance == "":
		// What the image itself prints before a script starts.
		return r.pass(len(line) + 1)
	case len(line) == 0:
		if r.heartbeat != nil {
			r.heartbeat()
		}
		return r.pass(1)
	case ours, len(r.payload) == maxPayload:
		return errReplyGarbled
	default:
		r.payload = append(r.payload, line)
		r.held += len(line)
		return nil
	}
}

// pass counts what is passed over.
func (r *reply) pass(n int) error {
	if r.passed += n; r.passed > maxPassed {
		return errReplyTooLarge
	}
	return nil
}

func (r *reply) end(words string) error {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return errReplyGarbled
	}
	for i, word := range fields {
		number, err := strconv.ParseInt(word, 10, 64)
		if err != nil || number < 0 {
			return errReplyGarbled
		}
		if i == 0 {
			if number > 255 {
				return errReplyGarbled
			}
			r.status = int(number)
		} else if i > maxNumbers {
			return errReplyGarbled
		} else {
			r.numbers = append(r.numbers, number)
		}
	}
	r.ended = true
	return nil
}

// answer gives the payload of a script that ends with "answer": one line, whose length it says.
func (r *reply) answer() ([]byte, error) {
	if len(r.numbers) != 1 || len(r.payload) > 1 {
		return nil, errReplyGarbled
	}
	var line []byte
	if len(r.payload) == 1 {
		line = r.payload[0]
	}
	if int64(len(line)) != r.numbers[0] {
		return nil, fmt.Errorf("%w: %d characters instead of %d", errReplyGarbled, len(line), r.numbers[0])
	}
	return decodeLine(line)
}

func decodeLine(line []byte) ([]byte, error) {
	decoded := make([]byte, base64.StdEncoding.DecodedLen(len(line)))
	n, err := base64.StdEncoding.Strict().Decode(decoded, line)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errReplyGarbled, err)
	}
	return decoded[:n], nil
}

// nonceLength is the number of hex digits of a nonce and of an instance.
const nonceLength = 32

// isNonce tells whether s has the form of a nonce.
func isNonce(s string) bool {
	return len(s) == nonceLength && strings.Trim(s, "0123456789abcdef") == ""
}
