/** The secrets that the jobs of a run get. */

import { openInstanceSecret } from '../../conf/instance-secret.js'
import { findCall } from '../../sql/runs/job-plans.js'
import type { RunJob } from '../../sql/runs/run-jobs.js'
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

/**
 * Returns the secrets of a job by their names: those of the run, or in a called workflow those that
 * its call names.
 */
export async function secretsOfJob(
  context: Pick<Context, 'db' | 'log' | 'settings'>,
  of: RunOfRepository,
  { planId }: Pick<RunJob, 'planId'>,
): Promise<ReadonlyMap<string, string>> {
  const call = planId === undefined ? undefined : await findCall(context.db, planId)
  if (call === undefined) return await secretsOfRun(context, of)
  const ofCaller = await secretsOfJob(context, of, { planId: call.callerPlanId })
  if (call.secrets === 'inherit') return ofCaller
  const secrets = new Map<string, string>()
  for (const [name, source] of Object.entries(call.secrets)) {
    const value = 'text' in source ? source.text : ofCaller.get(source.secret)
    if (value !== undefined) secrets.set(name, value)
  }
  return secrets
}
