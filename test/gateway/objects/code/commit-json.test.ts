/** Commits are shown with the accounts of their authors, in the author's time zone. */

import t from 'tap'
import type { Commit } from '../../../../cgi/objects/commit-object.js'
import {
  addressesOf,
  commitObjects,
  fileCommitObject,
  payloadCommits,
  signatureTime,
  verificationObject,
} from '../../../../gateway/objects/code/commit-json.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'
import { aRepository } from '../../../helpers/rows.js'

const ID = '1'.repeat(40)
const at = { atMs: 1_700_000_000_000, offsetMinutes: 60 }
const commit: Commit = {
  id: ID,
  tree: '2'.repeat(40),
  parents: ['3'.repeat(40)],
  message: 'Title\n',
  author: { name: 'Ada', email: 'ADA@example.com', ...at },
  committer: { name: 'Someone', email: 'nobody@example.com', ...at, offsetMinutes: 0 },
  signature: undefined,
}

t.test('authors and committers are resolved by verified addresses', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const repository = await aRepository(fixture.db, ada.id, 'r')
  const view = { repository, user: undefined }
  const api = `${BASE_URL}/api/v1/repos/ada/r`
  const stats = { total: 3, additions: 2, deletions: 1 }
  const [shown] = await commitObjects(context, view, [commit], () => ({ stats }))
  t.match(shown, {
    sha: ID,
    url: `${api}/git/commits/${ID}`,
    html_url: `${BASE_URL}/ada/r/commit/${ID}`,
    created: '2023-11-14T22:13:20Z',
    committer: null,
    files: null,
    stats,
    author: { login: 'ada', email: 'ada@noreply.code.example.com' },
    commit: {
      author: { name: 'Ada', email: 'ADA@example.com', date: '2023-11-14T23:13:20+01:00' },
      tree: { sha: '2'.repeat(40), url: `${api}/git/trees/${'2'.repeat(40)}` },
      verification: { verified: false, signer: null },
    },
    parents: [{ sha: '3'.repeat(40), url: `${api}/git/commits/${'3'.repeat(40)}` }],
  })
  const [own] = await commitObjects(context, { repository, user: ada }, [commit], () => ({
    isUnverified: true,
  }))
  t.match(own, { author: { email: 'ada@example.com' }, commit: { verification: null } })
  const [payload] = await payloadCommits(context, view, [commit])
  t.match(payload, {
    id: ID,
    message: 'Title\n',
    timestamp: '2023-11-14T23:13:20+01:00',
    added: null,
    author: { username: 'ada' },
    committer: { username: '', name: 'Someone' },
  })
  t.match(fileCommitObject(context, repository, commit), {
    sha: ID,
    message: 'Title\n',
    tree: { sha: '2'.repeat(40) },
    committer: { name: 'Someone', date: '2023-11-14T22:13:20Z' },
  })
  t.strictSame(addressesOf(context, repository), { api, html: `${BASE_URL}/ada/r` })
})

t.test('an account that the caller may not see is left out', async (t) => {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  await fixture.db('owners').where({ id: ada.id }).update({ visibility: 'private' })
  const repository = await aRepository(fixture.db, bob.id, 'r')
  const [shown] = await commitObjects(context, { repository, user: bob }, [commit])
  t.equal(shown?.author, null)
  const [payload] = await payloadCommits(context, { repository, user: undefined }, [commit])
  t.equal(payload?.author.username, '')
})

t.test('times keep their offset, and invalid ones are converted to valid times', async (t) => {
  const time = (atMs: number, offsetMinutes: number) =>
    signatureTime({ name: '', email: '', atMs, offsetMinutes })
  t.equal(time(0, 0), '1970-01-01T00:00:00Z')
  t.equal(time(0, -210), '1969-12-31T20:30:00-03:30')
  t.equal(time(0, 5_000), '1970-01-01T00:00:00Z')
  t.match(time(8.64e15, 60), /^9999-12-31T01:00:00\+01:00$/)
})

t.test('a signature is shown with its verification', async (t) => {
  const signature = { armored: 'A', payload: Buffer.from('P') }
  const signer = { ...(await (await openContext(t)).fixture.addUser('ada')), fullName: 'Ada L' }
  const verification = { isVerified: true, reason: 'ada / 1', signer }
  t.strictSame(verificationObject({ id: ID, email: 'a@b', signature }, verification), {
    verified: true,
    reason: 'ada / 1',
    signature: 'A',
    signer: { name: 'Ada L', email: 'a@b', username: 'ada' },
    payload: 'P',
  })
  t.match(verificationObject({ id: ID, email: '', signature: undefined }), {
    verified: false,
    reason: 'gpg.error.not_signed_commit',
  })
})
