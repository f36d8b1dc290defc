/** The ActionWorkflow of this API. */

import { type Static, Type } from 'typebox'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { API_PREFIX } from '../api-prefix.js'
import { TIME } from '../schema.js'
import { timeOf } from './run-words.js'

export const WORKFLOW = Type.Object(
  {
    id: Type.String({ description: 'name of the file' }),
    name: Type.String(),
    path: Type.String(),
    state: Type.String({ description: 'active or disabled_manually' }),
    created_at: TIME,
    updated_at: TIME,
    url: Type.String(),
    html_url: Type.String(),
    badge_url: Type.String(),
  },
  { $id: 'ActionWorkflow' },
)

export const WORKFLOWS = Type.Object(
  { total_count: Type.Integer(), workflows: Type.Array(WORKFLOW) },
  { $id: 'ActionWorkflowResponse' },
)

/** A workflow file on the default branch. */
export interface ShownWorkflow {
  readonly file: string
  /** Path within the repository. */
  readonly path: string
  readonly name: string
  readonly isDisabled: boolean
  /** Time of the newest commit of the branch, in place of the times of the file. */
  readonly changedAtMs: number
}

/** Returns a workflow of the repository. */
export function workflowObject(
  { settings }: Pick<Context, 'settings'>,
  { owner, name, defaultBranch }: Repository,
  workflow: ShownWorkflow,
): Static<typeof WORKFLOW> {
  const { baseUrl } = settings.http
  const place = `${owner.name}/${name}`
  const file = encodeURIComponent(workflow.file)
  const folder = workflow.path.slice(0, workflow.path.lastIndexOf('/'))
  const branch = encodeURIComponent(defaultBranch)
  const time = timeOf(workflow.changedAtMs)
  return {
    id: workflow.file,
    name: workflow.name,
    path: workflow.path,
    state: workflow.isDisabled ? 'disabled_manually' : 'active',
    created_at: time,
    updated_at: time,
    url: `${baseUrl}${API_PREFIX}/repos/${place}/actions/workflows/${file}`,
    html_url: `${baseUrl}/${place}/src/branch/${branch}/${folder}/${file}`,
    badge_url: `${baseUrl}/${place}/actions/workflows/${file}/badge.svg?branch=${branch}`,
  }
}
