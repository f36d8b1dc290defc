/** `gatehouse check`: compares the database with the stored repositories and blobs. */

import type { Settings } from '../../conf/settings.js'
import { checkSite } from '../../gateway/check/check-site.js'
import { CHECK_CODES, type CheckCode, type Finding } from '../../gateway/check/finding.js'
import { openStorage } from '../../registry/storage/open.js'
import type { Database } from '../../sql/database/database.js'
import { type Command, type CommandCall, UsageError, withDatabase } from './command.js'
import { parseFullName, requireRepository } from './named-repository.js'

export const CHECK_COMMANDS: readonly Command[] = [
  {
    words: ['check'],
    usage: '[--deep] [--json] [--only CODE,…] [OWNER/REPO…]',
    about:
      'Compares the database with repositories and blobs; exit 1 with findings, 2 if it cannot.',
    positionals: [],
    furtherPositionals: true,
    options: {
      deep: { type: 'boolean', about: 'Also reads all blobs and compares their digests.' },
      json: { type: 'boolean', about: 'Prints each finding as an object of JSON in one line.' },
      only: {
        type: 'string',
        value: 'CODE,…',
        about: `Runs only these checks, of ${CHECK_CODES.join(' and ')}.`,
      },
    },
    async run(call) {
      const codes = codesOf(call)
      const names = call.positionals.map(parseFullName)
      const print = call.values['json'] === true ? JSON.stringify : lineOf
      try {
        let findings = 0
        await withDatabase(async (db, settings) => {
          const isDeep = call.values['deep'] === true
          for await (const finding of findingsOf(db, settings, { codes, names, isDeep })) {
            findings += 1
            console.log(print(finding))
          }
        })
        if (findings > 0) process.exitCode = 1
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
}

async function* findingsOf(
  db: Database,
  settings: Settings,
  { codes, names, isDeep }: Wanted,
): AsyncGenerator<Finding> {
  const named = []
  for (const name of names) named.push(await requireRepository(db, name))
  const repositories = named.length === 0 ? undefined : named
  const context = { db, settings, storage: await openStorage(settings) }
  yield* checkSite(context, { codes, repositories, isDeep })
}

/** Returns the message of an error with that of its cause, such as the answer of a storage. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message, cause } = error
  const isNew = cause instanceof Error && !message.includes(cause.message)
  return isNew ? `${message} (${cause.message})` : message
}

function lineOf({ code, subject, problem, remedy }: Finding): string {
  return `${code}  ${subject}: ${problem}. ${remedy}.`
}

function codesOf({ values }: CommandCall): ReadonlySet<CheckCode> {
  const { only } = values
  if (typeof only !== 'string') return new Set(CHECK_CODES)
  return new Set(
    only.split(',').map((text) => {
      const known = CHECK_CODES.find((code) => code === text.trim().toUpperCase())
      if (known !== undefined) return known
      throw new UsageError(`--only has no check '${text}', only ${CHECK_CODES.join(' and ')}`)
    }),
  )
}
