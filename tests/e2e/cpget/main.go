// SPDX-License-Identifier: Apache-2.0

// cpget talks to a cluster the way a multi-cluster controller written in Go
// does: from a mapping file and a ClusterProfile it builds a rest.Config whose
// credentials come from an exec plugin, and leaves the rest to client-go.
//
// Each request prints one line: "ok USER" (or "ok BODY" with -get), or
// "error REASON". The exit status is 0 when every request was answered, 1 when
// one was not, 2 when the input is wrong.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
)

type options struct {
	mappingFile string
	profileFile string
	path        string
	requests    int
	interval    time.Duration
	timeout     time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.mappingFile, "clusterprofile-provider-file", "", "the mapping file (JSON)")
	flag.StringVar(&o.profileFile, "clusterprofile", "", "the ClusterProfile (JSON or YAML)")
	flag.StringVar(&o.path, "get", "", "GET this path instead of asking who the user is")
	flag.IntVar(&o.requests, "requests", 1, "number of requests; 0 goes on until -timeout")
	flag.DurationVar(&o.interval, "interval", 0, "pause between two requests")
	flag.DurationVar(&o.timeout, "timeout", 240*time.Second, "limit for the whole run")
	flag.Parse()

	config, err := loadConfig(o.mappingFile, o.profileFile)
	if err != nil {
		exit(2, err)
	}
	// client-go's default of five requests a second would hide -interval.
	config.QPS = -1
	client, err := authenticationclient.NewForConfig(config)
	if err != nil {
		exit(2, err)
	}
	if !request(client, o) {
		os.Exit(1)
	}
}

// request sends all requests over one client, so that client-go's credential
// cache is shared between them as it is in a controller.
func request(client *authenticationclient.AuthenticationV1Client, o options) bool {
	ctx, cancel := context.WithTimeout(context.Background(), o.timeout)
	defer cancel()

	allAnswered := true
	for sent := 0; o.requests == 0 || sent < o.requests; sent++ {
		if sent > 0 && !pause(ctx, o.interval) {
			break
		}
		answer, err := requestOnce(ctx, client, o.path)
		if err != nil {
			allAnswered = false
			fmt.Println("error", oneLine(err.Error()))
			continue
		}
		fmt.Println("ok", answer)
	}
	return allAnswered
}

func requestOnce(ctx context.Context, client *authenticationclient.AuthenticationV1Client, path string) (string, error) {
	if path != "" {
		body, err := client.RESTClient().Get().AbsPath(path).DoRaw(ctx)
		return string(bytes.TrimSpace(body)), err
	}
	review, err := client.SelfSubjectReviews().Create(
		ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return review.Status.UserInfo.Username, nil
}

// pause reports whether there is still time for another request.
func pause(ctx context.Context, interval time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(interval):
		return ctx.Err() == nil
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func exit(status int, err error) {
	fmt.Fprintln(os.Stderr, "cpget: error:", err)
	os.Exit(status)
}
