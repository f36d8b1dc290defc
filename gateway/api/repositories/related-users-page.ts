/** A page of the people who like a repository, or who want to hear of it. */

import type { Reply } from '../../../conf/http.js'
import { listRelatedUsers, type UserRelation } from '../../../sql/repositories/stars-and-watches.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { userObject } from '../../objects/accounts/user-object.js'
import type { Context } from '../../request/context.js'
import { pageOf, pageReply } from '../paging.js'

interface RelatedUsersPage {
  readonly tie: UserRelation
  /** Below the repository. */
  readonly path: string
  readonly query: { readonly page?: number; readonly limit?: number }
}

/** Those of whom the caller may know. */
export async function relatedUsersPage(
  context: Context,
  { repository, user, who }: Grants['repository'],
  { tie, path: name, query }: RelatedUsersPage,
): Promise<Reply> {
  const page = pageOf(query)
  const search = { tie, repositoryId: repository.id, viewer: viewerOf(who) }
  const { entries, total } = await listRelatedUsers(context.db, search, page)
  const objects = entries.map((entry) => userObject(context, entry, user))
  const path = `/repos/${repository.owner.name}/${repository.name}/${name}`
  return pageReply(context, objects, { path, page, total })
}
