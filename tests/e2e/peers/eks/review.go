// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"sigs.k8s.io/aws-iam-authenticator/pkg/token"
)

// tokenReview has what of authentication.k8s.io/v1 a webhook reads and answers.
type tokenReview struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Spec       struct {
		Token string `json:"token"`
	} `json:"spec"`
	Status struct {
		Authenticated bool     `json:"authenticated"`
		User          userInfo `json:"user"`
		Error         string   `json:"error,omitempty"`
	} `json:"status"`
}

type userInfo struct {
	Username string `json:"username,omitempty"`
	UID      string `json:"uid,omitempty"`
}

// review is a cluster's webhook, as EKS has one: the user is the identity's ARN.
// Its address is in the file review. It asks STS as verify does.
func review(directory, cluster, partition string) error {
	verifier := token.NewVerifier(cluster, partition, "us-west-2")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	partial := filepath.Join(directory, "review.partial")
	if err := os.WriteFile(partial, []byte(listener.Addr().String()), 0o644); err != nil {
		return err
	}
	if err := os.Rename(partial, filepath.Join(directory, "review")); err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var asked tokenReview
		if err := json.NewDecoder(request.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := tokenReview{APIVersion: asked.APIVersion, Kind: asked.Kind}
		if identity, err := verifier.Verify(asked.Spec.Token); err != nil {
			answer.Status.Error = err.Error()
		} else {
			answer.Status.Authenticated = true
			answer.Status.User = userInfo{identity.CanonicalARN, identity.UserID}
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	}))
}
