package bridge

import "time"

// SetGrace sets what the end of a command may take beyond its timeout, so that a test of one that never ends is short.
func (s *Sandbox) SetGrace(grace time.Duration) { s.grace = grace }
