module execcred.test/e2e/idp/spire

go 1.26.0

require github.com/spiffe/spire v1.15.3
