/** Reads the file of an action, `action.yml` or `action.yaml`. */

import { parseYaml, type YamlValue } from '../workflows/yaml-value.js'
import { JobFault } from './job-fault.js'
import { fieldOf, readStep, type StepFile, type Texts, textOf } from './step-file.js'

/** Input that an action declares. */
export interface ActionInput {
  readonly name: string
  readonly isRequired: boolean
  /** Value if none is given, in which expressions are not evaluated yet. */
  readonly fallback: string | undefined
}

/** An action that consists of steps. */
export interface CompositeAction {
  readonly using: 'composite'
  readonly inputs: readonly ActionInput[]
  readonly steps: readonly StepFile[]
  /** Outputs, in which expressions are not evaluated yet. */
  readonly outputs: Texts
}

/** An action that Node executes. */
export interface NodeAction {
  readonly using: 'node'
  readonly inputs: readonly ActionInput[]
  /** Paths of scripts in the folder of the action. */
  readonly main: string
  readonly pre: string | undefined
  readonly post: string | undefined
  /** Conditions of `pre` and `post`. */
  readonly preIf: string
  readonly postIf: string
}

/** An action that this runner executes. */
export type ActionFile = CompositeAction | NodeAction

/** Versions of Node that actions name; the runner has one version, which executes all of them. */
const NODES = ['node12', 'node16', 'node20', 'node24']

const STEPS_MAX = 100

/** Reads the text of the file. Throws FileFault, or JobFault for another kind of action. */
export function readActionFile(text: string): ActionFile {
  const file = parseYaml(text)
  const runs = fieldOf(file, 'runs') ?? file.fail("has no 'runs'")
  const using = textOf(runs, 'using') ?? runs.fail("has no 'using'")
  const inputs = [...(fieldOf(file, 'inputs')?.map() ?? [])].map(readInput)
  if (using === 'composite') {
    return { using, inputs, steps: readSteps(runs), outputs: readOutputs(file) }
  }
  if (NODES.includes(using)) {
    return {
      using: 'node',
      inputs,
      main: textOf(runs, 'main') ?? runs.fail("has no 'main'"),
      pre: textOf(runs, 'pre'),
      post: textOf(runs, 'post'),
      preIf: textOf(runs, 'pre-if') ?? 'always()',
      postIf: textOf(runs, 'post-if') ?? 'always()',
    }
  }
  throw new JobFault(`actions with 'using: ${using}' are not supported by this runner`)
}

function readInput([name, value]: readonly [string, YamlValue]): ActionInput {
  const input = value.isNull ? undefined : value
  return {
    name,
    isRequired: textOf(input, 'required') === 'true',
    fallback: textOf(input, 'default'),
  }
}

function readSteps(runs: YamlValue): readonly StepFile[] {
  const steps = fieldOf(runs, 'steps') ?? runs.fail("has no 'steps'")
  if (steps.list().length > STEPS_MAX) steps.fail(`has more than ${STEPS_MAX} steps`)
  return steps.list().map((value) => {
    const step = readStep(value)
    if (step.run !== undefined && step.shell === undefined) value.fail("has no 'shell'")
    return step
  })
}

function readOutputs(file: YamlValue): Texts {
  const outputs = [...(fieldOf(file, 'outputs')?.map() ?? [])]
  return Object.fromEntries(
    outputs.map(([name, output]) => [
      name,
      textOf(output, 'value') ?? output.fail("has no 'value'"),
    ]),
  )
}
