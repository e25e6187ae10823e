package bridge

import (
	"errors"
	"testing"
	"unicode/utf8"
)

func TestPythonReplyIsReadAsFarAsItIsWhole(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]PythonResult{
		"end\n":              {},
		"result 1\n5\nend\n": {Repr: new("5")},
		"result 0\n\nend\n":  {Repr: new("")},
		"result 5\nend\n1\nresult_json 1\n1\nend\n":    {Repr: new("end\n1"), JSON: new("1")},
		"name 1\nE\nvalue 1\nv\ntraceback 1\nt\nend\n": {Exception: &PythonException{Name: "E", Value: "v", Traceback: "t"}},
		"name 1\nE\nresult 1\n5\nend\n":                {Exception: &PythonException{Name: "E"}},
		"unknown 1\n5\nend\n":                          {},
	} {
		got, err := judgePython(&Result{Reply: []byte(reply)}, 100)
		if err != nil || !samePython(got, &want) {
			t.Errorf("%q: got %+v, %v", reply, got, err)
		}
	}
	for _, reply := range []string{
		"", "end", "end\n ", "end\nend\n", "\nend\n", "result 1\n5\n", "result 1\n5", "result 2\n5\nend\n", "result 1\n55\nend\n", "result\n5\nend\n",
		"result -1\n5\nend\n", "result 99999999999999999999\n5\nend\n", "result 9223372036854775807\n5\nend\n", "result 1\n\xff\nend\n",
		"oversize 1\n5\nend\n", "oversize 8\nresult 0\nend\n", "oversize 7\nother 5\nend\n",
	} {
		got, err := judgePython(&Result{Reply: []byte(reply)}, 100)
		if err != nil || got.Exception == nil || got.Exception.Name != ProcessEnded || got.Repr != nil {
			t.Errorf("%q: got %+v, %v", reply, got, err)
		}
	}
	var limit *OutputLimitError
	if _, err := judgePython(&Result{Reply: []byte("oversize 10\nresult 101\nend\n")}, 100); !errors.As(err, &limit) || limit.Size != 101 {
		t.Errorf("got %v", err)
	}
}

func samePython(a, b *PythonResult) bool {
	same := func(a, b *string) bool { return (a == nil) == (b == nil) && (a == nil || *a == *b) }
	if (a.Exception == nil) != (b.Exception == nil) || a.Exception != nil && *a.Exception != *b.Exception {
		return false
	}
	return same(a.Repr, b.Repr) && same(a.JSON, b.JSON)
}

func FuzzPythonReply(f *testing.F) {
	f.Add([]byte("result 1\n5\nresult_json 1\n5\nend\n"))
	f.Add([]byte("name 1\nE\nvalue 1\nv\ntraceback 1\nt\nend\n"))
	f.Add([]byte("oversize 10\nresult 101\nend\n"))
	f.Fuzz(func(t *testing.T, reply []byte) {
		result, err := judgePython(&Result{Reply: reply}, 100)
		if err != nil {
			return
		}
		for _, text := range []*string{result.Repr, result.JSON} {
			if text != nil && (len(*text) > len(reply) || !utf8.ValidString(*text)) {
				t.Errorf("got %q", *text)
			}
		}
	})
}
