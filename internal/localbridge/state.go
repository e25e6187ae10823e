package localbridge

import (
	"sync"
	"time"
)

// containerState is what the bridge remembers about a container for as long as
// it lives: sessions, mounts, tunnels and when it was last used.
type containerState struct {
	mu       sync.Mutex
	sessions map[string]bool        // by the id's JSON
	mounts   map[string]bucketMount // by mount path
	tunnels  map[int]*tunnel

	inFlight int
	asleep   bool
	limit    time.Duration
	idle     *time.Timer // nil until watch
}

func (s *containerState) init() {
	s.sessions = map[string]bool{}
	s.mounts = map[string]bucketMount{}
	s.tunnels = map[int]*tunnel{}
}

// watch calls sleep once nothing has used the container for the given time.
func (s *containerState) watch(limit time.Duration, sleep func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit
	s.idle = time.AfterFunc(limit, func() {
		s.mu.Lock()
		s.asleep = s.inFlight == 0 // else leave starts the timer again
		asleep := s.asleep
		s.mu.Unlock()
		if asleep {
			sleep()
		}
	})
	if s.inFlight > 0 {
		s.idle.Stop()
	}
}

// enter and leave surround every use of the container. A container that is
// going to sleep cannot be entered any more.
func (s *containerState) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asleep {
		return false
	}
	s.inFlight++
	if s.idle != nil {
		s.idle.Stop()
	}
	return true
}

func (s *containerState) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	if s.inFlight == 0 && s.idle != nil {
		s.idle.Reset(s.limit)
	}
}

// close ends what runs on the host for the container.
func (s *containerState) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
	for port, t := range s.tunnels {
		t.close()
		delete(s.tunnels, port)
	}
}
