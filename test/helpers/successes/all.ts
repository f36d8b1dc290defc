/** One request of each operation that succeeds, by operationId. */

import type { Town } from '../gateway-with-users.js'
import type { Answer } from '../requests.js'
import { successesOfAccounts } from './accounts.js'
import { successesOfAdmins } from './admins.js'
import { successesOfGitWriting } from './git-writing.js'
import { successesOfHooks } from './hooks.js'
import { successesOfIssues } from './issues.js'
import { successesOfMigrations } from './migrations.js'
import { successesOfPackages } from './packages.js'
import { successesOfPeople } from './people.js'
import { successesOfProtections } from './protections.js'
import { successesOfPulls } from './pulls.js'
import { successesOfReading } from './reading.js'
import { successesOfReleases } from './releases.js'
import { successesOfSocial } from './social.js'

/** Asks them all of a town that nobody has used. */
export async function successes(town: Town): Promise<Readonly<Record<string, Answer>>> {
  return {
    ...(await successesOfAccounts(town)),
    ...(await successesOfGitWriting(town)),
    ...(await successesOfIssues(town)),
    ...(await successesOfHooks(town)),
    ...(await successesOfMigrations(town)),
    ...(await successesOfAdmins(town)),
    ...(await successesOfPackages(town)),
    ...(await successesOfProtections(town)),
    ...(await successesOfReading(town)),
    ...(await successesOfPeople(town)),
    ...(await successesOfReleases(town)),
    ...(await successesOfPulls(town)),
    ...(await successesOfSocial(town)),
    repoDelete: await town.as('ada', 'DELETE', '/repos/ada/r'),
  }
}
