package provider_test

import "slices"

// rows are the operations of every object of the provider. A new object is one
// more entry.
func rows() []operation {
	return slices.Concat(
		sandboxSubject().operations(),
		fileSubject().operations(),
		directorySubject().operations(),
		execSubject().operations(),
		tunnelSubject().operations(),
		mountSubject().operations(),
		reads(),
		archiveRow(),
		execReads(),
		sandboxEphemeralRows(),
		poolRows(),
	)
}
