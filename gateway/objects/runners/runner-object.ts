/** The ActionRunner of this API, and the registration token. */

import { type Static, Type } from 'typebox'
import type { SeenRunner } from '../../actions/runners/manage-runners.js'

const LABEL = Type.Object(
  { id: Type.Integer(), name: Type.String(), type: Type.String() },
  { $id: 'ActionRunnerLabel' },
)

export const RUNNER = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    status: Type.String({ description: 'online or offline' }),
    busy: Type.Boolean(),
    disabled: Type.Boolean(),
    ephemeral: Type.Boolean(),
    labels: Type.Array(LABEL),
  },
  { $id: 'ActionRunner' },
)

export const RUNNERS = Type.Object(
  { runners: Type.Array(RUNNER), total_count: Type.Integer() },
  { $id: 'ActionRunnersResponse' },
)

export const EDIT_RUNNER_OPTION = Type.Object(
  { disabled: Type.Boolean() },
  { $id: 'EditActionRunnerOption' },
)

export const REGISTRATION_TOKEN = Type.Object(
  { token: Type.String() },
  { $id: 'RegistrationToken' },
)

/** Returns a runner. */
export function runnerObject(runner: SeenRunner): Static<typeof RUNNER> {
  const { id, name, isOnline, isBusy, isDisabled, isEphemeral, labels } = runner
  return {
    id,
    name,
    status: isOnline ? 'online' : 'offline',
    busy: isBusy,
    disabled: isDisabled,
    ephemeral: isEphemeral,
    labels: labels.map((name, at) => ({ id: at + 1, name, type: 'custom' })),
  }
}
