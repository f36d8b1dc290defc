/** The part of a reusable workflow that callers see: the value of `on.workflow_call`. */

import { type DispatchInput, readInputs } from './dispatch-inputs.js'
import type { YamlValue } from './yaml-value.js'

export interface Callable {
  readonly inputs: readonly DispatchInput[]
  /** Names of the secrets that a call must have, in upper case. */
  readonly requiredSecrets: readonly string[]
  /** Texts with expressions by the names of the outputs. */
  readonly outputs: Readonly<Record<string, string>>
}

const OUTPUTS_MAX = 50

/** Reads what callers see; undefined if jobs cannot call the workflow. Throws FileFault. */
export function readCallable(file: YamlValue): Callable | undefined {
  const fields = file.map()
  const on = fields.get('on') ?? fields.get('true')
  if (on === undefined) return undefined
  const inputs = readInputs(on, 'workflow_call')
  if (inputs === undefined) return undefined
  const call = on.isMap ? on.map().get('workflow_call') : undefined
  const partOf = (key: string) => {
    const part = call === undefined || call.isNull ? undefined : call.map().get(key)
    return part === undefined || part.isNull ? [] : [...part.map()]
  }
  const outputs = partOf('outputs')
  if (outputs.length > OUTPUTS_MAX) call?.fail(`has more than ${OUTPUTS_MAX} outputs`)
  return {
    inputs,
    requiredSecrets: partOf('secrets').flatMap(([name, secret]) =>
      isRequired(secret) ? name.toUpperCase() : [],
    ),
    outputs: Object.fromEntries(
      outputs.map(([name, output]) => {
        const value = output.map().get('value')
        return [name, value?.text() ?? output.fail("has no 'value'")]
      }),
    ),
  }
}

function isRequired(secret: YamlValue): boolean {
  const required = secret.isNull ? undefined : secret.map().get('required')
  return required !== undefined && required.text() === 'true'
}
