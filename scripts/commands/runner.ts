/** `gatehouse runner …`: a runner of workflow jobs, which is a client of a server. */

import { homedir, hostname, tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { podmanEnvironment, searchPath } from '../../conf/load.js'
import { createLog, type Log } from '../../conf/log.js'
import { type BubblewrapInput, startBubblewrap } from '../../gateway/own-runner/bubblewrap.js'
import { type Isolation, NO_ISOLATION } from '../../gateway/own-runner/isolation.js'
import {
  type Registration,
  readRegistration,
  registerRunner,
} from '../../gateway/own-runner/registration.js'
import { runRunner } from '../../gateway/own-runner/run-runner.js'
import { ConnectError, createServerClient } from '../../gateway/own-runner/server-client.js'
import { Result } from '../../gateway/runner-protocol/messages.js'
import { type Command, CommandError, requiredOption, UsageError } from './command.js'
import { programVersion } from './program-version.js'

const FILE_BY_DEFAULT = 'runner.json'

const FILE_OPTION = {
  type: 'string',
  value: 'FILE',
  about: `File with the credentials of the runner; by default ${FILE_BY_DEFAULT}.`,
} as const

const register: Command = {
  words: ['runner', 'register'],
  usage: '--instance URL --token TOKEN [--name NAME] [--labels LABELS] [--file FILE]',
  about: 'Registers a runner at a server, and writes a file with its credentials.',
  positionals: [],
  options: {
    instance: { type: 'string', value: 'URL', about: 'Address of the server.' },
    token: { type: 'string', value: 'TOKEN', about: 'Registration token of the server.' },
    name: { type: 'string', value: 'NAME', about: 'Name; by default that of the machine.' },
    labels: {
      type: 'string',
      value: 'LABELS',
      about: 'Labels that jobs ask for, separated by commas; by default linux.',
    },
    file: FILE_OPTION,
  },
  async run(call) {
    const file = textOf(call.values['file'], FILE_BY_DEFAULT)
    const labels = textOf(call.values['labels'], 'linux')
    const input = {
      instance: parseInstance(requiredOption(call, 'instance')),
      registrationToken: requiredOption(call, 'token'),
      name: textOf(call.values['name'], hostname()),
      labels: labels.split(',').flatMap((label) => label.trim() || []),
      version: await programVersion(),
    }
    if (input.labels.length === 0) throw new UsageError('--labels needs at least one label')
    try {
      const { name } = await registerRunner(file, input)
      console.log(`The runner ${name} is registered; its credentials are in ${file}.`)
    } catch (error) {
      throw new CommandError(`the runner is not registered: ${messageOf(error)}`, { cause: error })
    }
  },
}

const run: Command = {
  words: ['runner', 'run'],
  usage: '[--once] [--file FILE] [--work FOLDER] [--isolation KIND]',
  about: 'Runs jobs of the server until SIGTERM or SIGINT, isolated from the rest of this machine.',
  positionals: [],
  options: {
    once: { type: 'boolean', about: 'Ends after one job; exit 1 if it does not succeed.' },
    file: FILE_OPTION,
    work: {
      type: 'string',
      value: 'FOLDER',
      about: 'Folder for the files of running jobs; by default that for temporary files.',
    },
    isolation: {
      type: 'string',
      value: 'KIND',
      about:
        'bubblewrap, the default; or none: steps can then read and change everything that this user can.',
    },
  },
  async run({ values }) {
    const file = textOf(values['file'], FILE_BY_DEFAULT)
    const registration = await readFileOf(file)
    const log = createLog({ level: 'info', format: 'auto' })
    const path = searchPath()
    const workFolder = resolve(textOf(values['work'], tmpdir()))
    const hidden = [file, workFolder, homedir()]
    const parts = { searchPath: path, workFolder, hidden }
    const isolation = await isolationOf(textOf(values['isolation'], 'bubblewrap'), parts, log)
    const stop = new AbortController()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort())
    const isOnce = values['once'] === true
    const result = await runRunner({
      client: createServerClient(registration.instance, registration),
      instance: registration.instance,
      runnerName: registration.name,
      labels: registration.labels,
      version: await programVersion(),
      workFolder,
      isolation,
      podman: {
        searchPath: path,
        environment: podmanEnvironment(),
        runnerId: registration.uuid,
      },
      searchPath: path,
      signal: stop.signal,
      isOnce,
      log,
    }).catch((error: unknown) => {
      if (!(error instanceof ConnectError)) throw error
      const { instance } = registration
      throw new CommandError(`${instance} does not accept this runner: ${error.message}`, {
        cause: error,
      })
    })
    if (isOnce && result !== Result.SUCCESS) {
      throw new CommandError(result === undefined ? 'no job was run' : 'the job has not succeeded')
    }
  },
}

/** Returns the isolation of the kind, and logs how far it does not protect the machine. */
async function isolationOf(kind: string, input: BubblewrapInput, log: Log): Promise<Isolation> {
  if (kind === 'none') {
    log.warn('steps of jobs run as the user of this runner, without isolation')
    return NO_ISOLATION
  }
  if (kind !== 'bubblewrap') {
    throw new UsageError(`--isolation '${kind}' is neither bubblewrap nor none`)
  }
  if (process.getuid?.() === 0) log.warn('isolated steps can read files in /etc that only root can')
  try {
    return await startBubblewrap(input)
  } catch (error) {
    throw new CommandError(`steps cannot be isolated: ${messageOf(error)}`, { cause: error })
  }
}

function textOf(value: unknown, byDefault: string): string {
  return typeof value === 'string' && value !== '' ? value : byDefault
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Returns the address without a final slash. Throws UsageError if it is no address of a server. */
function parseInstance(text: string): string {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === ''
  if (!isPlain || url.search !== '' || url.hash !== '') {
    throw new UsageError(`--instance '${text}' is not an address such as https://git.example.org`)
  }
  return url.href.replace(/\/+$/, '')
}

async function readFileOf(file: string): Promise<Registration> {
  try {
    return await readRegistration(file)
  } catch (error) {
    throw new CommandError(
      `${file} is not the file of a runner: ${messageOf(error)}; 'gatehouse runner register' writes it`,
    )
  }
}

export const RUNNER_COMMANDS: readonly Command[] = [register, run]
