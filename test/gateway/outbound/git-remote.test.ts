/** Addresses of remote repositories are validated, and resolved at each use. */

import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import {
  basicAuthorization,
  boundsOf,
  parseCloneAddress,
  resolveRemote,
} from '../../../gateway/outbound/git-remote.js'
import { openContext } from '../../helpers/gateway.js'

t.test('credentials are separated from the address', async (t) => {
  const parsed = parseCloneAddress('HTTPS://eve:p%40ss%2F@Code.Example.com.:443/a/b%20c.git')
  t.equal(parsed.url.href, 'https://code.example.com/a/b%20c.git')
  t.strictSame([parsed.username, parsed.password], ['eve', 'p@ss/'])
  t.strictSame(parseCloneAddress('http://h/x').username, '')
})

t.test('an invalid address is refused and not repeated in the message', async (t) => {
  const local = 'You are not allowed to import local repositories.'
  for (const text of [
    '/a',
    './a',
    '../a',
    '~/a',
    'file:///secret',
    'FILE:secret',
    'c:\\a',
    '\\a',
  ]) {
    t.throws(() => parseCloneAddress(text), { failure: 'invalid', message: local }, text)
  }
  const odd = [
    '',
    'secret',
    'git://h/x',
    'ssh://h/x',
    'git@h:x',
    'ext::sh -c id',
    '--upload-pack=x',
    'https:///evil/x',
    'https:/evil/x',
    'https:evil',
    'http://h/x?secret',
    'http://h/x#secret',
    'http://h/\tx',
    ' http://h/x',
    'http://h/x\n',
    'http://h\\@evil/x',
    'http://h/%0aX',
    '-chttp://h/',
    'http://h/%00',
    'http://h/%7f',
    'http://h:99999/',
    `http://h/${'x'.repeat(2_048)}`,
  ]
  for (const text of odd) {
    t.throws(
      () => parseCloneAddress(text),
      { failure: 'invalid', message: /^The clone address must be a URL/ },
      JSON.stringify(text.slice(0, 40)),
    )
  }
})

t.test('credentials become one Authorization header', async (t) => {
  t.equal(basicAuthorization('', ''), undefined)
  t.equal(basicAuthorization('eve', 'ü:x'), `Basic ${Buffer.from('eve:ü:x').toString('base64')}`)
})

t.test('with an older git only names that are permitted individually are called', async (t) => {
  const environment = { GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.0/8,localhost' }
  const { context } = await openContext(t, { environment })
  const git = await findGit()
  const resolve = (text: string, version: readonly [number, number, number]) =>
    resolveRemote(
      { settings: context.settings, git: { ...git, version } },
      { url: new URL(text), authorization: undefined },
    )
  const [old, newer] = [
    [2, 34, 1],
    [2, 39, 5],
  ] as const
  t.strictSame((await resolve('http://127.0.0.1/x', old)).addresses, ['127.0.0.1'])
  t.ok((await resolve('http://localhost/x', old)).addresses.includes('127.0.0.1'))
  t.ok((await resolve('http://localhost/x', newer)).addresses.includes('127.0.0.1'))
  const other = { failure: 'invalid', message: /^You can not import from disallowed hosts\./ }
  await t.rejects(resolve('http://[::1]/x', newer), other)
  await t.rejects(resolve('http://10.0.0.1/x', newer), other)
  await t.rejects(resolve('http://10.0.0.1/x', newer), { message: /outbound\.allow/ })
  t.match(boundsOf(context.settings), { timeoutMs: 3_600_000, idleMs: 120_000 })
})

t.test('an unresolvable host and a refused host have different errors', async (t) => {
  const { context } = await openContext(t)
  const remote = { settings: context.settings, git: await findGit() }
  const input = (text: string) => ({ url: new URL(text), authorization: undefined })
  // A name with this character is never resolved, so the result does not depend on the network.
  await t.rejects(resolveRemote(remote, input('http://git.example$/x')), {
    failure: 'invalid',
    message: "The host 'git.example$' does not resolve. Check the spelling.",
  })
})
