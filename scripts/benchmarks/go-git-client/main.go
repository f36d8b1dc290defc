// Client with go-git, as Go programs of CI use it: clones, fetches, pushes and lists refs.
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

// run takes `clone URL FOLDER`, `shallow-clone URL FOLDER`, `ls-remote URL`, `fetch FOLDER` or
// `push FOLDER`, which pushes the branch topic.
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
	case "fetch":
		repository, err := git.PlainOpen(args[0])
		if err != nil {
			return err
		}
		return repository.Fetch(&git.FetchOptions{})
	case "push":
		repository, err := git.PlainOpen(args[0])
		if err != nil {
			return err
		}
		topic := config.RefSpec("refs/heads/topic:refs/heads/topic")
		return repository.Push(&git.PushOptions{RefSpecs: []config.RefSpec{topic}})
	}
	return fmt.Errorf("unknown operation %q", operation)
}
