/** Successful requests of all operations, by operationId. */

import type { GatewayWithUsers } from '../gateway-with-users.js'
import type { Answer } from '../requests.js'
import { successesOfAccounts } from './accounts.js'
import { successesOfAdmins } from './admins.js'
import { successesOfGitWriting } from './git-writing.js'
import { successesOfGpgKeys } from './gpg-keys.js'
import { successesOfHooks } from './hooks.js'
import { successesOfIssues } from './issues.js'
import { successesOfMigrations } from './migrations.js'
import { successesOfPackages } from './packages.js'
import { successesOfPeople } from './people.js'
import { successesOfProtections } from './protections.js'
import { successesOfPulls } from './pulls.js'
import { successesOfReading } from './reading.js'
import { successesOfReleases } from './releases.js'
import { successesOfRuns } from './runs.js'
import { successesOfSocial } from './social.js'
import { successesOfValues } from './values.js'
import { successesOfWikis } from './wiki.js'

/** Sends all requests to an unused gateway; returns the replies. */
export async function successes(
  gateway: GatewayWithUsers,
): Promise<Readonly<Record<string, Answer>>> {
  return {
    ...(await successesOfAccounts(gateway)),
    ...(await successesOfGitWriting(gateway)),
    ...(await successesOfIssues(gateway)),
    ...(await successesOfGpgKeys(gateway)),
    ...(await successesOfHooks(gateway)),
    ...(await successesOfMigrations(gateway)),
    ...(await successesOfAdmins(gateway)),
    ...(await successesOfPackages(gateway)),
    ...(await successesOfProtections(gateway)),
    ...(await successesOfReading(gateway)),
    ...(await successesOfPeople(gateway)),
    ...(await successesOfReleases(gateway)),
    ...(await successesOfPulls(gateway)),
    ...(await successesOfRuns(gateway)),
    ...(await successesOfSocial(gateway)),
    ...(await successesOfValues(gateway)),
    ...(await successesOfWikis(gateway)),
    repoDelete: await gateway.as('ada', 'DELETE', '/repos/ada/r'),
  }
}
