// SPDX-License-Identifier: Apache-2.0

// eks judges execcred-aws without AWS: aws-iam-authenticator's verifier, the
// signer of the AWS SDK for Go, and an STS that takes nothing that the real one
// would not.
//
//	eks serve DIR                            STS, an instance and a container's agent
//	eks verify CLUSTER PARTITION <TOKEN      what the verifier says of a token
//	eks review DIR CLUSTER PARTITION         the verifier as an API server's webhook
//	eks sign HOST REGION CLUSTER TIME <KEYS  the token that the SDK's signer makes
//	eks mint DIR SUBJECT AUDIENCE SECONDS    a web identity that STS trusts
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "eks: error:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("serve, verify, review, sign or mint?")
	}
	command, arguments := arguments[0], arguments[1:]
	switch {
	case command == "serve" && len(arguments) == 1:
		return serve(arguments[0])
	case command == "verify" && len(arguments) == 2:
		return verify(arguments[0], arguments[1])
	case command == "review" && len(arguments) == 3:
		return review(arguments[0], arguments[1], arguments[2])
	case command == "sign" && len(arguments) == 4:
		return sign(context.Background(), arguments[0], arguments[1], arguments[2], arguments[3])
	case command == "mint" && len(arguments) == 4:
		return mint(arguments[0], arguments[1], arguments[2], arguments[3])
	}
	return fmt.Errorf("no command %q with %d arguments", command, len(arguments))
}

// Asks STS as HTTPS_PROXY and SSL_CERT_FILE say.
func verify(cluster, partition string) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	verifier := token.NewVerifier(cluster, partition, "us-west-2")
	identity, err := verifier.Verify(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(identity)
}
