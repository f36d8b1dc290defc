/** A page of the users who starred or watch a repository. */

import type { Reply } from '../../../conf/http.js'
import { listRelatedUsers, type UserRelation } from '../../../sql/repositories/stars-and-watches.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { countedUserObjects } from '../../objects/accounts/user-object.js'
import type { Context } from '../../request/context.js'
import { pageOf, pageReply } from '../paging.js'

interface RelatedUsersPage {
  readonly tie: UserRelation
  /** Path of the list, relative to the repository's path. */
  readonly path: string
  readonly query: { readonly page?: number; readonly limit?: number }
}

/** Returns a page of those related users whom the caller can see. */
export async function relatedUsersPage(
  context: Context,
  { repository, user, who }: Grants['repository'],
  { tie, path: name, query }: RelatedUsersPage,
): Promise<Reply> {
  const page = pageOf(query)
  const search = { tie, repositoryId: repository.id, viewer: viewerOf(who) }
  const { entries, total } = await listRelatedUsers(context.db, search, page)
  const objects = await countedUserObjects(context, entries, user)
  const path = `/repos/${repository.owner.name}/${repository.name}/${name}`
  return pageReply(context, objects, { path, page, total })
}
