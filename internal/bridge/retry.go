package bridge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// newRetryingClient makes the HTTP client: HTTP/2 where the bridge has it, proxies from the environment, no redirects.
func newRetryingClient(config Config) *retryablehttp.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	// Terraform works on 10 objects at a time by default, and many at one sandbox; each shall find its connection open.
	transport.MaxIdleConnsPerHost = 64
	// An event stream that something on the way compresses would arrive in lumps.
	transport.DisableCompression = true
	if config.Dial != nil {
		transport.DialContext = config.Dial
	}
	client := retryablehttp.NewClient()
	client.HTTPClient = &http.Client{
		Transport: &silenceTransport{next: transport, limit: config.SilenceLimit},
		// A bridge does not redirect; what does is a login page, and it shall not see the key.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	client.Logger = nil
	client.RetryMax = config.RetryMax
	client.RetryWaitMin = config.RetryWaitMin
	client.RetryWaitMax = config.RetryWaitMax
	client.CheckRetry = shouldRetry
	client.Backoff = func(low, high time.Duration, attempt int, resp *http.Response) time.Duration {
		return backoff(low, high, attempt+1, resp)
	}
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	return client
}

type answerKey struct{}

// takeForAnswer marks a context whose requests take an answer that would be worth a retry for what they came for.
func takeForAnswer(ctx context.Context, isAnswer func(*http.Response) bool) context.Context {
	return context.WithValue(ctx, answerKey{}, isAnswer)
}

// isCapacityExceeded recognises the answer that the bridge's instance limit is reached.
func isCapacityExceeded(resp *http.Response) bool {
	return resp.StatusCode == http.StatusServiceUnavailable && peekCode(resp) == codeCapacityExceeded
}

type onceKey struct{}

// atMostOnce marks a context whose requests are not repeated unless the sandbox has certainly not seen them.
func atMostOnce(ctx context.Context) context.Context {
	return context.WithValue(ctx, onceKey{}, true)
}

// shouldRetry decides by what the answer proves. Almost every request of this package may be repeated: minting an id
// stores nothing, files go to names of their own, and the scripts carry a nonce that makes a second start follow the
// first. So what is left to decide is whether a repetition can help. The others go through atMostOnce.
func shouldRetry(ctx context.Context, resp *http.Response, err error) (bool, error) {
	ended := ctx.Err() != nil
	isAnswer, ok := ctx.Value(answerKey{}).(func(*http.Response) bool)
	answered := ok && err == nil && isAnswer(resp)
	if effect, ok := ctx.Value(effectKey{}).(*atomic.Bool); ok {
		// Nobody is going to read an answer that came when the context had ended already.
		unread := ended && err == nil && resp.StatusCode < 300
		if unread || !answered && mayHaveHadEffect(resp, err) {
			effect.Store(true)
		}
	}
	if ended {
		return false, context.Cause(ctx)
	}
	noteFailure(ctx, resp, err)
	if ctx.Value(onceKey{}) != nil && mayHaveHadEffect(resp, err) {
		return false, nil
	}
	if err != nil {
		return transportMayRecover(err), nil
	}
	if answered {
		return false, nil
	}
	if asked, ok := retryAfter(resp); ok && !worthWaiting(ctx, asked) {
		return false, nil
	}
	switch status := resp.StatusCode; {
	case status == http.StatusTooManyRequests:
		return true, nil
	case status == http.StatusNotImplemented:
		return false, nil
	default:
		return status >= 500, nil
	}
}

type effectKey struct{}

// watchEffect notes whether any try of a request may have had an effect, although it got no answer that says so.
func watchEffect(ctx context.Context) (context.Context, *atomic.Bool) {
	effect := new(atomic.Bool)
	return context.WithValue(ctx, effectKey{}, effect), effect
}

type failureKey struct{}

// watchFailures notes why a request had to be tried again, for the error of one whose time is up in the middle.
func watchFailures(ctx context.Context) (context.Context, func() error) {
	last := new(atomic.Value)
	return context.WithValue(ctx, failureKey{}, last), func() error {
		failure, _ := last.Load().(failed)
		return failure.error
	}
}

// failed makes errors of all types one for an atomic.Value.
type failed struct{ error }

func noteFailure(ctx context.Context, resp *http.Response, err error) {
	last, ok := ctx.Value(failureKey{}).(*atomic.Value)
	switch {
	case !ok:
	case err != nil:
		last.Store(failed{errors.New(plainCause(err))})
	case resp.StatusCode >= 400:
		last.Store(failed{fmt.Errorf("it was answered %d %s", resp.StatusCode, peekCode(resp))})
	}
}

// timeUp adds to an error, if it is that the time is up, what had gone wrong before.
func timeUp(err, before error) error {
	if before == nil || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w; before that: %w", err, before)
}

// mayHaveHadEffect tells what broke on the way from what was certainly not passed on to the sandbox: no connection was
// made, or the bridge itself refused.
func mayHaveHadEffect(resp *http.Response, err error) bool {
	if err != nil {
		var dial *net.OpError
		return transportMayRecover(err) && (!errors.As(err, &dial) || dial.Op != "dial")
	}
	if resp.StatusCode < 500 {
		return false
	}
	code := peekCode(resp)
	return code != codeCapacityExceeded && code != codePoolError
}

// transportMayRecover tells a connection that failed by chance from one that will fail the same way again.
func transportMayRecover(err error) bool {
	var (
		unknownAuthority x509.UnknownAuthorityError
		hostname         x509.HostnameError
		invalid          x509.CertificateInvalidError
		verification     *tls.CertificateVerificationError
		recordHeader     tls.RecordHeaderError
		dns              *net.DNSError
	)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return false
	case errors.As(err, &unknownAuthority), errors.As(err, &hostname), errors.As(err, &invalid),
		errors.As(err, &verification), errors.As(err, &recordHeader):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	default:
		return true
	}
}

// peekCode reads the error code of an answer and leaves the body as it was.
func peekCode(resp *http.Response) string {
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(data), resp.Body), resp.Body}
	if err != nil {
		return ""
	}
	var answer errorAnswer
	if json.Unmarshal(data, &answer) != nil {
		return ""
	}
	return answer.Code
}

// backoff is the wait before retry n (from 1): what the answer asks for, or low doubled n-1 times and at most high, of
// which a random half is taken off so that parallel operations do not come back all at once.
func backoff(low, high time.Duration, n int, resp *http.Response) time.Duration {
	if asked, ok := retryAfter(resp); ok {
		return asked
	}
	wait := low << min(n-1, 20)
	if wait > high || wait <= 0 {
		wait = high
	}
	return wait/2 + rand.N(wait/2+1) //nolint:gosec // nothing hangs on its being hard to guess
}

// maxRetryAfter is the longest wait that an answer may ask for. What asks for more is told to whoever waits for Terraform,
// rather than obeyed in silence.
const maxRetryAfter = 2 * time.Minute

// worthWaiting tells whether there is time left after the wait that an answer asks for.
func worthWaiting(ctx context.Context, asked time.Duration) bool {
	deadline, ends := ctx.Deadline()
	return asked <= maxRetryAfter && (!ends || asked < time.Until(deadline))
}

// retryAfter is the wait that an answer asks for.
func retryAfter(resp *http.Response) (time.Duration, bool) {
	if resp == nil || (resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable) {
		return 0, false
	}
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(date)), true
	}
	return 0, false
}
