/** Objects of another server are converted by our rules, or refused with their id. */

import t from 'tap'
import { RemoteError } from '../../../cgi/transfer/remote.js'
import {
  importedComment,
  importedIssue,
  importedLabel,
  importedMilestone,
  importedPull,
  importedRelease,
} from '../../../gateway/imports/gitea-objects.js'

const times = { created_at: '2020-01-02T03:04:05Z', updated_at: '2020-01-02T05:04:05+02:00' }
const CREATED = Date.parse('2020-01-02T03:04:05Z')
const issue = { id: 9, number: 3, title: ' Title ', state: 'open' as const, ...times }
const branch = (label: string, repo_id = 5) => ({ label, ref: label, repo_id })
const pull = { ...issue, base: branch('main'), head: branch('topic') }

t.test('times are kept, and users are recorded by their names at the source', async (t) => {
  const eve = { id: 4, login: 'eve\u0000\u202e' }
  t.match(importedIssue({ ...issue, user: eve, closed_at: times.created_at }), {
    number: 3,
    title: 'Title',
    content: '',
    createdAtMs: CREATED,
    updatedAtMs: CREATED,
    originalAuthor: { name: 'eve\u202e', id: 4 },
    closedAtMs: undefined,
    labelIds: [],
  })
  const older = { ...issue, user: eve, original_author: 'zoe', original_author_id: 8 }
  t.match(importedIssue(older).originalAuthor, { name: 'zoe', id: 8 })
  t.match(importedIssue({ ...issue, state: 'closed' }), { closedAtMs: CREATED })
  const never = { due_on: '0001-01-01T00:00:00Z', updated_at: '1970-01-01T00:00:00Z' }
  t.match(importedMilestone({ id: 1, title: 'm', state: 'open', ...never }), {
    dueAtMs: undefined,
    updatedAtMs: 0,
  })
})

t.test('pull requests from another repository and merged ones are converted', async (t) => {
  const fork = { ...pull, head: branch('main', 6), merge_base: 'not an id' }
  t.match(importedPull(fork).pull, { isHeadHere: false, headBranch: 'main', mergeBase: '' })
  t.match(importedPull({ ...pull, head: { label: 'x', ref: 'x' } }).pull, { isHeadHere: false })
  const merge_commit_sha = 'a'.repeat(40)
  t.match(importedPull({ ...pull, merged: true, merge_commit_sha }), {
    state: 'closed',
    closedAtMs: CREATED,
    pull: { isHeadHere: true, mergedAtMs: CREATED, mergeCommit: merge_commit_sha },
  })
  t.match(importedPull({ ...pull, merge_commit_sha }).pull, { mergeCommit: undefined })
})

t.test('the issue number of a comment is the end of its address', async (t) => {
  const comment = { id: 1, body: 'c', ...times }
  const issue_url = 'http://elsewhere.test/x/y/issues/12'
  t.match(importedComment({ ...comment, issue_url }), { issueNumber: 12, content: 'c' })
  const pull_request_url = 'http://elsewhere.test/x/y/pulls/13'
  t.match(importedComment({ ...comment, issue_url: '', pull_request_url }), { issueNumber: 13 })
})

t.test('an object that breaks a rule is refused with its kind and id', async (t) => {
  const label = { id: 7, name: 'bug', color: '#fff' }
  t.match(importedLabel(label), { id: 7, name: 'bug', color: 'ffffff' })
  const refused = (work: () => unknown, message: RegExp) => {
    t.throws(work, { message })
    t.throws(work, RemoteError)
  }
  refused(() => importedLabel({ ...label, color: 'red"><script>' }), /^the label 7 of .*Color/)
  refused(() => importedLabel({ ...label, name: 'a\nb' }), /^the label 7 /)
  refused(() => importedIssue({ ...issue, title: 'x'.repeat(256) }), /^the issue 3 .*255/)
  refused(() => importedIssue({ ...issue, created_at: 'yesterday' }), /^the issue 3 .*RFC 3339/)
  for (const name of ['../x', 'a b', '-x', 'x\u0000', '']) {
    refused(() => importedPull({ ...pull, head: branch(name) }), /^the pull request 3 /)
    const release = { id: 2, tag_name: name, ...times }
    refused(() => importedRelease(release), /^the release 2 .*tag name/)
  }
  for (const issue_url of ['', 'http://x/issues/', 'http://x/issues/0', 'http://x/issues/1?x']) {
    refused(() => importedComment({ id: 6, issue_url, ...times }), /^the comment 6 /)
  }
})
