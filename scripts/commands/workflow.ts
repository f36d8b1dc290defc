/** `gatehouse workflow check`: explains a workflow file without running it. */

import { readFile } from 'node:fs/promises'
import { readWorkflow, stagesOf, type Workflow } from '../../gateway/workflows/read-workflow.js'
import { startsOn } from '../../gateway/workflows/triggers.js'
import { FileFault } from '../../gateway/workflows/yaml-value.js'
import { type Command, CommandError, UsageError } from './command.js'

const check: Command = {
  words: ['workflow', 'check'],
  usage: 'FILE [--push REF]',
  about:
    'Checks a workflow file, and says what starts it and which jobs it has; exit 1 for a fault.',
  positionals: ['FILE'],
  options: {
    push: {
      type: 'string',
      value: 'REF',
      about:
        'Says if a push to this ref starts it, such as refs/heads/main; paths are not compared.',
    },
  },
  async run({ positionals, values }) {
    const [file = ''] = positionals
    const { push } = values
    if (push !== undefined && !/^refs\/(?:heads|tags)\/./.test(String(push))) {
      throw new UsageError(`--push '${push}' is neither refs/heads/NAME nor refs/tags/NAME`)
    }
    const workflow = await readFileOf(file)
    for (const line of describe(workflow)) console.log(line)
    if (typeof push === 'string') {
      const pushed = { event: 'push', reference: push, changedPaths: undefined } as const
      const does = startsOn(workflow.triggers, pushed) ? 'starts' : 'does not start'
      console.log(`A push to ${push} ${does} it.`)
    }
  },
}

async function readFileOf(file: string): Promise<Workflow> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(
      `${file} cannot be read: ${error instanceof Error ? error.message : error}`,
    )
  })
  try {
    return readWorkflow(text)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    const { line, column } = error.position
    throw new CommandError(`${file}:${line}:${column}: ${error.message}`)
  }
}

function describe({ name, triggers, jobs, warnings }: Workflow): readonly string[] {
  return [
    ...(name === undefined ? [] : [`Name: ${name}`]),
    `Events: ${triggers.map(({ event }) => event).join(', ')}`,
    ...stagesOf(jobs).flatMap((stage, at) =>
      stage.map(({ id, needs, labels }) => {
        const after = needs.length === 0 ? '' : `, after ${needs.join(', ')}`
        const on = labels.length === 0 ? 'a reusable workflow' : `on ${labels.join(' + ')}`
        return `Stage ${at + 1}: ${id}, ${on}${after}`
      }),
    ),
    ...warnings.map((warning) => `Warning: ${warning}.`),
  ]
}

export const WORKFLOW_COMMANDS: readonly Command[] = [check]
