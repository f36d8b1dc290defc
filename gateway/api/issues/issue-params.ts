/** Descriptions of the path parameters of issues. */

export const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

export const ISSUE_PARAMS = { ...REPOSITORY_PARAMS, index: 'index of the issue' }
