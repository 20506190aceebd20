// SPDX-License-Identifier: Apache-2.0

// The floor of the plugins that are written in Go.
package main

import "fmt"

func main() {
	fmt.Println("hello, world")
}
