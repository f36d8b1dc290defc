/** The secrets that the tasks of a run get. */

import { openInstanceSecret } from '../../conf/instance-secret.js'
import { mergeValues, scopesOfRepository } from '../../sql/runs/scoped-values.js'
import { secretSealContext } from '../actions/runs/put-values.js'
import type { Context } from '../request/context.js'
import type { RunOfRepository } from './task-context.js'

/**
 * Returns the secrets of a run by their names: those of the site, of the owner and of the
 * repository. A run whose commit is of a fork gets none: its author chooses what the jobs do. A
 * secret that was sealed with another key is left out and logged.
 */
export async function secretsOfRun(
  { db, log, settings }: Pick<Context, 'db' | 'log' | 'settings'>,
  { run, repository }: RunOfRepository,
): Promise<ReadonlyMap<string, string>> {
  if (run.isFromFork) return new Map()
  const sealed = await mergeValues(db, 'secrets', scopesOfRepository(repository))
  const secrets = new Map<string, string>()
  if (sealed.size === 0) return secrets
  const sealing = await openInstanceSecret(settings.data.dir)
  for (const [name, { scope, value }] of sealed) {
    try {
      secrets.set(name, sealing.unseal(value, secretSealContext({ scope, name })))
    } catch (error) {
      log.error({ secret: name, scope, error }, 'a secret of workflows cannot be opened')
    }
  }
  return secrets
}
