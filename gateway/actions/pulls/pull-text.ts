/** Changes of a pull request as text: one diff, or a patch for each commit. */

import { readDiff } from '../../../cgi/objects/diff.js'
import type { Reply } from '../../../conf/http.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import type { Call } from '../../request/route.js'
import { pullOf, rangeOf } from './find-pull.js'

/** Replies in the format `{diffType}`. Throws `not_found`, and `payload_too_large` if too large. */
export async function pullTextReply(
  context: Context,
  { request, grant, params }: Call<'repository'>,
  { hasBinary }: { readonly hasBinary: boolean },
): Promise<Reply> {
  const state = await pullOf(context, grant, params)
  const body = await readDiff(context.git, repositoryPathOf(context, grant.repository), {
    ...rangeOf(state),
    format: params['diffType'] === 'patch' ? 'patch' : 'diff',
    hasBinary,
    signal: request.signal,
  })
  return { status: 200, headers: HEADERS, body }
}

const HEADERS: NonNullable<Reply['headers']> = [
  ['Content-Type', 'text/plain; charset=utf-8'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Cache-Control', 'max-age=0, private, must-revalidate, no-transform'],
]
