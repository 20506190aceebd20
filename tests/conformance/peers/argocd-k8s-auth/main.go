// SPDX-License-Identifier: Apache-2.0

// argocd-k8s-auth is one of the names of Argo CD's only program, which is not built from its module:
// that replaces a module by a folder beside it. This has the same command alone.
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
