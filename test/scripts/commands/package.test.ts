/**
 * `gatehouse package`: signing keys are listed, rotated with overlap, retired, and never printed.
 */

import t, { type Test } from 'tap'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { loadSettings } from '../../../conf/load.js'
import { createSigningKeys } from '../../../registry/signing-keys.js'
import { withDatabase } from '../../../scripts/commands/command.js'
import { PACKAGE_COMMANDS } from '../../../scripts/commands/package.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { anOrganization, aUser } from '../../helpers/rows.js'

const DAY_MS = 86_400_000
const KEY_TYPE = 'GATEHOUSE_PACKAGES_DEBIAN_SIGNING_KEY'

/** Creates ada, who has a debian key, and the organization guild, which has none. */
async function openSignedFixture(t: Test) {
  await useDataFolder(t)
  // Other keys take long to make.
  process.env[KEY_TYPE] = 'ed25519'
  t.teardown(() => delete process.env[KEY_TYPE])
  const secret = await openInstanceSecret(loadSettings().data.dir)
  const store = await withDatabase(async (db) => {
    const { id } = await aUser(db, 'Ada')
    await anOrganization(db, 'guild', id)
    return { ownerId: id, format: 'debian' }
  })
  const make = async () => ({ privateKey: 'PRIVATE', publicKey: 'the first' })
  const keys = () => withDatabase((db) => createSigningKeys(db, secret).of(store, make))
  await keys()
  const command = (...args: readonly string[]) =>
    runCommand(t, PACKAGE_COMMANDS, 'package', ...args)
  return { keys, command }
}

/** Parses until when a key signs. */
function untilOf(line = ''): number {
  return Date.parse(/\tsigns until (\S+Z)$/.exec(line)?.[1] ?? '')
}

t.test('after a rotation both keys sign until the old one ends', async (t) => {
  const { keys, command } = await openSignedFixture(t)
  t.match(await command('keys', 'ada'), [/^debian\tmade 20\S+Z\tsigns$/])
  const [newest, old = '', ...more] = await command('rotate-key', 'ADA', 'debian')
  t.match(newest, /^debian\tmade 20\S+Z\tsigns$/)
  t.ok(Math.abs(untilOf(old) - Date.now() - 30 * DAY_MS) < DAY_MS / 2, old)
  t.strictSame(more, [])
  t.strictSame(await command('keys', 'ada'), [newest, old])
  const [made, first, ...others] = await keys()
  t.match(made?.publicKey, /^-----BEGIN PGP PUBLIC KEY BLOCK-----/)
  t.match(made?.privateKey, /^-----BEGIN PGP PRIVATE KEY BLOCK-----/)
  t.strictSame(first, { privateKey: 'PRIVATE', publicKey: 'the first' })
  t.strictSame(others, [])
  t.strictSame(await command('retire-key', 'ada', 'debian'), ['retired 1 keys of Ada for debian'])
  t.strictSame(await command('keys', 'ada'), [newest])
})

t.test('a rotation creates a key of the type in the settings', async (t) => {
  const { keys, command } = await openSignedFixture(t)
  const algorithmOf = async () => {
    const [newest] = await keys()
    const { readKey } = await import('openpgp')
    return (await readKey({ armoredKey: newest?.publicKey ?? '' })).getAlgorithmInfo()
  }
  await command('rotate-key', 'ada', 'debian')
  t.match(await algorithmOf(), { algorithm: 'eddsaLegacy' })
  delete process.env[KEY_TYPE]
  await command('rotate-key', 'ada', 'debian')
  t.match(await algorithmOf(), { algorithm: 'rsaEncryptSign', bits: 4096 }, 'the default')
})

t.test('the overlap has the given length or is zero', async (t) => {
  const { keys, command } = await openSignedFixture(t)
  const [, old = ''] = await command('rotate-key', 'ada', 'debian', '--overlap', '7')
  t.ok(Math.abs(untilOf(old) - Date.now() - 7 * DAY_MS) < DAY_MS / 2, old)
  t.equal((await command('rotate-key', 'ada', 'debian', '--overlap', '0')).length, 1)
  t.equal((await keys()).length, 1)
})

t.test('a rotation that is not possible is refused with a message', async (t) => {
  const { command } = await openSignedFixture(t)
  const rotate = (...args: readonly string[]) => command('rotate-key', ...args)
  await t.rejects(rotate('guild', 'debian'), { message: /^There is no key yet/ })
  await t.rejects(rotate('ada', 'alpine'), { message: /^There is no key yet/ })
  const unsigned = { message: 'FORMAT is not alpine or debian: only their indexes are signed' }
  for (const format of ['cran', 'go', 'rpm']) await t.rejects(rotate('ada', format), unsigned)
  await t.rejects(command('retire-key', 'ada', 'cran'), unsigned)
  const absent = { message: 'there is no user or organization eve' }
  await t.rejects(rotate('eve', 'debian'), absent)
  await t.rejects(command('keys', 'eve'), absent)
  for (const days of ['', '-1', '1.5', '3651', 'x']) {
    const bounds = { message: '--overlap is a number of days, from 0 to 3650' }
    await t.rejects(rotate('ada', 'debian', `--overlap=${days}`), bounds, days)
  }
  t.strictSame(await command('keys', 'guild'), [])
})
