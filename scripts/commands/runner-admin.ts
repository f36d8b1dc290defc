/** `gatehouse runner token|list|remove`: management of runners on the server. */

import { hashToken, newToken } from '../../gateway/auth/token.js'
import { findOwner } from '../../sql/accounts/owners.js'
import type { Database } from '../../sql/database/database.js'
import { findRepository } from '../../sql/repositories/repositories.js'
import { createRegistrationToken, listRunners, removeRunner } from '../../sql/runners/runners.js'
import type { RunnerScope } from '../../sql/runs/run-jobs.js'
import { type Command, CommandError, UsageError, withDatabase } from './command.js'

const DAY_MS = 86_400_000

const token: Command = {
  words: ['runner', 'token'],
  usage: '[--owner NAME | --repo OWNER/NAME] [--once] [--days N]',
  about: 'Creates a token with which runners register, and prints it; it cannot be shown again.',
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
  about: 'Lists the registered runners: UUID, name, labels, version, and when each was last seen.',
  positionals: [],
  options: {},
  run: () =>
    withDatabase(async (db) => {
      for (const { uuid, name, labels, version, lastSeenAtMs } of await listRunners(db)) {
        const seen = lastSeenAtMs === undefined ? 'never' : new Date(lastSeenAtMs).toISOString()
        console.log([uuid, name, labels.join(','), version, seen].join('\t'))
      }
    }),
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

export const RUNNER_ADMIN_COMMANDS: readonly Command[] = [token, list, remove]
