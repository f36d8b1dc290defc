/** `gatehouse repo …`: repositories, looked after from the machine itself. */

import { stat } from 'node:fs/promises'
import { findGit } from '../../cgi/git.js'
import { openJournal } from '../../cgi/journal.js'
import { type Maintained, maintainRepository } from '../../cgi/maintenance.js'
import { repositoryPath } from '../../cgi/paths.js'
import { recover } from '../../cgi/recovery.js'
import { sweepRepository } from '../../cgi/sweeper.js'
import { Failure } from '../../conf/failures.js'
import type { Database } from '../../sql/database.js'
import { findRepository, type Repository } from '../../sql/repositories.js'
import { type Command, CommandError, UsageError, withDatabase } from './command.js'

const maintain: Command = {
  words: ['repo', 'maintain'],
  usage: 'OWNER/REPO',
  about: 'Sweeps and repacks a repository now, as the server does after pushes.',
  positionals: ['OWNER/REPO'],
  options: {},
  async run(call) {
    const wanted = parseFullName(call.positionals[0] ?? '')
    await withDatabase(async (db, { data }) => {
      const { owner, name, storage } = await requireRepository(db, wanted)
      const path = repositoryPath(data.dir, storage)
      await stat(path).catch((cause: unknown) => {
        throw new CommandError(`the folder ${path} is not there`, { cause })
      })
      const { packsBefore, packsAfter, sizeKib } = await maintainNow(data.dir, path)
      const packs = `${packsBefore} packs before, ${packsAfter} after`
      console.log(`maintained ${owner.name}/${name}: ${packs}, ${sizeKib} KiB`)
    })
  },
}

interface FullName {
  readonly owner: string
  readonly name: string
}

function parseFullName(text: string): FullName {
  const [owner = '', name = '', ...more] = text.split('/')
  if (owner !== '' && name !== '' && more.length === 0) return { owner, name }
  throw new UsageError('a repository is named as OWNER/REPO')
}

async function requireRepository(db: Database, { owner, name }: FullName): Promise<Repository> {
  const repository = await findRepository(db, owner, name)
  if (repository === undefined) throw new CommandError(`there is no repository ${owner}/${name}`)
  return repository
}

/** Git works in a process group of its own: an interrupt from the terminal has to be passed on. */
async function maintainNow(dataDir: string, path: string): Promise<Maintained> {
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  for (const signal of SIGNALS) process.on(signal, interrupt)
  try {
    await sweepRepository(dataDir, path)
    const journal = await openJournal(dataDir)
    return await maintainRepository(await findGit(), path, { journal, signal: interrupted.signal })
  } catch (error) {
    if (error instanceof Failure) throw error
    await recover(dataDir)
    throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error })
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const REPO_COMMANDS: readonly Command[] = [maintain]
