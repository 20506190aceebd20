module execcred.test/conformance/peers/aws-iam-authenticator

go 1.26.0

require (
	sigs.k8s.io/aws-iam-authenticator v0.7.8 // indirect
)
