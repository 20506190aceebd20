// SPDX-License-Identifier: Apache-2.0

// The kubectl of an older minor version. Its main is upstream's, but built from
// the k8s.io/kubectl module, which needs none of k8s.io/kubernetes.
package main

import (
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
