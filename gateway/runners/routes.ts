/** Routes of the runner protocol. */

import type { AnyRoute, Route } from '../request/route.js'
import { PROTOCOL_PATH } from '../runner-protocol/procedures.js'
import { FETCH_TASK_ROUTE } from './fetch-task.js'
import { RUNNER_SURFACE, refusal } from './procedure-route.js'
import { REGISTRATION_ROUTES } from './register.js'
import { UPDATE_LOG_ROUTE } from './update-log.js'
import { UPDATE_STEP_SUMMARY_ROUTE } from './update-step-summary.js'
import { UPDATE_TASK_ROUTE } from './update-task.js'

/** Procedures of newer protocols, without which runners work. */
const unknown: Route<'open'> = {
  surface: RUNNER_SURFACE,
  method: 'POST',
  path: `${PROTOCOL_PATH}/{procedure...}`,
  access: { kind: 'open' },
  scopes: [],
  handle: (_context, { params }) =>
    refusal('unimplemented', `The procedure ${params['procedure']} does not exist here.`),
}

export const RUNNER_ROUTES: readonly AnyRoute[] = [
  ...REGISTRATION_ROUTES,
  FETCH_TASK_ROUTE,
  UPDATE_TASK_ROUTE,
  UPDATE_LOG_ROUTE,
  UPDATE_STEP_SUMMARY_ROUTE,
  unknown,
]
