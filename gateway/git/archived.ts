/** Refusal of pushes to archived repositories. */

import { Failure } from '../../conf/failures.js'
import type { Grants } from '../auth/authorize.js'

/** Throws `forbidden` if the repository is archived. */
export function refuseArchived({ repository }: Pick<Grants['repository'], 'repository'>): void {
  if (!repository.isArchived) return
  const fullName = `${repository.owner.name}/${repository.name}`
  throw new Failure('forbidden', `${fullName} is archived: it can be read, not pushed to.`)
}
