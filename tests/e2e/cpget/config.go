// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clientcmdlatest "k8s.io/client-go/tools/clientcmd/api/latest"
	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"
)

// Extension names of the client authentication API and of KEP-4322.
const (
	execConfigExtension     = "client.authentication.k8s.io/exec"
	additionalArgsExtension = "clusterprofiles.multicluster.x-k8s.io/exec/additional-args"
)

type mapping struct {
	Providers []provider `json:"providers"`
}

type provider struct {
	Name                        string                   `json:"name"`
	ExecConfig                  *clientcmdapi.ExecConfig `json:"execConfig"`
	ProfileSourcedCLIArgsPolicy string                   `json:"profileSourcedCLIArgsPolicy"`
	ProfileSourcedEnvVarsPolicy string                   `json:"profileSourcedEnvVarsPolicy"`
}

type clusterProfile struct {
	metav1.ObjectMeta `json:"metadata"`

	Status struct {
		AccessProviders     []accessProvider `json:"accessProviders"`
		CredentialProviders []accessProvider `json:"credentialProviders"`
	} `json:"status"`
}

type accessProvider struct {
	Name    string              `json:"name"`
	Cluster clientcmdv1.Cluster `json:"cluster"`
}

func loadConfig(mappingFile, profileFile string) (*rest.Config, error) {
	var m mapping
	if data, err := os.ReadFile(mappingFile); err != nil {
		return nil, err
	} else if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", mappingFile, err)
	}

	var profile clusterProfile
	if data, err := os.ReadFile(profileFile); err != nil {
		return nil, err
	} else if err := yaml.Unmarshal(data, &profile); err != nil {
		return nil, fmt.Errorf("%s: %w", profileFile, err)
	}

	chosen, cluster, err := choose(m, profile)
	if err != nil {
		return nil, err
	}
	return buildConfig(chosen, cluster)
}

// choose takes the first provider of the mapping that the profile offers. Under
// the same name, accessProviders wins over the deprecated credentialProviders.
func choose(m mapping, profile clusterProfile) (provider, clientcmdv1.Cluster, error) {
	offers := slices.Concat(profile.Status.AccessProviders, profile.Status.CredentialProviders)
	for _, p := range m.Providers {
		for _, offer := range offers {
			if offer.Name == p.Name {
				return p, offer.Cluster, nil
			}
		}
	}
	return provider{}, clientcmdv1.Cluster{}, fmt.Errorf(
		"the ClusterProfile %q offers no provider of the mapping", profile.Name)
}

func buildConfig(p provider, cluster clientcmdv1.Cluster) (*rest.Config, error) {
	if p.ExecConfig == nil {
		return nil, fmt.Errorf("the provider %q has no execConfig", p.Name)
	}
	exec := p.ExecConfig.DeepCopy()
	exec.InteractiveMode = clientcmdapi.NeverExecInteractiveMode
	if err := addProfileArgs(exec, p, cluster); err != nil {
		return nil, err
	}

	// client-go hands the extension to the plugin only in its internal form.
	internal := clientcmdapi.NewCluster()
	if err := clientcmdlatest.Scheme.Convert(&cluster, internal, nil); err != nil {
		return nil, err
	}
	if extension, ok := internal.Extensions[execConfigExtension]; ok {
		exec.Config = extension
	}

	config := &rest.Config{
		Host:               cluster.Server,
		DisableCompression: cluster.DisableCompression,
		ExecProvider:       exec,
		TLSClientConfig: rest.TLSClientConfig{
			CAData:     cluster.CertificateAuthorityData,
			ServerName: cluster.TLSServerName,
			Insecure:   cluster.InsecureSkipTLSVerify,
		},
	}
	if cluster.ProxyURL != "" {
		proxy, err := url.Parse(cluster.ProxyURL)
		if err != nil {
			return nil, err
		}
		config.Proxy = http.ProxyURL(proxy)
	}
	return config, nil
}

func addProfileArgs(exec *clientcmdapi.ExecConfig, p provider, cluster clientcmdv1.Cluster) error {
	if policy := p.ProfileSourcedEnvVarsPolicy; policy != "" && policy != "Ignore" {
		return fmt.Errorf("profileSourcedEnvVarsPolicy %q is not supported", policy)
	}
	switch p.ProfileSourcedCLIArgsPolicy {
	case "", "Ignore":
		return nil
	case "Append":
	default:
		return fmt.Errorf("unknown profileSourcedCLIArgsPolicy %q", p.ProfileSourcedCLIArgsPolicy)
	}
	for _, extension := range cluster.Extensions {
		if extension.Name != additionalArgsExtension {
			continue
		}
		var args []string
		if err := json.Unmarshal(extension.Extension.Raw, &args); err != nil {
			return fmt.Errorf("%s: %w", additionalArgsExtension, err)
		}
		exec.Args = append(exec.Args, args...)
	}
	return nil
}
