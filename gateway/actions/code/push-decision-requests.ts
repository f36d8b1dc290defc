/** Decisions about pushes to repositories with protection rules, which a hook of git requests. */

import {
  expectPushDecisionRequest,
  type PushAnswer,
  type PushDecisionRequest,
  type PushDecisionSetup,
} from '../../../cgi/refs/push-decision-request.js'
import { hasPushRules } from '../../../sql/code/branch-protections.js'
import type { Context } from '../../request/context.js'
import type { RefChangeRequest } from './branch-judge.js'
import { checkRefChanges } from './ref-judge.js'

export type PushToJudge = Pick<RefChangeRequest, 'repository' | 'path' | 'pusher'>

const NO_RULES: PushDecisionSetup = { config: [], variables: {}, async close() {} }

/**
 * Returns the options with which git requests a decision about a push before it accepts it. They
 * are empty if the repository has no rules: a rule that is created during the push does not apply.
 */
export async function openPushDecisionRequest(
  context: Context,
  push: PushToJudge,
): Promise<PushDecisionSetup> {
  const { id, isWiki } = push.repository
  if (isWiki || !(await hasPushRules(context.db, id))) return NO_RULES
  return await expectPushDecisionRequest(context.git, {
    dataDir: context.settings.data.dir,
    path: push.path,
    decide: (request) => answer(context, push, request),
  })
}

async function answer(
  context: Context,
  push: PushToJudge,
  request: PushDecisionRequest,
): Promise<PushAnswer> {
  try {
    return await checkRefChanges(context, { ...push, ...request })
  } catch (error) {
    context.log.warn(
      { error, path: push.path },
      'a push was refused, because its protection rules could not be checked',
    )
    return ['The protection rules could not be checked. Try again.']
  }
}
