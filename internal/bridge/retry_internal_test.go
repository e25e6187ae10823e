package bridge

import (
	"context"
	"net/http"
	"testing"
)

// The answer's head says that the command has been started. If the context ends just then, the command has to be ended.
func TestAnswerThatCameTooLateToBeReadMayHaveHadAnEffect(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		ended  bool
		want   bool
	}{
		"started, to be read":     {http.StatusOK, false, false},
		"started, not to be read": {http.StatusOK, true, true},
		"refused":                 {http.StatusForbidden, true, false},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if test.ended {
			cancel()
		}
		watched, effect := watchEffect(ctx)
		again, err := shouldRetry(watched, &http.Response{StatusCode: test.status, Body: http.NoBody}, nil)
		if again || (err != nil) != test.ended || effect.Load() != test.want {
			t.Errorf("%s: again %v, error %v, effect %v", name, again, err, effect.Load())
		}
	}
}
