// SPDX-License-Identifier: Apache-2.0

// syncreaders reads what execcred sync has written with the code of the programs that it is for,
// calls the cluster as they do, and prints the user that the cluster takes it for and the ID of the
// credential.
//
//	syncreaders argocd|cluster-api|flux KUBECONFIG NAMESPACE NAME
//	syncreaders token-file KUBECONFIG
//
// Of a Secret: KUBECONFIG is the hub's. NAME is the cluster's name for Argo CD (the Secret's key
// "name") and Cluster API, and the Secret's name for Flux.
//
// Of a folder: KUBECONFIG names a token file. It calls the cluster each second with one client, and
// ends when the cluster sees another credential.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v3/util/db"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/fluxcd/pkg/apis/meta"
	flux "github.com/fluxcd/pkg/runtime/client"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/controllers/remote"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

const (
	usage = "usage: syncreaders argocd|cluster-api|flux KUBECONFIG NAMESPACE NAME\n" +
		"       syncreaders token-file KUBECONFIG"
	// client-go reads a token file again after a minute.
	limit           = 3 * time.Minute
	credentialIDKey = "authentication.kubernetes.io/credential-id"
)

type clientOf func(ctx context.Context, hub *rest.Config, namespace, name string) (client.Client, error)

var readers = map[string]clientOf{
	"argocd":      argocdClient,
	"cluster-api": clusterAPIClient,
	"flux":        fluxClient,
}

func main() {
	log.SetLogger(zap.New())
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	seen, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "syncreaders: error:", err)
		os.Exit(1)
	}
	fmt.Println(seen.user, seen.credential)
}

type identity struct{ user, credential string }

func run(ctx context.Context, arguments []string) (identity, error) {
	if len(arguments) < 2 {
		return identity{}, errors.New(usage)
	}
	config, err := clientcmd.BuildConfigFromFlags("", arguments[1])
	if err != nil {
		return identity{}, err
	}
	if arguments[0] == "token-file" && len(arguments) == 2 {
		return nextOfFile(ctx, config)
	}
	reader := readers[arguments[0]]
	if reader == nil || len(arguments) != 4 {
		return identity{}, errors.New(usage)
	}
	cluster, err := reader(ctx, config, arguments[2], arguments[3])
	if err != nil {
		return identity{}, err
	}
	return review(ctx, cluster)
}

func review(ctx context.Context, cluster client.Client) (identity, error) {
	answer := &authenticationv1.SelfSubjectReview{}
	if err := cluster.Create(ctx, answer); err != nil {
		return identity{}, err
	}
	info := answer.Status.UserInfo
	return identity{user: info.Username, credential: strings.Join(info.Extra[credentialIDKey], " ")}, nil
}

func newClient(config *rest.Config) (client.Client, error) {
	return client.New(config, client.Options{Scheme: scheme.Scheme})
}

// argocdClient finds the cluster by its name, as the destination of an Application does.
func argocdClient(ctx context.Context, hub *rest.Config, namespace, name string) (client.Client, error) {
	clientset, err := kubernetes.NewForConfig(hub)
	if err != nil {
		return nil, err
	}
	clusters := db.NewDB(namespace, settings.NewSettingsManager(ctx, clientset, namespace), clientset)
	servers, err := clusters.GetClusterServersByName(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(servers) != 1 {
		return nil, fmt.Errorf("%d servers have the name %q", len(servers), name)
	}
	cluster, err := clusters.GetCluster(ctx, servers[0])
	if err != nil {
		return nil, err
	}
	config, err := cluster.RESTConfig()
	if err != nil {
		return nil, err
	}
	return newClient(config)
}

func clusterAPIClient(ctx context.Context, hub *rest.Config, namespace, name string) (client.Client, error) {
	secrets, err := newClient(hub)
	if err != nil {
		return nil, err
	}
	return remote.NewClusterClient(ctx, "syncreaders", secrets,
		client.ObjectKey{Namespace: namespace, Name: name})
}

// fluxClient does what a Kustomization with spec.kubeConfig.secretRef does.
func fluxClient(ctx context.Context, hub *rest.Config, namespace, name string) (client.Client, error) {
	secrets, err := newClient(hub)
	if err != nil {
		return nil, err
	}
	reference := &meta.KubeConfigReference{SecretRef: &meta.SecretKeyReference{Name: name}}
	cluster, _, err := flux.NewImpersonator(secrets, flux.WithScheme(scheme.Scheme),
		flux.WithKubeConfig(reference, flux.KubeConfigOptions{}, namespace, nil)).GetClient(ctx)
	return cluster, err
}

func nextOfFile(ctx context.Context, config *rest.Config) (identity, error) {
	cluster, err := newClient(config)
	if err != nil {
		return identity{}, err
	}
	first, err := review(ctx, cluster)
	for err == nil {
		var seen identity
		if seen, err = review(ctx, cluster); err == nil && seen != first {
			return seen, nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return identity{}, err
}
