/** Subscriber that makes drafts of releases whose tag is deleted, and publishes them with it. */

import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { hasReleases, listReleasesOfTags, updateRelease } from '../../../sql/releases/releases.js'
import type { Context } from '../../request/context.js'
import type { RefsChanged, Subscriber } from '../../request/events.js'
import { repositoryPathOf } from '../../request/repository-path.js'

const PREFIX = 'refs/tags/'

/** Creates the subscriber. As in Gitea, neither change is an event of the release. */
export function createReleaseSubscriber(context: Context): Subscriber {
  return {
    async handle(event) {
      if (event.kind === 'refs_changed') await followTags(context, event)
    },
    isInterested: async (place) =>
      place.kind === 'refs_changed' && (await hasReleases(context.db, place.repository.id)),
  }
}

async function followTags(
  context: Context,
  { repository, changes }: Pick<RefsChanged, 'repository' | 'changes'>,
): Promise<void> {
  const tags = changes.flatMap(({ name }) =>
    name.startsWith(PREFIX) ? name.slice(PREFIX.length) : [],
  )
  const releases = await listReleasesOfTags(context.db, repository.id, tags)
  if (releases.length === 0) return
  await context.objects.use(repositoryPathOf(context, repository), async (objects) => {
    for (const release of releases) {
      const isDraft = !(await hasTag(objects, release.tagName))
      if (isDraft !== release.isDraft) await updateRelease(context.db, release, { isDraft })
    }
  })
}

/**
 * Returns true if the tag exists now: an event that is published again after a failure may be older
 * than the last change of its tag.
 */
async function hasTag(objects: ObjectReader, name: string): Promise<boolean> {
  return (await objects.read(PREFIX + name, 0)) !== undefined
}
