package bridge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// Codes of the bridge's errors (BRIDGE.md, "Errors") that something depends on.
const (
	codeCapacityExceeded = "capacity_exceeded"
	codePoolError        = "pool_error"
	codeUnauthorized     = "unauthorized"
	codeTunnelError      = "tunnel_error"
	codeMountError       = "mount_error"
	codeUnmountError     = "unmount_error"
)

const (
	// maxErrorBody is how much of an error's body is looked at.
	maxErrorBody = 64 << 10
	// maxErrorMessage is how much of it is shown.
	maxErrorMessage = 600
)

// Error is a request that did not get its answer: the bridge refused, something in front of it did, or nobody answered.
type Error struct {
	// Method and Path of the request; the path holds no secret.
	Method, Path string
	// Status is the HTTP status, 0 where there was no answer.
	Status int
	// Code and Message as the bridge gave them, or a message of our own. Bounded, without secrets, one line.
	Code, Message string
	// Summary is a short headline.
	Summary string
	// NextStep says what to do; empty where nothing in particular helps.
	NextStep string
	// Err is the cause where there was no answer.
	Err error

	// text is all of what the bridge said, without secrets.
	text string
	// afterAnswer says that the answer had begun well, so that the request has had its effect, or a part of it.
	afterAnswer bool
}

// Error tells what was tried, what came back and what to do next.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", e.Method, e.Path)
	switch {
	case e.Status == 0 && e.afterAnswer:
		b.WriteString(" got a part of an answer")
	case e.Status == 0:
		b.WriteString(" got no answer")
	case e.Code != "":
		fmt.Fprintf(&b, " was answered %d (%s)", e.Status, e.Code)
	default:
		fmt.Fprintf(&b, " was answered %d", e.Status)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if e.NextStep != "" {
		fmt.Fprintf(&b, ". %s", e.NextStep)
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// IsAsleep tells whether the error proves that the sandbox has no container now: only for an id without one does the
// bridge answer that its instance limit is reached (BRIDGE.md, "Routes").
func IsAsleep(err error) bool { return hasCode(err, codeCapacityExceeded) }

// IsUnauthorized tells whether the bridge did not accept the key.
func IsUnauthorized(err error) bool {
	var e *Error
	return hasCode(err, codeUnauthorized) || (errors.As(err, &e) && e.Status == http.StatusUnauthorized)
}

func hasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

type errorAnswer struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

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
		e.text = c.redact(answer.Error, r.secrets)
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
		e.Summary, e.NextStep = "The time for the operation is up", "If it needs longer, raise its timeout."
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

// readable makes text from outside fit for an error: one line, bounded, and without the secrets this client knows.
func (c *Client) readable(text string) string { return oneLine(c.redact(text, nil)) }

// redact takes the secrets that this client knows, and those of one request, out of a text: as they are, and as they
// stand in JSON, in a URL and in base64.
func (c *Client) redact(text string, ofRequest []string) string {
	secrets := append([]string{c.config.Key}, ofRequest...)
	for _, value := range c.config.Headers {
		secrets = append(secrets, value)
	}
	var forms []string
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		quoted, _ := json.Marshal(secret) // never fails
		forms = append(
			forms, secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret),
			base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		)
	}
	// The longest first: one may be a part of another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, "***")
	}
	return text
}

// oneLine folds white space, drops what a terminal would obey, and bounds the length.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxErrorMessage {
		text = string(runes[:maxErrorMessage]) + "…"
	}
	return text
}

func isJSON(resp *http.Response) bool {
	mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && mediaType == "application/json"
}

func isHTML(resp *http.Response, body []byte) bool {
	if mediaType, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && mediaType == "text/html" {
		return true
	}
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(string(body))), "<!doctype html")
}

var titlePattern = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

func titleOf(body []byte) string {
	match := titlePattern.FindSubmatch(body)
	if match == nil {
		return ""
	}
	return fmt.Sprintf(" titled %q", oneLine(html.UnescapeString(string(match[1]))))
}
