package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
)

// maxJSONAnswer bounds what is read of an answer that should be a few hundred bytes.
const maxJSONAnswer = 1 << 20

// errPartialJSON is the cause when JSON was announced and did not come whole.
var errPartialJSON = errors.New("it ended in the middle")

// doJSON sends a request and decodes its JSON answer into out. One of which only a part comes is asked for again, unless
// the request must not be repeated.
func (c *Client) doJSON(ctx context.Context, r request, out any) error {
	for n := 1; ; n++ {
		err := c.doJSONOnce(ctx, r, out)
		var partial *Error
		if !errors.As(err, &partial) || !partial.afterAnswer || ctx.Value(onceKey{}) != nil || n > c.config.RetryMax {
			return err
		}
		if c.wait(ctx, n) != nil {
			return err
		}
	}
}

func (c *Client) doJSONOnce(ctx context.Context, r request, out any) error {
	resp, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxJSONAnswer))
	if err != nil {
		broken := c.transportError(r, err)
		broken.afterAnswer = true
		return broken
	}
	if resp.StatusCode == r.alsoStatus {
		// The route's own answer, or an error that has the same status.
		var refused errorAnswer
		if json.Unmarshal(data, &refused) != nil || refused.Error != "" {
			resp.Body = io.NopCloser(bytes.NewReader(data))
			return c.responseError(r, resp)
		}
	}
	err = json.Unmarshal(data, out)
	switch {
	case err == nil:
		return nil
	case isJSON(resp):
		return c.incomplete(r, errPartialJSON)
	default:
		return c.notABridge(r, resp, data)
	}
}

// doOK sends a request whose answer is {"ok":true}.
func (c *Client) doOK(ctx context.Context, r request) error {
	var answer struct {
		OK bool `json:"ok"`
	}
	if err := c.doJSON(ctx, r, &answer); err != nil {
		return err
	}
	if !answer.OK {
		return strangeAnswer(r, "the answer does not say that it was done")
	}
	return nil
}

// doNoContent sends a request whose answer is a 204.
func (c *Client) doNoContent(ctx context.Context, r request) error {
	resp, err := c.do(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		return c.notABridge(r, resp, body)
	}
	return nil
}

func isJSON(resp *http.Response) bool {
	mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}
