/** Bodies that open, edit or merge a pull request. */

import { type Static, Type } from 'typebox'

const REFERENCE_CHARACTERS_MAX = 1_100

const SHARED = {
  body: Type.Optional(Type.String()),
  assignee: Type.Optional(Type.String()),
  assignees: Type.Optional(Type.Array(Type.String())),
  milestone: Type.Optional(Type.Integer()),
  labels: Type.Optional(Type.Array(Type.Integer())),
  due_date: Type.Optional(Type.String({ format: 'date-time' })),
  allow_maintainer_edit: Type.Optional(Type.Boolean()),
}

export const PULL_REVIEW_REQUEST_FIELDS = {
  reviewers: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
  team_reviewers: Type.Optional(Type.Array(Type.String(), { maxItems: 50 })),
}

const BRANCH = Type.String({ minLength: 1, maxLength: REFERENCE_CHARACTERS_MAX })

export const CREATE_PULL_REQUEST_OPTION = Type.Object(
  {
    title: Type.String({ minLength: 1 }),
    head: BRANCH,
    base: BRANCH,
    ...SHARED,
    ...PULL_REVIEW_REQUEST_FIELDS,
  },
  { $id: 'CreatePullRequestOption' },
)

export const EDIT_PULL_REQUEST_OPTION = Type.Object(
  {
    title: Type.Optional(Type.String()),
    base: Type.Optional(Type.String({ maxLength: REFERENCE_CHARACTERS_MAX })),
    state: Type.Optional(Type.Enum(['open', 'closed'])),
    unset_due_date: Type.Optional(Type.Boolean()),
    ...SHARED,
  },
  { $id: 'EditPullRequestOption' },
)

export type EditPullRequestOption = Static<typeof EDIT_PULL_REQUEST_OPTION>

/** Body that merges a pull request. Some field names begin with a capital, as in Gitea. */
export const MERGE_PULL_REQUEST_OPTION = Type.Object(
  {
    Do: Type.Optional(
      Type.Enum([
        '',
        'merge',
        'rebase',
        'rebase-merge',
        'squash',
        'fast-forward-only',
        'manually-merged',
      ]),
    ),
    MergeTitleField: Type.Optional(Type.String({ maxLength: 10_000 })),
    MergeMessageField: Type.Optional(Type.String({ maxLength: 500_000 })),
    MergeCommitID: Type.Optional(Type.String()),
    head_commit_id: Type.Optional(Type.String()),
    delete_branch_after_merge: Type.Optional(Type.Boolean()),
    force_merge: Type.Optional(Type.Boolean()),
    merge_when_checks_succeed: Type.Optional(Type.Boolean()),
  },
  { $id: 'MergePullRequestOption' },
)

export type MergePullRequestOption = Static<typeof MERGE_PULL_REQUEST_OPTION>
