/** The ChangedFile of this API: one file that a pull request changes. */

import { type Static, Type } from 'typebox'
import type { ChangedFile } from '../../../cgi/objects/diff.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { Context } from '../../request/context.js'
import { omissible } from '../schema.js'
import { addressesOf } from './commit-json.js'

export const CHANGED_FILE = Type.Object(
  {
    filename: Type.String(),
    previous_filename: omissible(Type.String()),
    status: Type.String(),
    additions: Type.Integer(),
    deletions: Type.Integer(),
    changes: Type.Integer(),
    html_url: Type.String(),
    contents_url: Type.String(),
    raw_url: Type.String(),
  },
  { $id: 'ChangedFile' },
)

/** Returns a changed file, with links to its content at a commit. */
export function changedFileObject(
  context: Context,
  repository: Repository,
  { file, commitId }: { readonly file: ChangedFile; readonly commitId: string },
): Static<typeof CHANGED_FILE> {
  const { api, html } = addressesOf(context, repository)
  const path = file.path.split('/').map(encodeURIComponent).join('/')
  return {
    filename: file.path,
    ...(file.formerPath === undefined ? {} : { previous_filename: file.formerPath }),
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    html_url: `${html}/src/commit/${commitId}/${path}`,
    contents_url: `${api}/contents/${path}?ref=${commitId}`,
    raw_url: `${html}/raw/commit/${commitId}/${path}`,
  }
}
