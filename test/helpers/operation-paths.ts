/** Paths of operations with values for their parameters. */

import type { AnyOperation } from '../../gateway/api/operation.js'

/** Default values of parameters. */
const VALUES: Readonly<Record<string, string>> = {
  owner: 'ada',
  username: 'ada',
  org: 'club',
  collaborator: 'bob',
  token: '1',
  id: '1',
  index: '1',
  position: '1',
  attachment_id: '1',
  topic: 'engines',
  archive: 'main.zip',
  filepath: 'README.md',
  branch: 'main',
  base: 'main',
  head: 'topic',
  basehead: 'a...b',
  sha: 'main',
  ref: 'main',
  tag: 'v1',
  diffType: 'diff',
  type: 'generic',
  name: 'tool',
  version: '1.0',
  repo_name: 'public',
  run: '1',
  attempt: '1',
  job_id: '1',
  artifact_id: '1',
  runner_id: '1',
  workflow_id: 'ci.yaml',
  user: 'ada',
  team: 'owners',
  template_owner: 'ada',
  template_repo: 'public',
  secretname: 'SECRET',
  variablename: 'VARIABLE',
  target: 'bob',
  task: 'sweep-runs',
  pageName: 'Home',
}

/** Returns a path below `/api/v1`; `values` have precedence over the default values. */
export function pathOf(
  { path }: Pick<AnyOperation, 'path'>,
  values: Readonly<Record<string, string>>,
): string {
  return path.replace(/\{(\w+)(?:\.\.\.|:[\w|]+)?\}/g, (_, name: string) => {
    const value = values[name] ?? VALUES[name]
    if (value === undefined) throw new Error(`no value for {${name}} of ${path}`)
    return value
  })
}
