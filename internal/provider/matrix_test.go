package provider_test

import (
	"os"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"testing"

	"terraform-provider-cloudflaresandbox/internal/localbridge"
)

// The matrix has a row (matrix_rows_test.go) for each operation of each object
// (matrix_operations_test.go, matrix_resources_test.go, matrix_stateless_test.go,
// matrix_passing_test.go)
// and a column for each fault (matrix_faults_test.go, matrix_loss_test.go). A cell
// is tried in a world of its own (matrix_bench_test.go, matrix_world_test.go), by
// a small Terraform that speaks the provider's protocol (matrix_core*_test.go).
// What comes of it has a name (matrix_outcomes_test.go) and a place on a page
// (matrix_page_test.go).

// matrixVariable says how much of the matrix is tried: "full" for all of it, or
// "write" to write the page about it as well. Otherwise it is a selection.
const matrixVariable = "FAULT_MATRIX"

// matrixCellsVariable is a regular expression for the cells to try, such as
// "^file update" or "silent", "" for all. The page keeps the others.
const matrixCellsVariable = "FAULT_CELLS"

// newBench starts a bridge for cells, which share it.
func newBench(t *testing.T) *bench {
	t.Helper()

	local := localBridge(t, localbridge.Config{}).local
	c, err := newCore(t.Context(), local.URL(), local.Key(), nil, quick)
	if err != nil {
		t.Fatal(err)
	}

	return &bench{local: local, schema: c.schema, newDir: t.TempDir}
}

// tryAll tries cells side by side, since most of the time they wait, and tells
// at once of what must not be.
func (b *bench) tryAll(t *testing.T, cells []cell) []result {
	t.Helper()

	results := make([]result, len(cells))
	next := make(chan int)
	var workers sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i] = b.try(t.Context(), cells[i])
				if os.Getenv(matrixVariable) != "" {
					t.Logf("%s: %d requests, %v", cells[i], results[i].requests, results[i].err)
				}
				if results[i].violation != nil {
					t.Errorf("%s: %v (the operation: %v)", cells[i], results[i].violation, results[i].err)
				}
			}
		})
	}
	for i := range cells {
		next <- i
	}
	close(next)
	workers.Wait()

	return results
}

// usual tries every operation without a fault, and notes how many requests it
// takes.
func (b *bench) usual(t *testing.T, operations []operation) []cell {
	t.Helper()

	cells := make([]cell, len(operations))
	for i, o := range operations {
		cells[i] = cell{operation: o}
	}
	for i, r := range b.tryAll(t, cells) {
		if r.err != nil || r.violation != nil {
			t.FailNow()
		}
		cells[i].usual = r.requests
	}

	return cells
}

// Every operation of every object under every fault is a success, or an error
// that names the cause, and the state tells the truth after it. Without
// FAULT_MATRIX a selection is tried.
func TestEveryOperationUnderEveryFault(t *testing.T) {
	mode := os.Getenv(matrixVariable)
	only := regexp.MustCompile(os.Getenv(matrixCellsVariable))
	b := newBench(t)
	cells := underFaults(b.usual(t, rows()), mode != "")
	cells = slices.DeleteFunc(cells, func(c cell) bool { return !only.MatchString(c.String()) })

	page := matrixPage{}
	for i, r := range b.tryAll(t, cells) {
		if r.violation != nil {
			continue
		}
		outcome, err := r.outcome(cells[i].usual)
		if err != nil {
			t.Errorf("%s: %v", cells[i], err)
		}
		page.add(cells[i], outcome)
	}
	t.Logf("%d cells tried: %d operations under %d faults", len(cells), len(rows()), len(allFaults()))

	if mode == "write" && !t.Failed() {
		if err := page.write(); err != nil {
			t.Fatal(err)
		}
	}
	for _, difference := range page.compare(t, mode != "") {
		t.Error(difference)
	}
}

// underFaults are the cells to try, each fault at each request: all of them, or a
// selection.
func underFaults(usual []cell, all bool) []cell {
	var cells []cell
	faults := allFaults()
	for row, c := range usual {
		for column, f := range faults {
			c.fault = f
			for c.n = 1; c.n <= c.usual; c.n++ {
				for _, c.forGood = range []bool{false, true} {
					possible := !c.forGood || !f.onceOnly
					if possible && (all || c.selected(row+column)) {
						cells = append(cells, c)
					}
				}
			}
		}
	}

	return cells
}

// selected takes a sixth of the pairs of an operation and a fault, so that every
// fault meets many operations and every operation many faults, and one cell of
// each: another request and another way from one pair to the next. The container
// goes at every request, in one of the ways.
func (c cell) selected(pair int) bool {
	if c.fault.onceOnly {
		return (pair+c.n)%6 == 0
	}

	return pair%6 == 0 && c.n == 1+pair/12%c.usual && c.forGood == (pair/6%2 == 1)
}
