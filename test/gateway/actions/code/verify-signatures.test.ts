/** Signatures of commits and tags by real programs: gpg, ssh-keygen and git. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { openGpgHome } from '../../../helpers/gpg-home.js'
import { makeKeyPair } from '../../../helpers/ssh-keys.js'
import { temporaryFolder } from '../../../helpers/temporary.js'
import { newWorkingCopy } from '../../../helpers/working-copy.js'

const gateway = await startGatewayWithUsers(t)
const { as } = gateway
await as('ada', 'POST', '/user/repos', { name: 'r' })
const folder = await gateway.pathOf('ada', 'r')
const copy = await newWorkingCopy(t)
const home = await openGpgHome(t)
const armored = home.makeKey('Ada <ada@example.com>')
const keys = await temporaryFolder(t)

/** Settings of git to sign as a user with a key of a kind. */
const by = (email: string, kind: 'openpgp' | 'ssh', key: string) =>
  Object.entries({
    'user.name': 'Someone',
    'user.email': email,
    'gpg.format': kind,
    'user.signingKey': key,
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`])

/** Commits with a signature and pushes; returns the id. */
async function commit(settings: readonly string[], ...args: readonly string[]): Promise<string> {
  const email = settings.find((text) => text.startsWith('user.email='))?.split('=')[1] ?? ''
  const variables = { GNUPGHOME: home.folder, GIT_COMMITTER_EMAIL: email }
  const all = [...settings, 'commit', '--quiet', '--allow-empty', '-m', 'signed', ...args]
  const done = await copy.try(all, { environment: variables })
  if (done.exitCode !== 0) throw new Error(done.errorText)
  await copy.git('push', '--quiet', '--force', folder, 'HEAD:refs/heads/main')
  return copy.git('rev-parse', 'HEAD')
}

async function verificationOf(id: string, name: 'ada' | 'anyone' = 'anyone') {
  const { json } = await as(name, 'GET', `/repos/ada/r/git/commits/${id}`)
  return (json as { commit: { verification: Record<string, unknown> } }).commit.verification
}

const gpgOfAda = by('ada@example.com', 'openpgp', 'Ada <ada@example.com>')

t.test('an OpenPGP signature is verified while the committer has the key', async (t) => {
  const id = await commit(gpgOfAda, '--gpg-sign')
  const another = { armored_public_key: home.makeKey('Ada Two <ada@example.com>') }
  await as('ada', 'POST', '/user/gpg_keys', another)
  t.match(await verificationOf(id), {
    verified: false,
    reason: 'gpg.error.no_gpg_keys_found',
    signer: null,
    signature: /^-----BEGIN PGP SIGNATURE-----/,
    payload: /^tree [\s\S]*\n\nsigned\n$/,
  })
  const added = await as('ada', 'POST', '/user/gpg_keys', { armored_public_key: armored })
  const key = added.json as { id: number; key_id: string }
  const good = {
    verified: true,
    reason: `ada / ${key.key_id}`,
    signer: { name: 'ada', email: 'ada@example.com', username: 'ada' },
  }
  t.match(await verificationOf(id), good)
  t.match(await verificationOf(id), good, 'from the cache')
  const [branch] = (await as('anyone', 'GET', '/repos/ada/r/branches')).json as [object]
  t.match(branch, { commit: { verification: { verified: true } } })
  const unsigned = await commit(gpgOfAda, '--no-gpg-sign')
  t.match(await verificationOf(unsigned), {
    verified: false,
    reason: 'gpg.error.not_signed_commit',
    signature: '',
  })
  const ofBob = await commit(
    by('bob@example.com', 'openpgp', 'Ada <ada@example.com>'),
    '--gpg-sign',
  )
  t.match(await verificationOf(ofBob), { verified: false, signer: null }, 'a key of another user')
  await gateway.db('emails').where({ user_id: gateway.ada.id }).update({ is_verified: false })
  t.match(await verificationOf(id), { verified: false }, 'an address that is not verified')
  await gateway.db('emails').where({ user_id: gateway.ada.id }).update({ is_verified: true })
  t.match(await verificationOf(id), good)
  await as('ada', 'DELETE', `/user/gpg_keys/${key.id}`)
  t.match(await verificationOf(id), { verified: false, reason: 'gpg.error.no_gpg_keys_found' })
  await as('ada', 'POST', '/user/gpg_keys', { armored_public_key: armored })
})

t.test('a signature of other bytes is reported as bad', async (t) => {
  const id = await commit(gpgOfAda, '--gpg-sign')
  const forged = await rewrite(id, (text) => text.replace('\n\nsigned\n', '\n\nforged\n'))
  t.match(await verificationOf(forged), {
    verified: false,
    reason: 'gpg.error.probable_bad_signature',
  })
  const broken = await rewrite(id, (text) =>
    text.replace(/(PGP SIGNATURE-----\n \n )...../, '$1*****'),
  )
  t.match(await verificationOf(broken), { verified: false, reason: 'gpg.error.extract_sign' })
})

/** Pushes a commit with changed bytes; returns its id. */
async function rewrite(id: string, change: (text: string) => string): Promise<string> {
  const text = `${await copy.git('cat-file', 'commit', id)}\n`
  const made = await copy.try(['hash-object', '-t', 'commit', '-w', '--stdin'], {
    input: change(text),
  })
  await copy.git('reset', '--quiet', '--hard', made.output.trim())
  await copy.git('push', '--quiet', '--force', folder, 'HEAD:refs/heads/main')
  return made.output.trim()
}

for (const [algorithm, ...more] of [
  ['ed25519'],
  ['ecdsa', '-b', '256'],
  ['ecdsa', '-b', '521'],
  ['rsa', '-b', '3072'],
] as const) {
  t.test(`an SSH signature by ${algorithm} ${more.join(' ')} is verified`, async (t) => {
    const name = `${algorithm}${more.join('')}`
    const key = await makeKeyPair(keys, name, '-t', algorithm, ...more)
    const settings = by('ada@example.com', 'ssh', join(keys, name))
    const id = await commit(settings, '--gpg-sign')
    const none = { verified: false, reason: 'gpg.error.no_gpg_keys_found', signer: null }
    t.match(await verificationOf(id), none)
    const added = await as('ada', 'POST', '/user/keys', { title: name, key })
    const { id: keyId, fingerprint } = added.json as { id: number; fingerprint: string }
    t.match(await verificationOf(id), {
      verified: true,
      reason: `ada / ${fingerprint}`,
      signer: { username: 'ada' },
    })
    const forged = await rewrite(id, (text) => text.replace('\n\nsigned\n', '\n\nforged\n'))
    t.match(await verificationOf(forged), none)
    await as('ada', 'DELETE', `/user/keys/${keyId}`)
    t.match(await verificationOf(id), none)
  })
}

t.test('the signature of an annotated tag is verified', async (t) => {
  const made = await copy.try([...gpgOfAda, 'tag', '--sign', '-m', 'A release', 'v1'], {
    environment: { GNUPGHOME: home.folder },
  })
  t.equal(made.exitCode, 0, made.errorText)
  await copy.git('push', '--quiet', folder, 'v1')
  const id = await copy.git('rev-parse', 'v1')
  t.match((await as('anyone', 'GET', `/repos/ada/r/git/tags/${id}`)).json, {
    message: 'A release\n',
    verification: { verified: true, signer: { username: 'ada' }, payload: /A release\n$/ },
  })
})

t.test('a signer whom the caller cannot see is not named', async (t) => {
  const id = await commit(gpgOfAda, '--gpg-sign')
  await gateway.db('owners').where({ id: gateway.ada.id }).update({ visibility: 'private' })
  t.match(await verificationOf(id, 'ada'), { verified: true })
  const seen = await as('bob', 'GET', `/repos/ada/r/git/commits/${id}`)
  t.notMatch(JSON.stringify(seen.json), '"verified":true')
  await gateway.db('owners').where({ id: gateway.ada.id }).update({ visibility: 'public' })
})

/** Pushes an unsigned commit of ada with a signature by gpg; returns its id. */
async function signed(...args: readonly string[]): Promise<string> {
  const unsigned = await commit(gpgOfAda, '--no-gpg-sign')
  return await rewrite(unsigned, (text) => {
    const signature = home.gpg([...args, '--armor', '--detach-sign'], text).trim()
    return text.replace('\n\n', `\ngpgsig ${signature.replaceAll('\n', '\n ')}\n\n`)
  })
}

const BAD = { verified: false, reason: 'gpg.error.probable_bad_signature', signer: null }

t.test('a key that expired verifies the signatures that it made before', async (t) => {
  const past = ['--faked-system-time', '20250101T000000!']
  const made = ['--passphrase', '', '--quick-gen-key', 'Old <ada@example.com>', 'ed25519', 'sign']
  home.gpg([...past, ...made, 'seconds=86400'])
  const expired = { armored_public_key: home.gpg(['--armor', '--export', 'Old <ada@example.com>']) }
  const before = await signed(...past, '--local-user', 'Old <ada@example.com>')
  const [, id = ''] = /^fpr:+(\w+):/m.exec(home.gpg(['--with-colons', '-k', 'Old <ada@'])) ?? []
  home.gpg(['--quick-set-expire', id, '0'])
  const after = await signed('--local-user', id)
  const added = await as('ada', 'POST', '/user/gpg_keys', expired)
  t.match(added, { status: 201, json: { expires_at: '2025-01-02T00:00:00Z' } })
  const key = added.json as { id: number; key_id: string }
  t.match(await verificationOf(before), { verified: true, reason: `ada / ${key.key_id}` })
  t.match(await verificationOf(after), BAD)
  await as('ada', 'DELETE', `/user/gpg_keys/${key.id}`)
})

t.test('a key that was revoked verifies no signature', async (t) => {
  const user = 'Lost <ada@example.com>'
  const valid = { armored_public_key: home.makeKey(user) }
  const id = await signed('--local-user', user)
  const [, fingerprint = ''] = /^fpr:+(\w+):/m.exec(home.gpg(['--with-colons', '-k', user])) ?? []
  const add = async (armored: object) => {
    const answer = await as('ada', 'POST', '/user/gpg_keys', armored)
    t.equal(answer.status, 201, answer.text)
    return answer.json as { id: number }
  }
  const key = await add(valid)
  t.match(await verificationOf(id), { verified: true })
  await as('ada', 'DELETE', `/user/gpg_keys/${key.id}`)
  const file = join(home.folder, 'openpgp-revocs.d', `${fingerprint}.rev`)
  // A colon keeps the certificate from being imported by mistake.
  home.gpg(['--import'], (await readFile(file, 'utf8')).replace(/^:/m, ''))
  await add({ armored_public_key: home.gpg(['--armor', '--export', user]) })
  t.match(await verificationOf(id), BAD)
})

t.test('pages of verified commits name the signer and the key', async (t) => {
  const id = await commit(gpgOfAda, '--gpg-sign')
  const { reason } = await verificationOf(id)
  for (const path of [`/ada/r/commit/${id}`, '/ada/r/commits']) {
    t.match((await gateway.ask({ path })).text, `Verified: ${reason}`, path)
  }
  const unsigned = await commit(gpgOfAda, '--no-gpg-sign')
  t.notMatch((await gateway.ask({ path: `/ada/r/commit/${unsigned}` })).text, 'Verified')
})
