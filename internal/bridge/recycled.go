package bridge

import (
	"errors"
	"fmt"
	"net/http"
)

// RecycledError says that the sandbox's container is not the one that the operation was meant for. Nothing was done in
// the new one. What was in the old one is gone.
type RecycledError struct {
	ID string
	// Expected is the instance that the operation was meant for, Actual the one that answered.
	Expected, Actual string
}

func (e *RecycledError) Error() string {
	return fmt.Sprintf("the container of sandbox %s was replaced by a fresh, empty one while it was in use: instance %s "+
		"became %s. It crashed, was put to sleep, or was destroyed; what was in it is gone. "+
		"Run Terraform again to bring back what is declared", e.ID, e.Expected, e.Actual)
}

func isRecycled(err error) bool {
	var e *RecycledError
	return errors.As(err, &e)
}

// mayBeRecycled tells whether a request may have failed because the container went away under it.
func mayBeRecycled(err error) bool {
	var e *Error
	return errors.As(err, &e) && (e.Status == 0 || e.Status >= http.StatusInternalServerError) && !IsAsleep(err)
}
