// Client of the benchmark `fleet`: clones and lists refs with go-git, as Go programs of CI do.
package main

import (
	"fmt"
	"os"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/storage/memory"
)

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run takes `clone URL FOLDER`, `shallow-clone URL FOLDER` or `ls-remote URL`.
func run(operation string, args []string) error {
	switch operation {
	case "clone", "shallow-clone":
		options := &git.CloneOptions{URL: args[0]}
		if operation == "shallow-clone" {
			options.Depth = 1
			options.SingleBranch = true
			options.ReferenceName = "refs/heads/main"
		}
		_, err := git.PlainClone(args[1], true, options)
		return err
	case "ls-remote":
		remote := git.NewRemote(memory.NewStorage(), &config.RemoteConfig{URLs: args})
		_, err := remote.List(&git.ListOptions{})
		return err
	}
	return fmt.Errorf("unknown operation %q", operation)
}
