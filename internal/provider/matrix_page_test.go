package provider_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// matrixFile is the page's template; `make generate` makes the page of it.
const (
	matrixFile  = "../../templates/guides/failures.md.tmpl"
	matrixBegin = "<!-- Written by `make matrix` from here on. -->\n"
)

// place is a cell of the page, and matrixPage what was seen there.
type place struct{ row, column string }

type matrixPage map[place][]string

// rowName names a row of the page.
func rowName(o operation, forGood bool) string {
	if forGood {
		return o.String() + ", for good"
	}
	return o.String() + ", once"
}

func (p matrixPage) add(c cell, outcome string) {
	at := place{rowName(c.operation, c.forGood), c.fault.name}
	p[at] = append(p[at], outcome)
}

// faultGroups are the tables of the page.
func faultGroups() []struct {
	title  string
	faults []fault
} {
	answers := answerFaults()
	refusals := slices.IndexFunc(answers, func(f fault) bool { return f.name == "429" })
	return []struct {
		title  string
		faults []fault
	}{
		{"Something answers that refuses, or is no bridge", answers[:refusals]},
		{"The bridge, or Cloudflare's edge, cannot", answers[refusals:]},
		{"Connections break", connectionFaults()},
		{"The stream of a command's output is disturbed", streamFaults()},
		{"The container goes", losses()},
	}
}

func allFaults() []fault {
	var all []fault
	for _, group := range faultGroups() {
		all = append(all, group.faults...)
	}
	return all
}

// render writes the generated part of the page.
func (p matrixPage) render(operations []operation) string {
	var b strings.Builder
	for _, group := range faultGroups() {
		fmt.Fprintf(&b, "\n## %s\n\n| Fault | What happens |\n| --- | --- |\n", group.title)
		var columns []string
		for _, f := range group.faults {
			columns = append(columns, f.name)
			fmt.Fprintf(&b, "| %s | %s |\n", f.name, f.means)
		}
		fmt.Fprintf(&b, "\n| Operation | %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)+1))
		for _, o := range operations {
			for _, forGood := range []bool{false, true} {
				if forGood && group.faults[0].onceOnly {
					continue
				}
				row := rowName(o, forGood)
				fmt.Fprintf(&b, "| %s |", row)
				for _, column := range columns {
					fmt.Fprintf(&b, " %s |", together(p[place{row, column}]))
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// legend explains what stands in the cells.
func (p matrixPage) legend() string {
	used := map[string]bool{}
	for _, outcomes := range p {
		for _, outcome := range outcomes {
			used[strings.TrimPrefix(outcome, "error: ")] = true
		}
	}
	var b strings.Builder
	b.WriteString("\n## What the outcomes mean\n\n| Outcome | Error | What it means |\n| --- | --- | --- |\n")
	for _, kind := range outcomeKinds() {
		if !used[kind.label] {
			continue
		}
		label, summary := kind.label, kind.summary
		if summary != "" {
			label = "error: " + label
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", label, summary, kind.means)
	}
	return b.String()
}

// split takes the page apart, into what is written by hand and what is not.
func split() (hand, generated string, err error) {
	content, err := os.ReadFile(matrixFile)
	hand, generated, found := strings.Cut(string(content), matrixBegin)
	if err == nil && !found {
		err = fmt.Errorf("%s does not say where its generated part begins", matrixFile)
	}
	return hand, generated, err
}

// write puts the matrix into the page.
func (p matrixPage) write() error {
	hand, generated, err := split()
	if err != nil {
		return err
	}
	return os.WriteFile(matrixFile, []byte(hand+matrixBegin+p.over(generated)), 0o644)
}

// over is the generated part with the cells that were tried this time, and as it
// was with the others.
func (p matrixPage) over(generated string) string {
	page := parsePage(generated)
	maps.Copy(page, p)
	return page.legend() + page.render(rows())
}

// compare looks for what is not as the page says. Of a selection only what was
// seen is compared.
func (p matrixPage) compare(t *testing.T, whole bool) []string {
	t.Helper()

	_, generated, err := split()
	if err != nil {
		t.Fatal(err)
	}
	if whole {
		if generated != p.over(generated) {
			return []string{"the page on failures is not what this run found: run make matrix and look at what has changed"}
		}
		return nil
	}
	var differences []string
	if generated != (matrixPage{}).over(generated) {
		differences = append(differences, "the page on failures has not the rows, columns and words of this matrix: run make matrix")
	}
	written := parsePage(generated)
	for at, outcomes := range p {
		for _, outcome := range outcomes {
			if outcome != labelNever && !slices.Contains(written[at], outcome) {
				differences = append(differences, fmt.Sprintf("%s, %s: the page says %q, and it was %q", at.row, at.column, written[at], outcome))
			}
		}
	}
	slices.Sort(differences)
	return differences
}

// parsePage reads the tables back.
func parsePage(text string) matrixPage {
	page := matrixPage{}
	var columns []string
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		switch {
		case fields[0] == "Operation":
			columns = fields
		case len(columns) == len(fields):
			for i, field := range fields[1:] {
				page[place{fields[0], columns[i+1]}] = strings.Split(field, "; ")
			}
		}
	}
	return page
}
