/** `gatehouse package …`: the signing keys of package indexes. */

import { openInstanceSecret } from '../../conf/instance-secret.js'
import type { PackageFormat } from '../../conf/package.js'
import { FORMATS } from '../../registry/formats.js'
import { createSigningKeys } from '../../registry/signing-keys.js'
import { findOwner, type Owner } from '../../sql/accounts/owners.js'
import type { Database } from '../../sql/database/database.js'
import { listSigningKeys, retireFormerKeys } from '../../sql/packages/signing-keys.js'
import {
  type Command,
  type CommandCall,
  CommandError,
  UsageError,
  withDatabase,
} from './command.js'

const DAY_MS = 86_400_000
/** Default overlap, in which machines that are updated monthly receive the new key. */
const OVERLAP_DAYS = 30
const OVERLAP_DAYS_MAX = 3_650

const rotateKey: Command = {
  words: ['package', 'rotate-key'],
  usage: 'OWNER FORMAT [--overlap DAYS]',
  about: `Creates a key for alpine or debian; the old one also signs for ${OVERLAP_DAYS} days.`,
  positionals: ['OWNER', 'FORMAT'],
  options: {
    overlap: {
      type: 'string',
      value: 'DAYS',
      about: `Days for which the old key also signs, from 0 to ${OVERLAP_DAYS_MAX}.`,
    },
  },
  async run(call) {
    const { format, makeSigningKey } = parseFormat(call)
    const signsUntilMs = Date.now() + parseDays(call) * DAY_MS
    await withDatabase(async (db, { data, packages }) => {
      const owner = await requireOwner(db, call)
      const store = { ownerId: owner.id, format }
      const keys = createSigningKeys(db, await openInstanceSecret(data.dir))
      await keys.rotate(store, () => makeSigningKey(owner.name, packages), {
        signsUntilMs,
      })
      for (const line of await linesOf(db, owner, format)) console.log(line)
    })
  },
}

const retireKey: Command = {
  words: ['package', 'retire-key'],
  usage: 'OWNER FORMAT',
  about: 'Ends the overlap after a rotation now: only the newest key signs from then on.',
  positionals: ['OWNER', 'FORMAT'],
  options: {},
  async run(call) {
    const { format } = parseFormat(call)
    await withDatabase(async (db) => {
      const owner = await requireOwner(db, call)
      const retired = await retireFormerKeys(db, { ownerId: owner.id, format })
      console.log(`retired ${retired} keys of ${owner.name} for ${format}`)
    })
  },
}

const keys: Command = {
  words: ['package', 'keys'],
  usage: 'OWNER',
  about: 'Lists the signing keys: format, creation time, and until when each signs.',
  positionals: ['OWNER'],
  options: {},
  run: (call) =>
    withDatabase(async (db) => {
      const owner = await requireOwner(db, call)
      for (const { format } of SIGNED_FORMATS) {
        for (const line of await linesOf(db, owner, format)) console.log(line)
      }
    }),
}

async function linesOf(
  db: Database,
  { id }: Owner,
  format: PackageFormat,
): Promise<readonly string[]> {
  const all = await listSigningKeys(db, { ownerId: id, format })
  return all.map(({ createdAtMs, signsUntilMs }) => {
    const until = signsUntilMs === undefined ? 'signs' : `signs until ${timeOf(signsUntilMs)}`
    return [format, `made ${timeOf(createdAtMs)}`, until].join('\t')
  })
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

const SIGNED_FORMATS = FORMATS.flatMap(({ name, index }) => {
  const makeSigningKey = index?.makeSigningKey
  return makeSigningKey === undefined ? [] : [{ format: name, makeSigningKey }]
})

function parseFormat({ positionals }: CommandCall) {
  const found = SIGNED_FORMATS.find(({ format }) => format === positionals[1])
  if (found !== undefined) return found
  const known = SIGNED_FORMATS.map(({ format }) => format).join(' or ')
  throw new UsageError(`FORMAT is not ${known}: only their indexes are signed`)
}

/** Reads the overlap. 0 is for a compromised old key, which must not sign any more. */
function parseDays({ values }: CommandCall): number {
  const text = String(values['overlap'] ?? OVERLAP_DAYS)
  const days = Number(text)
  if (/^\d+$/.test(text) && days <= OVERLAP_DAYS_MAX) return days
  throw new UsageError(`--overlap is a number of days, from 0 to ${OVERLAP_DAYS_MAX}`)
}

async function requireOwner(db: Database, { positionals }: CommandCall): Promise<Owner> {
  const name = positionals[0] ?? ''
  const owner = await findOwner(db, name)
  if (owner === undefined) throw new CommandError(`there is no user or organization ${name}`)
  return owner
}

export const PACKAGE_COMMANDS: readonly Command[] = [keys, rotateKey, retireKey]
