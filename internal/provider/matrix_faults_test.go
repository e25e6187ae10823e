package provider_test

import (
	"fmt"
	"net/http"
	"regexp"
	"time"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/faultproxy"
)

// fault is a column of the matrix.
type fault struct {
	name string
	// make makes the fault for one cell.
	make func(w *world) faultproxy.Fault
	// silence shortens the client's silence limit, for faults that hold an answer
	// back.
	silence bool
	// sleeps says that the containers are gone with it.
	sleeps bool
	// refused says that the client does not ask again, not even to clear away.
	refused bool
	// onceOnly is for what makes no sense at each request.
	onceOnly bool
	// cause is what an error about it has to name.
	cause *regexp.Regexp
	// means explains the column.
	means string
}

// answered is a fault that is another answer.
func answered(name, means string, answer faultproxy.Answer) fault {
	return fault{
		name: name, means: means, cause: regexp.MustCompile(fmt.Sprint(answer.Status)),
		refused: answer.Status < 429 || answer.Header.Get("Retry-After") == "86400",
		make:    func(*world) faultproxy.Fault { return faultproxy.Fault{Answer: &answer} },
	}
}

func jsonAnswer(status int, code, text string) faultproxy.Answer {
	return faultproxy.Answer{
		Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: fmt.Sprintf(`{"error":%q,"code":%q}`, text, code),
	}
}

func page(status int, title string) faultproxy.Answer {
	return faultproxy.Answer{
		Status: status, Header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}},
		Body: "<!DOCTYPE html>\n<html><head><title>" + title + "</title></head><body><h1>" + title + "</h1></body></html>",
	}
}

func plain(status int, text string) faultproxy.Answer {
	return faultproxy.Answer{Status: status, Header: http.Header{"Content-Type": {"text/plain; charset=UTF-8"}}, Body: text}
}

func withHeader(answer faultproxy.Answer, name, value string) faultproxy.Answer {
	answer.Header.Set(name, value)
	return answer
}

// answerFaults are other answers than the bridge's own.
func answerFaults() []fault {
	return []fault{
		answered("401", "The bridge does not accept the key.", jsonAnswer(401, "unauthorized", "Unauthorized")),
		answered("403", "The bridge takes the path for one outside /workspace.",
			jsonAnswer(403, "invalid_request", "path must resolve to a location within /workspace")),
		answered("403 HTML", "Cloudflare's edge denies access (code 1010 and the like).", page(403, "Access denied | error code: 1010")),
		answered("302", "A login page, such as that of Cloudflare Access.",
			withHeader(plain(302, ""), "Location", "https://team.cloudflareaccess.com/cdn-cgi/access/login?token=x")),
		answered("200 HTML", "A page that is no bridge's, with a success.", page(200, "Welcome")),
		answered("404", "Another Worker, or another route.", plain(404, "404 Not Found")),
		answered("413", "The request is too large for something on the way.", jsonAnswer(413, "payload_too_large", "too large")),
		answered("429", "Too many requests; `Retry-After` is obeyed.", withHeader(plain(429, "error code: 1015"), "Retry-After", "0")),
		answered("429 for a day", "Too many requests, and `Retry-After` asks for more time than an apply can have.",
			withHeader(plain(429, "error code: 1015"), "Retry-After", "86400")),
		answered("500", "The Worker fell over.", plain(500, "Internal Server Error")),
		answered("502", "The bridge could not get a container (`pool_error`).", jsonAnswer(502, "pool_error", "pool error: no container")),
		{
			name: "503", means: "The sandbox has no container, and the instance limit is reached (`capacity_exceeded`).",
			cause: regexp.MustCompile("503|replaced by a fresh, empty one|there is no such file"), sleeps: true,
			make: func(w *world) faultproxy.Fault {
				answer := jsonAnswer(503, "capacity_exceeded", "Cannot start container: instance limit reached (2/2).")
				// The bridge says so only where it is true.
				return faultproxy.Fault{Before: w.sleep, Answer: &answer}
			},
		},
		{
			name: "520 to 524", means: "Cloudflare's edge got no usable answer of the Worker; one status after the other.",
			cause: regexp.MustCompile("52[0-4]"),
			make: func(w *world) faultproxy.Fault {
				status := 520 + w.turn%5
				answer := page(status, fmt.Sprintf("example.workers.dev | %d", status))
				return faultproxy.Fault{Answer: &answer}
			},
		},
	}
}

// broken is a fault of a connection.
func broken(name, means string, at faultproxy.Point, way faultproxy.Way) fault {
	f := fault{
		name: name, means: means, silence: way == faultproxy.Hold, cause: regexp.MustCompile(`reset|EOF|broken pipe|closed`),
		make: func(*world) faultproxy.Fault { return faultproxy.Fault{Cut: &faultproxy.Cut{At: at, Way: way}} },
	}
	switch way {
	case faultproxy.Hold:
		f.cause = regexp.MustCompile(`nothing was received for too long`)
	case faultproxy.End:
		f.cause = regexp.MustCompile(`without the proof|garbled|not the answer of a sandbox bridge|not what is there|ended`)
	}
	return f
}

// connectionFaults are what becomes of connections.
func connectionFaults() []fault {
	const (
		before, after, within = faultproxy.BeforeRequest, faultproxy.AfterRequest, faultproxy.WithinAnswer
		reset, end, hold      = faultproxy.Reset, faultproxy.End, faultproxy.Hold
	)
	return []fault{
		{
			name: "refused", means: "Nobody listens.", cause: regexp.MustCompile("refused"),
			make: func(*world) faultproxy.Fault { return faultproxy.Fault{Refuse: true} },
		},
		broken("reset before", "The connection breaks before the bridge has seen the request.", before, reset),
		broken("reset after", "The request is carried out, and the connection breaks before the answer.", after, reset),
		broken("reset within", "The connection breaks in the middle of the answer.", within, reset),
		broken("cut short", "The answer ends in the middle as if that were all.", within, end),
		broken("silent before", "The request is swallowed and nothing comes.", before, hold),
		broken("silent within", "Half of the answer comes, and then nothing.", within, hold),
	}
}

// anyCause is for faults whose effect may be any.
func anyCause() *regexp.Regexp { return regexp.MustCompile(".") }

// changed is a fault of a command's event stream.
func changed(name, means string, change faultproxy.Stream) fault {
	return fault{
		name: name, means: means, cause: anyCause(),
		make: func(*world) faultproxy.Fault { return faultproxy.Fault{Stream: &change} },
	}
}

// streamFaults are what becomes of the stream in which a command's output comes.
func streamFaults() []fault {
	return []fault{
		changed("split", "The stream comes in pieces of 7 bytes.", faultproxy.Stream{Piece: 7}),
		changed("delayed", "The stream comes late.", faultproxy.Stream{Pause: 20 * time.Millisecond}),
		changed("doubled", "Every event comes twice.", faultproxy.Stream{Rewrite: faultproxy.Twice}),
		changed("re-lined", "The same events with other line ends, comments and a byte order mark.", faultproxy.Stream{Rewrite: faultproxy.Relined}),
		changed("no last event", "The event with the exit code is missing.", faultproxy.Stream{Rewrite: faultproxy.WithLast("")}),
		changed("false exit code", "The event tells of another exit code.",
			faultproxy.Stream{Rewrite: faultproxy.WithLast("event: exit\ndata: {\"exit_code\":1}\n\n")}),
		changed("error event", "An error comes in place of the exit code.", faultproxy.Stream{
			Rewrite: faultproxy.WithLast("event: error\ndata: {\"error\":\"exec failed: interrupted\",\"code\":\"exec_transport_error\"}\n\n"),
		}),
	}
}

// tune makes the client of a cell fast enough for a thousand of them.
func (f fault) tune(w *world) func(*bridge.Config) {
	return func(config *bridge.Config) {
		config.RetryWaitMin, config.RetryWaitMax = time.Millisecond, 4*time.Millisecond
		config.Dial = w.proxy.Dial
		if f.silence {
			// Above what a slow machine needs for an answer.
			config.SilenceLimit = 2 * time.Second
		}
	}
}
