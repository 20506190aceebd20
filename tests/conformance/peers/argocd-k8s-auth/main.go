// SPDX-License-Identifier: Apache-2.0

// argocd-k8s-auth is one of the names of Argo CD's only program, which cannot be built from its module,
// because that replaces a module by a folder beside it. This program has only the same command.
package main

import (
	"os"

	"github.com/argoproj/argo-cd/v3/cmd/argocd-k8s-auth/commands"
)

func main() {
	if err := commands.NewCommand().Execute(); err != nil {
		os.Exit(1)
	}
}
