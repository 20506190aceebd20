// SPDX-License-Identifier: Apache-2.0

// secretreader does what the plugin of that name of cluster-inventory-api does,
// with the same client-go: it reads the key "token" of the hub's Secret that has
// the name of the cluster, and prints it as an ExecCredential of v1. It stands in
// for that plugin as the peer that execcred-static-secret is measured against.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientauthenticationv1 "k8s.io/client-go/pkg/apis/clientauthentication/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const execInfoVariable = "KUBERNETES_EXEC_INFO"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "secretreader: error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	cluster, err := clusterName(os.Getenv(execInfoVariable))
	if err != nil {
		return err
	}
	config, err := hubConfig()
	if err != nil {
		return err
	}
	hub, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	namespace := hubNamespace()
	secret, err := hub.CoreV1().Secrets(namespace).Get(ctx, cluster, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("failed to get secret %s/%s: %w", namespace, cluster, err)
	}
	token := secret.Data["token"]
	if len(token) == 0 {
		return fmt.Errorf("secret %s/%s has no token", namespace, cluster)
	}
	return printCredential(string(token))
}

// clusterName gives spec.cluster.config.clusterName of the client's ExecCredential.
func clusterName(execInfo string) (string, error) {
	var info clientauthenticationv1.ExecCredential
	if err := json.Unmarshal([]byte(execInfo), &info); err != nil {
		return "", fmt.Errorf("%s: %w", execInfoVariable, err)
	}
	if info.APIVersion != clientauthenticationv1.SchemeGroupVersion.String() {
		return "", fmt.Errorf("%s: unsupported version %q", execInfoVariable, info.APIVersion)
	}
	if info.Spec.Cluster == nil {
		return "", errors.New("no cluster information: set provideClusterInfo")
	}
	var config struct {
		ClusterName string `json:"clusterName"`
	}
	if raw := info.Spec.Cluster.Config.Raw; len(raw) > 0 {
		if err := json.Unmarshal(raw, &config); err != nil {
			return "", fmt.Errorf("spec.cluster.config: %w", err)
		}
	}
	if config.ClusterName == "" {
		return "", errors.New("spec.cluster.config has no clusterName")
	}
	return config.ClusterName, nil
}

// hubConfig is the pod's own where there is one, else that of KUBECONFIG.
func hubConfig() (*rest.Config, error) {
	if config, err := rest.InClusterConfig(); err == nil {
		return config, nil
	}
	return clientcmd.BuildConfigFromFlags("", os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
}

// hubNamespace is that of the kubeconfig's current context, else the pod's own, else "default".
func hubNamespace() string {
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	if namespace, _, err := config.Namespace(); err == nil && namespace != "" {
		return namespace
	}
	return metav1.NamespaceDefault
}

func printCredential(token string) error {
	return json.NewEncoder(os.Stdout).Encode(clientauthenticationv1.ExecCredential{
		TypeMeta: metav1.TypeMeta{
			APIVersion: clientauthenticationv1.SchemeGroupVersion.String(),
			Kind:       "ExecCredential",
		},
		Status: &clientauthenticationv1.ExecCredentialStatus{Token: token},
	})
}
