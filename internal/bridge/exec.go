package bridge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/tmaxmax/go-sse"
)

// maxEventSize bounds one event of an exec's stream. The bridge sends output in pieces of some 100 KiB (measured: 240
// KiB of base64 at most); the room above is for a bridge that gathers more before it sends.
const maxEventSize = 8 << 20

// outputFunc takes a piece of a stream; its error ends the exec.
type outputFunc func(data []byte) error

// exec runs argv in the sandbox and hands on what it prints. It does not tell how the command ended: the bridge's own
// word for that cannot be trusted (BRIDGE.md, "exec"), so callers let the command prove it in its output.
//
// An error says that the stream broke or that the bridge reported one; the command may run on in either case.
func (c *Client) exec(ctx context.Context, id string, argv []string, stdout, stderr outputFunc) error {
	body, err := json.Marshal(map[string]any{"argv": argv})
	if err != nil {
		return err
	}
	r := request{method: http.MethodPost, path: sandboxPath(id) + "/exec", body: body, accept: "text/event-stream"}
	resp, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mediaType != "text/event-stream" {
		start, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return c.notABridge(r, resp, start)
	}
	for event, err := range sse.Read(resp.Body, &sse.ReadConfig{MaxEventSize: maxEventSize}) {
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			broken := c.transportError(r, err)
			broken.afterAnswer = true
			return broken
		}
		switch event.Type {
		case "stdout":
			err = handOn(event.Data, stdout)
		case "stderr":
			err = handOn(event.Data, stderr)
		case "exit":
			return nil
		case "error":
			return c.execEventError(r, event.Data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func handOn(data string, to outputFunc) error {
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return errors.New("an output event of the bridge is not base64")
	}
	return to(decoded)
}

// execEventError makes the error of an "error" event, which comes with status 200.
func (c *Client) execEventError(r request, data string) *Error {
	var answer errorAnswer
	if json.Unmarshal([]byte(data), &answer) != nil {
		answer.Error = data
	}
	return &Error{
		Method: r.method, Path: r.path, Status: http.StatusOK, Code: oneLine(answer.Code), Message: c.readable(answer.Error),
		Summary: "The bridge could not run a command in the sandbox", NextStep: stepAgain,
		afterAnswer: true,
	}
}
