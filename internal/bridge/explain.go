package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"
)

// Next steps that more than one error has.
const (
	stepKey = "Check api_key (or CLOUDFLARE_SANDBOX_API_KEY): it must be the SANDBOX_API_KEY secret " +
		"that the bridge was deployed with."
	stepInFront = "Something in front of the bridge answered, not the bridge itself. " +
		"If Cloudflare Access guards it, set headers to a service token (CF-Access-Client-Id and CF-Access-Client-Secret)."
	stepURL = "Check api_url (or CLOUDFLARE_SANDBOX_API_URL): it must be the address of a deployed sandbox bridge."
	stepCap = "Every container that the bridge may start is in use. Destroy sandboxes that are no longer needed, " +
		"or deploy the bridge with a higher max_instances."
	stepAgain = "This is often passing: run Terraform again. If it stays, look at the bridge's logs (wrangler tail)."
)

// responseError makes the error of an answer that is not 2xx.
func (c *Client) responseError(r request, resp *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	e := &Error{Method: r.method, Path: r.path, Status: resp.StatusCode}
	var answer errorAnswer
	fromBridge := json.Unmarshal(body, &answer) == nil && answer.Error != ""
	switch {
	case fromBridge:
		e.raw, e.text = answer.Error, c.redact(answer.Error, r.secrets)
		e.Code, e.Message = oneLine(answer.Code), oneLine(e.text)
	case isHTML(resp, body):
		e.Message = oneLine(c.redact("an HTML page"+titleOf(body), r.secrets))
	default:
		e.Message = oneLine(c.redact(string(body), r.secrets))
	}
	e.Summary, e.NextStep = explain(resp, e.Code, fromBridge)
	if location := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && location != "" {
		e.Message = "a redirect"
		// Only the host: a login page's address carries tokens.
		if u, err := url.Parse(location); err == nil && u.Host != "" {
			e.Message = c.readable("a redirect to " + u.Host)
		}
	}
	return e
}

// explain gives the headline and the next step for a status and code.
func explain(resp *http.Response, code string, fromBridge bool) (summary, next string) {
	switch status := resp.StatusCode; {
	case code == codeCapacityExceeded:
		return "The bridge has reached its instance limit", stepCap
	case status == http.StatusUnauthorized && fromBridge:
		return "The bridge did not accept the API key", stepKey
	case status == http.StatusForbidden && fromBridge:
		return "The path is outside /workspace", "The bridge serves only files and directories below /workspace."
	case status/100 == 3:
		return "The bridge's address redirects elsewhere", stepInFront + " " + stepURL
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "Access to the bridge was denied on the way", stepInFront
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		return "There is no sandbox bridge at this address", stepURL
	case status == http.StatusTooManyRequests:
		next = "Lower Terraform's -parallelism, or run it again later."
		if asked, ok := retryAfter(resp); ok && asked > 0 {
			next = fmt.Sprintf("Lower Terraform's -parallelism, or run it again in %s.", asked.Round(time.Second))
		}
		return "The bridge is asked too often", next
	case status == http.StatusRequestEntityTooLarge:
		return "A request was too large", ""
	case status >= 520 && status <= 530:
		return "Cloudflare's edge could not reach the bridge", stepAgain
	case status >= 500:
		return "The bridge failed", stepAgain
	default:
		return "The bridge refused a request", ""
	}
}

// transportError makes the error of a request that got no answer, or half of one.
func (c *Client) transportError(r request, err error) *Error {
	e := &Error{Method: r.method, Path: r.path, Err: err, Summary: "The bridge does not answer", Message: c.readable(plainCause(err))}
	var (
		dns *net.DNSError
		own *Error
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, context.Canceled):
		e.Summary = "The operation was cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		e.Summary, e.NextStep = "The time for the operation is up", "If it needs longer, raise its timeout where it has one."
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Summary, e.NextStep = "The bridge's host does not exist", stepURL
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Summary, e.NextStep = "Nothing listens at the bridge's address", stepURL
	case !transportMayRecover(err):
		e.Summary, e.NextStep = "The bridge's certificate or protocol cannot be accepted", stepURL
	default:
		e.NextStep = stepAgain
	}
	return e
}

// incomplete makes the error of an answer that makes no whole, although its end looked like one.
func (c *Client) incomplete(r request, cause error) *Error {
	return &Error{
		Method: r.method, Path: r.path, Err: cause, Message: c.readable(cause.Error()),
		Summary: "The bridge's answers are incomplete or garbled", NextStep: stepAgain, afterAnswer: true,
	}
}

// notABridge makes the error of a successful answer that no bridge gives.
func (c *Client) notABridge(r request, resp *http.Response, body []byte) *Error {
	message := "not the answer of a sandbox bridge"
	if isHTML(resp, body) {
		message += ", but an HTML page" + titleOf(body)
	}
	e := strangeAnswer(r, oneLine(c.redact(message, r.secrets)))
	e.Status = resp.StatusCode
	return e
}

// strangeAnswer makes the error of an answer in whose JSON is not what a bridge sends.
func strangeAnswer(r request, message string) *Error {
	return &Error{
		Method: r.method, Path: r.path, Status: http.StatusOK, Message: message,
		Summary: "What answers is not a sandbox bridge", NextStep: stepURL,
	}
}

// plainCause leaves out what net/http puts around the cause: the whole URL, which the error names already.
func plainCause(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err.Error()
	}
	return err.Error()
}
