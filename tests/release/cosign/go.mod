module execcred.test/release/cosign

go 1.26.0

require (
	github.com/sigstore/cosign/v2 v2.6.5 // indirect
)
