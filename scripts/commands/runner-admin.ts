/** `gatehouse runner token|list|set|remove`: management of runners on the server. */

import { hashToken, newToken } from '../../gateway/auth/token.js'
import { findOwner } from '../../sql/accounts/owners.js'
import type { Database } from '../../sql/database/database.js'
import { findRepository } from '../../sql/repositories/repositories.js'
import {
  createRegistrationToken,
  findRunner,
  listRunners,
  type Runner,
  removeRunner,
  updateRunner,
} from '../../sql/runners/runners.js'
import type { RunnerScope } from '../../sql/runs/run-jobs.js'
import { type Command, CommandError, UsageError, withDatabase } from './command.js'

const DAY_MS = 86_400_000

const token: Command = {
  words: ['runner', 'token'],
  usage: '[--owner NAME | --repo OWNER/NAME] [--once] [--days N]',
  about:
    'Prints a new token with which runners register. It replaces the earlier one without --once.',
  positionals: [],
  options: {
    owner: {
      type: 'string',
      value: 'NAME',
      about: 'The runners take only the jobs of this user or organization.',
    },
    repo: {
      type: 'string',
      value: 'OWNER/NAME',
      about: 'The runners take only the jobs of this repository.',
    },
    once: { type: 'boolean', about: 'Only one runner can register with the token.' },
    days: { type: 'string', value: 'N', about: 'The token expires after this many days.' },
  },
  async run({ values }) {
    const { owner, repo, once, days } = values
    if (owner !== undefined && repo !== undefined) {
      throw new UsageError('--owner and --repo exclude each other')
    }
    if (days !== undefined && !/^[1-9]\d{0,4}$/.test(String(days))) {
      throw new UsageError(`--days '${days}' is not a number from 1 to 99999`)
    }
    const plain = newToken()
    await withDatabase(async (db) =>
      createRegistrationToken(db, {
        hash: hashToken(plain),
        ...(await scopeOf(db, { owner, repo })),
        isOnce: once === true,
        expiresAtMs: days === undefined ? undefined : Date.now() + Number(days) * DAY_MS,
      }),
    )
    console.log(plain)
  },
}

interface Names {
  readonly owner: unknown
  readonly repo: unknown
}

async function scopeOf(db: Database, { owner, repo }: Names): Promise<RunnerScope> {
  if (typeof owner === 'string') {
    const found = await findOwner(db, owner)
    if (found === undefined) throw new CommandError(`there is no user or organization ${owner}`)
    return { ownerId: found.id, repositoryId: undefined }
  }
  if (typeof repo === 'string') {
    const [ownerName = '', name = ''] = repo.split('/')
    const found = await findRepository(db, ownerName, name)
    if (found === undefined) throw new CommandError(`there is no repository ${repo}`)
    return { ownerId: undefined, repositoryId: found.id }
  }
  return { ownerId: undefined, repositoryId: undefined }
}

const list: Command = {
  words: ['runner', 'list'],
  usage: '',
  about:
    'Lists the runners: UUID, name, labels, version, when each was last seen, and its settings.',
  positionals: [],
  options: {},
  run: () =>
    withDatabase(async (db) => {
      for (const runner of await listRunners(db)) {
        const { uuid, name, labels, version, lastSeenAtMs } = runner
        const seen = lastSeenAtMs === undefined ? 'never' : new Date(lastSeenAtMs).toISOString()
        console.log([uuid, name, labels.join(','), version, seen, settingsOf(runner)].join('\t'))
      }
    }),
}

function settingsOf({ isDisabled, runsForks }: Runner): string {
  return [isDisabled ? 'disabled' : 'enabled', ...(runsForks ? ['forks'] : [])].join(',')
}

const set: Command = {
  words: ['runner', 'set'],
  usage: 'UUID [--disabled yes|no] [--forks yes|no]',
  about: 'Changes settings of a runner, from its next request for a job on.',
  positionals: ['UUID'],
  options: {
    disabled: { type: 'string', value: 'yes|no', about: 'A disabled runner gets no jobs.' },
    forks: {
      type: 'string',
      value: 'yes|no',
      about: 'A runner of the site takes jobs of forks of public repositories.',
    },
  },
  async run({ positionals: [uuid = ''], values }) {
    const isDisabled = answerOf(values['disabled'], '--disabled')
    const runsForks = answerOf(values['forks'], '--forks')
    if (isDisabled === undefined && runsForks === undefined) {
      throw new UsageError('--disabled or --forks is needed')
    }
    await withDatabase(async (db) => {
      const runner = await findRunner(db, uuid)
      if (runner === undefined) throw new CommandError(`there is no runner ${uuid}`)
      await updateRunner(db, runner.id, { isDisabled, runsForks })
      const changed = await findRunner(db, uuid)
      if (changed !== undefined) console.log(`${uuid} is ${settingsOf(changed)}`)
    })
  },
}

/** Returns the value of an option that is yes or no; undefined if it is absent. */
function answerOf(value: unknown, name: string): boolean | undefined {
  if (value === undefined) return undefined
  if (value !== 'yes' && value !== 'no') throw new UsageError(`${name} is yes or no`)
  return value === 'yes'
}

const remove: Command = {
  words: ['runner', 'remove'],
  usage: 'UUID',
  about: 'Removes a runner, which is refused from then on; a job that it runs is ended later.',
  positionals: ['UUID'],
  options: {},
  run: ({ positionals: [uuid = ''] }) =>
    withDatabase(async (db) => {
      if (!(await removeRunner(db, uuid))) throw new CommandError(`there is no runner ${uuid}`)
      console.log(`removed ${uuid}`)
    }),
}

export const RUNNER_ADMIN_COMMANDS: readonly Command[] = [token, list, set, remove]
