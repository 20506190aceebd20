// SPDX-License-Identifier: Apache-2.0

// The minimum cost of a plugin that is written in Go.
package main

import "fmt"

func main() {
	fmt.Println("hello, world")
}
