/** Runs actions of which Node executes scripts. */

import { join } from 'node:path'
import { evaluateCondition } from '../workflows/expressions.js'
import type { NodeAction } from './action-file.js'
import type { JobInput } from './job-state.js'
import type { Texts } from './step-file.js'
import { writeNewFile } from './step-folder.js'
import { runStepProgram, type StepEnd, type StepRun } from './step-program.js'

/** An action with its folder and the values of its inputs. */
export interface StartedNodeAction {
  readonly file: NodeAction
  readonly folder: string
  readonly inputs: Texts
}

/**
 * Runs `pre` and then `main` of an action, and leaves `post` for the end of the job. Throws
 * JobFault.
 */
export async function runNodeAction(
  { file, folder, inputs }: StartedNodeAction,
  run: StepRun,
): Promise<StepEnd> {
  const { scope, title } = run
  const { job } = scope
  const { pre, main, post, preIf, postIf } = file
  let state: Texts = {}
  const execute = async (script: string, { signal, limit }: Pick<StepRun, 'signal' | 'limit'>) => {
    const own = { ...inputVariables(inputs), ...serviceVariables(job.input), ...prefixed(state) }
    const variables = { ...run.variables, ...own }
    const end = await runStepProgram(
      { ...run, variables, signal, limit },
      {
        cwd: job.input.folder.workspace,
        command: async (stepFolder) => {
          const node = await job.containers?.container?.node()
          const env = { ...job.env, ...run.env, ...variables }
          const options = await variableOptions(stepFolder, env)
          return [node ?? process.execPath, ...options, join(folder, script)]
        },
      },
    )
    state = { ...state, ...end.state }
    return end
  }
  if (post !== undefined) {
    job.posts.push({ title, condition: postIf, run: (bounds) => execute(post, bounds) })
  }
  if (pre !== undefined && evaluateCondition(preIf, run.contexts, scope.outcome)) {
    const end = await execute(pre, run)
    if (!end.hasSucceeded) return end
  }
  return execute(main, run)
}

/**
 * Returns the options of Node for variables that shells do not pass to programs, because their
 * names are no identifiers: inputs with a hyphen, such as INPUT_FETCH-DEPTH.
 */
async function variableOptions(folder: string, env: Texts): Promise<readonly string[]> {
  const entries = Object.entries(env).filter(([name]) => !/^[A-Za-z_]\w*$/.test(name))
  if (entries.length === 0) return []
  const values = JSON.stringify(Object.fromEntries(entries))
  const text = `const { env } = process\nObject.assign(env, ${values})\n`
  await writeNewFile(folder, 'variables.cjs', text)
  return ['--require', join(folder, 'variables.cjs')]
}

function inputVariables(inputs: Texts): Texts {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      `INPUT_${name.replaceAll(' ', '_').toUpperCase()}`,
      value,
    ]),
  )
}

/** Returns the variables by which the toolkit of actions finds the services of the server. */
function serviceVariables({ task, instance }: JobInput): Texts {
  return {
    ACTIONS_RUNTIME_TOKEN: String(task.context?.['gitea_runtime_token'] ?? ''),
    ACTIONS_RUNTIME_URL: `${instance}/api/actions_pipeline/`,
    ACTIONS_RESULTS_URL: `${instance}/`,
  }
}

function prefixed(state: Texts): Texts {
  return Object.fromEntries(Object.entries(state).map(([name, value]) => [`STATE_${name}`, value]))
}
