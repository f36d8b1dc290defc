/** `gatehouse check`: compares the database with the stored data of the site. */

import { findGit } from '../../cgi/process/git.js'
import type { Settings } from '../../conf/settings.js'
import { checkSite, type SiteFinding } from '../../gateway/check/check-site.js'
import { CHECK_CODES, type CheckCode } from '../../gateway/check/finding.js'
import { Progress } from '../../gateway/check/progress.js'
import { openStorage } from '../../registry/storage/open.js'
import type { Database } from '../../sql/database/database.js'
import { openProgress, type ProgressFile } from './check-progress.js'
import { type Command, type CommandCall, UsageError, withDatabase } from './command.js'
import { parseFullName, requireRepository } from './named-repository.js'

export const CHECK_COMMANDS: readonly Command[] = [
  {
    words: ['check'],
    usage: '[--deep] [--repair] [--json] [--only CODE,…] [--progress FILE | OWNER/REPO…]',
    about: 'Compares the database with the stored data; exit 1 with findings, 2 if it cannot.',
    positionals: [],
    furtherPositionals: true,
    options: {
      deep: {
        type: 'boolean',
        about: 'Also reads all blobs and Git objects, and makes package indexes anew.',
      },
      repair: {
        type: 'boolean',
        about: 'Removes leftovers, measures sizes and has indexes built again; loses no data.',
      },
      json: { type: 'boolean', about: 'Prints each finding as an object of JSON in one line.' },
      only: {
        type: 'string',
        value: 'CODE,…',
        about: `Runs only these checks, of ${CHECK_CODES.join(', ')}.`,
      },
      progress: {
        type: 'string',
        value: 'FILE',
        about: 'Keeps the progress in FILE, from which the same call continues if interrupted.',
      },
    },
    async run(call) {
      const codes = codesOf(call)
      const names = call.positionals.map(parseFullName)
      const print = call.values['json'] === true ? JSON.stringify : lineOf
      const isDeep = call.values['deep'] === true
      const repairs = call.values['repair'] === true
      if (typeof call.values['progress'] === 'string' && names.length > 0) {
        throw new UsageError('--progress is for checks of the whole site')
      }
      try {
        const file = await progressOf(call)
        let findings = 0
        await withDatabase(async (db, settings) => {
          const wanted = { codes, names, isDeep, repairs, progress: file?.progress }
          for await (const finding of findingsOf(db, settings, wanted)) {
            if (!finding.isRepaired) {
              findings += 1
              file?.count()
            }
            console.log(print(finding))
          }
        })
        if (((await file?.end()) ?? findings) > 0) process.exitCode = 1
      } catch (error) {
        console.error(`gatehouse: ${messageOf(error)}`)
        process.exitCode = 2
      }
    },
  },
]

interface Wanted {
  readonly codes: ReadonlySet<CheckCode>
  readonly names: readonly ReturnType<typeof parseFullName>[]
  readonly isDeep: boolean
  readonly repairs: boolean
  readonly progress: Progress | undefined
}

/** Opens the file of `--progress`, if that is given. */
async function progressOf({ values }: CommandCall): Promise<ProgressFile | undefined> {
  const { progress, only, deep, repair } = values
  if (typeof progress !== 'string') return undefined
  const words = [deep === true && '--deep', repair === true && '--repair', only && `--only ${only}`]
  return await openProgress(progress, ['check', ...words.filter(Boolean)].join(' '))
}

async function* findingsOf(
  db: Database,
  settings: Settings,
  { names, progress = new Progress(), ...options }: Wanted,
): AsyncGenerator<SiteFinding> {
  const named = []
  for (const name of names) named.push(await requireRepository(db, name))
  const repositories = named.length === 0 ? undefined : named
  const git = { ...(await findGit()), memoryBytesMax: settings.git.memoryBytesMax }
  const context = { db, settings, git, storage: await openStorage(settings) }
  yield* checkSite(context, { ...options, progress, repositories })
}

/** Returns the message of an error with that of its cause, such as the answer of a storage. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  const isNew = cause instanceof Error && !message.includes(cause.message)
  return isNew ? `${message} (${cause.message})` : message
}

/** Returns the line of a finding for a terminal. */
export function lineOf({ code, subject, problem, remedy, isRepaired }: SiteFinding): string {
  return `${code}  ${subject}: ${problem}. ${isRepaired ? 'Repaired' : remedy}.`
}

function codesOf({ values }: CommandCall): ReadonlySet<CheckCode> {
  const { only } = values
  if (typeof only !== 'string') return new Set(CHECK_CODES)
  return new Set(
    only.split(',').map((text) => {
      const known = CHECK_CODES.find((code) => code === text.trim().toUpperCase())
      if (known !== undefined) return known
      throw new UsageError(`--only has no check '${text}', only ${CHECK_CODES.join(', ')}`)
    }),
  )
}
