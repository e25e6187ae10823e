package provider_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// outcomeKind explains what stands in a cell.
type outcomeKind struct {
	label string
	// summary is that of the diagnostic, for errors; several are separated by " / ".
	summary string
	means   string
}

const (
	labelOK      = "ok"
	labelRetried = "ok, retried"
	labelAsleep  = "ok, asleep"
	labelNever   = "–"
)

// outcomeKinds are all that can be in a cell. What is not here is unexplained,
// and fails the test.
func outcomeKinds() []outcomeKind {
	return []outcomeKind{
		{labelOK, "", "It succeeds, without noticing or although it noticed."},
		{labelRetried, "", "It succeeds after asking again, or after following a command to its end on another connection."},
		{labelAsleep, "", "The bridge proves that the sandbox has no container: what was in it is gone, and the state says so. The next plan brings it back."},
		{labelNever, "", "Cannot happen: the operation has no such answer."},
		{"key", "The bridge did not accept the API key", "The request was refused, and not carried out."},
		{"path", "The path is outside /workspace", "The request was refused, and not carried out."},
		{"access", "Access to the bridge was denied on the way", "Something in front of the bridge refuses; `headers` may be missing."},
		{"redirect", "The bridge's address redirects elsewhere", "A login page answers. It was not followed, so it has not seen the key."},
		{"no bridge", "There is no sandbox bridge at this address", "The address is wrong."},
		{"not a bridge", "What answers is not a sandbox bridge", "Something else answers with a success, which is not taken for one."},
		{"too large", "A request was too large", "The request was refused, and not carried out."},
		{"too often", "The bridge is asked too often", "It was asked again for as long as that made sense."},
		{"edge", "Cloudflare's edge could not reach the bridge", "It was tried again, in vain. For a command, see *unknown*."},
		{"failed", "The bridge failed", "It was tried again, in vain."},
		{"limit", "The bridge has reached its instance limit", "There was no room for a container, until the time was up."},
		{"nobody", "Nothing listens at the bridge's address", "It was tried again, in vain."},
		{"no answer", "The bridge does not answer", "Connections break or stay silent; it was tried again, in vain."},
		{"replaced", "Container was replaced meanwhile", "What was asked for was meant for a container that is gone, and was not done in the new one. A command that was sent before may have run; the error says so."},
		{
			"unknown", "Outcome unknown",
			"A command may have run, once at most, and its result could not be had. The resource is in the state and tainted.",
		},
		{
			"missing", "File does not exist / Nothing to pack / File operation refused",
			"What was to be read went with its container. What makes it is planned again where `depends_on` or a `revision` leads there.",
		},
		{"incomplete", "The bridge's answers are incomplete or garbled", "No answer came with the proof that it is whole; it was tried again, in vain."},
	}
}

// outcome names what became of a cell, or says that it has no name. usual is how
// many requests the operation takes without a fault.
func (r result) outcome(usual int) (string, error) {
	switch {
	case r.hits == 0:
		return labelNever, nil
	case r.err == nil && r.asleep:
		return labelAsleep, nil
	case r.err == nil && r.requests > usual:
		return labelRetried, nil
	case r.err == nil:
		return labelOK, nil
	}
	var diagnosed *diagnosedError
	if !errors.As(r.err, &diagnosed) {
		return "", fmt.Errorf("no diagnostic: %w", r.err)
	}
	summary := diagnosed.diagnostics[0].Summary
	kinds := outcomeKinds()
	i := slices.IndexFunc(kinds, func(kind outcomeKind) bool { return slices.Contains(strings.Split(kind.summary, " / "), summary) })
	if i < 0 {
		return "", fmt.Errorf("an unexplained outcome: %w", r.err)
	}
	return "error: " + kinds[i].label, nil
}

// together joins the outcomes of one cell at different requests.
func together(outcomes []string) string {
	outcomes = slices.Compact(slices.Sorted(slices.Values(outcomes)))
	if len(outcomes) > 1 {
		outcomes = slices.DeleteFunc(outcomes, func(outcome string) bool { return outcome == labelNever })
	}
	return strings.Join(outcomes, "; ")
}
