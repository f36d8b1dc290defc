// Creates a user and a project by Gitea's own Go SDK and reads all of it back.
// Usage: GITEA_TOKEN=<token of an administrator> project URL

package main

import (
	"fmt"
	"os"
	"strings"

	"code.gitea.io/sdk/gitea"
)

const (
	owner    = "gopher"
	password = "a long password"
	repo     = "tool"
)

// Returns the value of a call. Prints the error and ends the program if the call failed.
func must[T any](value T, response *gitea.Response, err error) T {
	if err != nil {
		status := "no response"
		if response != nil && response.Response != nil {
			request := response.Request
			status = fmt.Sprint(request.Method, " ", request.URL, " ", response.Status)
		}
		fail("%s: %v", status, err)
	}
	return value
}

// Ends the program if a value that was read back differs from the one that was written.
func expect[T comparable](name string, found, wanted T) {
	if found != wanted {
		fail("%s: found %v, wanted %v", name, found, wanted)
	}
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func main() {
	url := os.Args[1]
	admin := client(url, gitea.SetToken(os.Getenv("GITEA_TOKEN")))
	created := createUser(admin)
	user := client(url, gitea.SetBasicAuth(owner, password))
	token := must(user.CreateAccessToken(gitea.CreateAccessTokenOption{
		Name:   "sdk",
		Scopes: []gitea.AccessTokenScope{"write:repository", "write:issue", "read:user"},
	}))
	user = client(url, gitea.SetToken(token.Token))
	expect("own id", must(user.GetMyUserInfo()).ID, created.ID)
	createRepository(user)
	createIssueData(user)
	mergePullRequest(user, admin)
	createRelease(user)
	createHook(user)
	fmt.Println("complete")
}

func client(url string, credentials gitea.ClientOption) *gitea.Client {
	made, err := gitea.NewClient(url, credentials)
	return must(made, nil, err)
}

func createUser(admin *gitea.Client) *gitea.User {
	keepPassword := false
	created := must(admin.AdminCreateUser(gitea.CreateUserOption{
		Username: owner, Email: owner + "@example.test", Password: password,
		MustChangePassword: &keepPassword,
	}))
	found := must(admin.GetUserInfo(owner))
	expect("user", found.UserName, owner)
	expect("user id", found.ID, created.ID)
	return created
}

func createRepository(user *gitea.Client) {
	created := must(user.CreateRepo(gitea.CreateRepoOption{
		Name: repo, Description: "A tool", Private: true, AutoInit: true, DefaultBranch: "main",
	}))
	found := must(user.GetRepo(owner, repo))
	expect("repository id", found.ID, created.ID)
	expect("description", found.Description, "A tool")
	expect("visibility", found.Private, true)
	expect("default branch", found.DefaultBranch, "main")
	expect("permission", found.Permissions.Admin, true)

	must(user.CreateFile(owner, repo, "docs/a file.txt", gitea.CreateFileOptions{
		FileOptions: gitea.FileOptions{Message: "Describe the tool", BranchName: "main"},
		Content:     "b25lCg==",
	}))
	file := must(user.GetFile(owner, repo, "main", "docs/a file.txt"))
	expect("file", string(file), "one\n")
	must(user.CreateBranch(owner, repo, gitea.CreateBranchOption{
		BranchName: "feature", OldBranchName: "main",
	}))
	contents := must(user.GetContents(owner, repo, "feature", "docs/a file.txt"))
	updated := must(user.UpdateFile(owner, repo, "docs/a file.txt", gitea.UpdateFileOptions{
		FileOptions: gitea.FileOptions{Message: "Count further", BranchName: "feature"},
		SHA:         contents.SHA, Content: "dHdvCg==",
	}))
	branch := must(user.GetRepoBranch(owner, repo, "feature"))
	expect("branch", branch.Commit.ID, updated.Commit.SHA)
}

func createIssueData(user *gitea.Client) {
	label := must(user.CreateLabel(owner, repo, gitea.CreateLabelOption{
		Name: "bug", Color: "#ee0701", Description: "A fault",
	}))
	found := must(user.GetRepoLabel(owner, repo, label.ID))
	expect("label", found.Name+" "+found.Color+" "+found.Description, "bug ee0701 A fault")
	milestone := must(user.CreateMilestone(owner, repo, gitea.CreateMilestoneOption{
		Title: "v1", Description: "The first", State: gitea.StateOpen,
	}))
	expect("milestone", must(user.GetMilestone(owner, repo, milestone.ID)).Title, "v1")
	must(user.CreateIssue(owner, repo, gitea.CreateIssueOption{
		Title: "It breaks", Labels: []int64{label.ID}, Milestone: milestone.ID,
	}))
	issue := must(user.GetIssue(owner, repo, 1))
	expect("label of the issue", issue.Labels[0].ID, label.ID)
	expect("milestone of the issue", issue.Milestone.ID, milestone.ID)
}

func mergePullRequest(user, admin *gitea.Client) {
	must(user.CreatePullRequest(owner, repo, gitea.CreatePullRequestOption{
		Head: "feature", Base: "main", Title: "Count further", Body: "To two",
	}))
	pull := must(user.GetPullRequest(owner, repo, 2))
	expect("title", pull.Title, "Count further")
	expect("head", pull.Head.Name, "feature")
	expect("mergeable", pull.Mergeable, true)
	files := must(user.ListPullRequestFiles(owner, repo, 2, gitea.ListPullRequestFilesOptions{}))
	expect("changed file", files[0].Filename+" "+files[0].Status, "docs/a file.txt changed")

	must(admin.CreatePullReview(owner, repo, 2, gitea.CreatePullReviewOptions{
		State: gitea.ReviewStateApproved, Body: "Right",
		Comments: []gitea.CreatePullReviewComment{
			{Path: "docs/a file.txt", Body: "Two is enough", NewLineNum: 1},
		},
	}))
	reviews := must(user.ListPullReviews(owner, repo, 2, gitea.ListPullReviewsOptions{}))
	expect("reviews", len(reviews), 1)
	expect("review", string(reviews[0].State)+" "+reviews[0].Body, "APPROVED Right")
	comments := must(user.ListPullReviewComments(owner, repo, 2, reviews[0].ID))
	expect("comment of the review", comments[0].Body, "Two is enough")

	merged := must(user.MergePullRequest(owner, repo, 2, gitea.MergePullRequestOption{
		Style: gitea.MergeStyleSquash, Title: "Count to two", HeadCommitId: pull.Head.Sha,
	}))
	expect("merge", merged, true)
	expect("is merged", must(user.IsPullRequestMerged(owner, repo, 2)), true)
	pull = must(user.GetPullRequest(owner, repo, 2))
	expect("state", pull.State, gitea.StateClosed)
	branch := must(user.GetRepoBranch(owner, repo, "main"))
	expect("merge commit", branch.Commit.ID, *pull.MergedCommitID)
	expect("message", strings.Split(branch.Commit.Message, "\n")[0], "Count to two")
	expect("merged file", string(must(user.GetFile(owner, repo, "", "docs/a file.txt"))), "two\n")
}

func createRelease(user *gitea.Client) {
	release := must(user.CreateRelease(owner, repo, gitea.CreateReleaseOption{
		TagName: "v1.0.0", Target: "main", Title: "One", Note: "Counts to two",
	}))
	attachment := must(user.CreateReleaseAttachment(
		owner, repo, release.ID, strings.NewReader("the tool\n"), "tool.txt",
	))
	release = must(user.GetRelease(owner, repo, release.ID))
	expect("release", release.TagName+" "+release.Title+" "+release.Note, "v1.0.0 One Counts to two")
	expect("attachments", len(release.Attachments), 1)
	found := must(user.GetReleaseAttachment(owner, repo, release.ID, attachment.ID))
	expect("attachment", found.Name, "tool.txt")
	expect("size of the attachment", found.Size, int64(9))
	expect("tag", must(user.GetTag(owner, repo, "v1.0.0")).Name, "v1.0.0")
}

func createHook(user *gitea.Client) {
	hook := must(user.CreateRepoHook(owner, repo, gitea.CreateHookOption{
		Type:   gitea.HookTypeGitea,
		Config: map[string]string{"url": "https://hooks.example/hook", "content_type": "json"},
		Events: []string{"push", "pull_request"}, BranchFilter: "main", Active: true,
	}))
	found := must(user.GetRepoHook(owner, repo, hook.ID))
	expect("hook", found.Config["url"], "https://hooks.example/hook")
	expect("branches of the hook", found.BranchFilter, "main")
	expect("state of the hook", found.Active, true)
	pushes := false
	for _, event := range found.Events {
		pushes = pushes || event == "push"
	}
	expect("events of the hook", pushes, true)
}
