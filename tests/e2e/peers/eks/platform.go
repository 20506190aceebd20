// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

const (
	metadataToken  = "AQAEAExampleMetadataToken=="
	containerToken = "pod-identity-token"
)

// platform is EC2's metadata service of version 2 alone, and the agent that
// gives a container its credentials.
func platform(request *http.Request) (int, string) {
	if request.URL.Path == "/v1/credentials" {
		if request.Header.Get("Authorization") != containerToken {
			return http.StatusUnauthorized, "no"
		}
		return http.StatusOK, platformCredentials("ASIACONTAINER")
	}
	if request.URL.Path == "/latest/api/token" {
		seconds, err := strconv.Atoi(request.Header.Get("X-Aws-Ec2-Metadata-Token-Ttl-Seconds"))
		if request.Method != http.MethodPut || err != nil || seconds < 1 || seconds > 21600 {
			return http.StatusBadRequest, "bad request"
		}
		return http.StatusOK, metadataToken
	}
	if request.Header.Get("X-Aws-Ec2-Metadata-Token") != metadataToken {
		return http.StatusUnauthorized, "unauthorized"
	}
	switch request.URL.Path {
	case "/latest/meta-data/iam/security-credentials/":
		return http.StatusOK, "node-role"
	case "/latest/meta-data/iam/security-credentials/node-role":
		return http.StatusOK, platformCredentials("ASIAINSTANCE")
	case "/latest/meta-data/placement/availability-zone/":
		return http.StatusOK, "us-east-2b"
	}
	return http.StatusNotFound, "not found"
}

func platformCredentials(id string) string {
	for _, key := range firstKeys {
		if key.AccessKeyId != id {
			continue
		}
		text, _ := json.Marshal(map[string]string{
			"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": time.Now().UTC().Format(time.RFC3339),
			"AccessKeyId": key.AccessKeyId, "SecretAccessKey": key.SecretAccessKey, "Token": key.SessionToken,
			"Expiration": time.Now().Add(6 * time.Hour).UTC().Format(time.RFC3339)})
		return string(text)
	}
	return "{}"
}
