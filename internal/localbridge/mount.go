package localbridge

import (
	"net/http"
)

func (b *Bridge) mount(w http.ResponseWriter, r *request)   { sendNotFound(w) }
func (b *Bridge) unmount(w http.ResponseWriter, r *request) { sendNotFound(w) }
