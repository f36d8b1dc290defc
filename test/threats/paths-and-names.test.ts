/** Threat: path traversal in requests (404), and names that act as paths or options (422). */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { t } from 'tap'
import { runCommand } from '../helpers/command-line.js'
import { startGateway } from '../helpers/gateway.js'
import { tryGit } from '../helpers/git-client.js'
import { addPerson } from '../helpers/person.js'
import { converse, type Exchange } from '../helpers/raw-http.js'
import { temporaryFolder } from '../helpers/temporary.js'

/** Paths as sent on the wire, without the normalisation of an HTTP client. */
const PATHS = [
  '/%2F%2F%2F%2F..%2F..%2F..%2Fetc%2Fpasswd',
  '/../../../etc/passwd',
  '/..%5c..%5cetc%5cpasswd',
  '/..\\..\\etc\\passwd',
  '/a/..;/b',
  '/%252e%252e/%252e%252e/etc/passwd',
  '/.%2e/.%2e/etc/passwd',
  '/ada/library.git/objects/../config',
  '/ada/library.git/objects/info/../../../p',
  '/ada/library.git/info/../config',
  '/ada/library.git/config',
  '/ada/library.git/HEAD',
  '/ada/library.git/objects/info/packs',
  '/ada/library.git/objects/info/alternates',
  '/ada/library.git/info/refs/../../config',
  '/ada/library.git/%2e%2e/library.git/config',
  '/ada%2Flibrary.git/info/refs?service=git-upload-pack',
  '/ada/library.git%00/info/refs?service=git-upload-pack',
  '/ada/library.git%2f..%2fother.git/info/refs?service=git-upload-pack',
  '/ada/../ada/library.git/info/refs?service=git-upload-pack',
  '/ada/./library.git/info/refs?service=git-upload-pack',
  '/ada//library.git/info/refs?service=git-upload-pack',
  '/ada/library.git/./info/refs?service=git-upload-pack',
  '/ada/library.git/info//refs?service=git-upload-pack',
  '/ada/library.git/info/refs/?service=git-upload-pack',
  '/ada/library.git./info/refs?service=git-upload-pack',
  '/ada/library.git.git/info/refs?service=git-upload-pack',
  '/ada/library.git%20/info/refs?service=git-upload-pack',
  '/ada/%6Cibrary%00.git/info/refs?service=git-upload-pack',
  '/a%ff/library.git/info/refs?service=git-upload-pack',
  '/%/library.git/info/refs?service=git-upload-pack',
  '/./library.git/info/refs?service=git-upload-pack',
  '/%2e%2e/library.git/info/refs?service=git-upload-pack',
  '/api/v1/repos/ada/library%00',
  '/api/v1/repos/ada/..%2Flibrary',
  '/api/v1/repos/%2e%2e/library',
  '/api/v1/repos/ada/library/../../../user',
  '/api/v1/../../ada/library.git/config',
  '/api/v1/repos/ada/librar%D1%83',
  // The Kelvin sign and the long s become k and s in lower case elsewhere.
  '/api/v1/users/%E2%84%AAim',
  '/api/v1/users/%C5%BFam',
  '/api/v1/users/kim.',
  '/api/v1/users/kim%20',
  '/api/v1/users/ki%C3%ADm',
]

t.test('no path reaches files outside of a repository or another name', async (t) => {
  const gateway = await startGateway(t)
  const ada = await addPerson(gateway, 'ada')
  await gateway.addUser('kim')
  await gateway.addUser('sam')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)
  for (const authorization of ['', `Authorization: token ${ada.token}\r\n`]) {
    const answers = PATHS.map(async (path) => {
      const request = `GET ${path} HTTP/1.1\r\nHost: a\r\n${authorization}Connection: close\r\n\r\n`
      const { text, statuses } = await converse(gateway.port, [request])
      const status = statuses[0] ?? 0
      const isRefused = [400, 404].includes(status) || (status === 401 && authorization === '')
      const [leak] = /\[core\]|root:|"full_name"|# service=|"login"/.exec(text) ?? []
      return [path, isRefused ? 'refused' : status, leak]
    })
    t.strictSame(
      await Promise.all(answers),
      PATHS.map((path) => [path, 'refused', undefined]),
      authorization === '' ? 'without credentials' : 'with a token',
    )
  }
})

const NAMES = [
  '',
  '.',
  '..',
  '...',
  '/',
  'a/b',
  '../x',
  '..\\x',
  'x.git',
  'x.GIT',
  'x.wiki',
  '.git',
  '-x',
  '--upload-pack=x',
  'con',
  'CON.txt',
  'nul',
  'x.lock',
  'a\0',
  'a\0.txt',
  'a b',
  ' a',
  'a ',
  'a.',
  'a\n',
  'a\r\nX: y',
  '\u212aelvin',
  'ıstanbul',
  'İ',
  'straße',
  'é',
  'e\u0301',
  '\u202ea',
  'a\u200b',
  '$(id)',
  '`id`',
  "a'b",
  'a"b',
  'a;id',
  'a%2e',
  '%2e%2e',
  'a'.repeat(101),
  'a:b',
  '~a',
]

t.test('repositories, organizations and users with unsafe names are refused', async (t) => {
  const gateway = await startGateway(t)
  const ada = await addPerson(gateway, 'ada')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library' })).status, 201)
  for (const [what, method, path, field] of [
    ['repositories', 'POST', '/user/repos', 'name'],
    ['a renamed repository', 'PATCH', '/repos/ada/library', 'name'],
    ['organizations', 'POST', '/orgs', 'username'],
  ] as const) {
    const answers: unknown[] = []
    for (const name of NAMES) {
      answers.push([name, (await ada.api(method, path, { [field]: name })).status])
    }
    t.strictSame(
      answers,
      NAMES.map((name) => [name, 422]),
      `names of ${what}`,
    )
  }
  t.equal((await ada.api('POST', '/user/repos', { name: 'LIBRARY' })).status, 409)
  t.equal((await ada.api('POST', '/orgs', { username: 'ADA' })).status, 422)
  const names = ['-x', 'plain']
  const { dir } = gateway.settings.data
  const exits = names.map(async (name) => {
    const args = ['user', 'create', '--password', 'long enough', '--', name]
    const { exitCode } = await runCommand(t, args, { environment: { GATEHOUSE_DATA_DIR: dir } })
    return [name, exitCode]
  })
  t.strictSame(
    await Promise.all(exits),
    names.map((name) => [name, name === 'plain' ? 0 : 1]),
    'names of users',
  )
  const { body } = await ada.api('GET', '/user/repos')
  t.match(body, [{ full_name: 'ada/library' }])
})

/** Messages of git that show that it parsed a name as an option. */
const USAGE = /usage: git|unknown option|unrecognized argument/i

t.test('a branch name like an option of git is refused with 422', async (t) => {
  const gateway = await startGateway(t)
  const ada = await addPerson(gateway, 'ada')
  const folder = await temporaryFolder(t)
  const target = join(folder, 'written')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)
  t.equal((await ada.api('POST', '/user/repos', { name: 'empty' })).status, 201)
  const options = [
    `--output=${target}`,
    `--outp=${target}`,
    '--upload-pack=x',
    '--upl=x',
    `--exec=touch ${target}`,
    '-h',
    '--help',
    '-d',
    `-F${target}`,
    '-O./x',
    '--',
    '-',
    '-c',
    `$(touch ${target})`,
    `a;touch ${target}`,
    '..',
    'a..b',
    '@{u}',
    'HEAD',
    '@',
    'a b',
    'a\nb',
    'a\0b',
    'x.lock',
    '.x',
    'a//b',
    '/a',
    'a/',
    '\\',
  ]
  for (const [what, method, path] of [
    ['of a repository', 'PATCH', '/repos/ada/library'],
    ['of an empty repository', 'PATCH', '/repos/ada/empty'],
    ['of a new repository', 'POST', '/user/repos'],
  ] as const) {
    const answers: unknown[] = []
    for (const branch of options) {
      const rest = method === 'POST' ? { name: 'another', auto_init: true } : {}
      const { status, body } = await ada.api(method, path, { ...rest, default_branch: branch })
      answers.push([branch, status, USAGE.test(JSON.stringify(body))])
    }
    t.strictSame(
      answers,
      options.map((branch) => [branch, 422, false]),
      `the default branch ${what}`,
    )
  }
  t.notOk(existsSync(target), 'no file was written')
  t.notMatch(JSON.stringify(gateway.lines), USAGE)
  t.equal((await ada.api('GET', '/repos/ada/another')).status, 404)
})

t.test('requests that are not of the smart HTTP protocol are refused', async (t) => {
  const gateway = await startGateway(t)
  const ada = await addPerson(gateway, 'ada')
  t.equal((await ada.api('POST', '/user/repos', { name: 'library', auto_init: true })).status, 201)
  const authorization = `Authorization: token ${ada.token}\r\nConnection: close\r\n`
  const services = [
    'git-upload-archive',
    'git-shell',
    '--help',
    '-h',
    'git-upload-pack%20--help',
    '',
    'git-upload-pack;id',
    'git-upload-pack%00',
    '../git-upload-pack',
    'GIT-UPLOAD-PACK',
  ]
  const answers = services.map(async (service) => {
    const get = `GET /ada/library.git/info/refs?service=${service} HTTP/1.1\r\nHost: a\r\n${authorization}\r\n`
    const asked = await converse(gateway.port, [get])
    const post =
      `POST /ada/library.git/${service} HTTP/1.1\r\nHost: a\r\n${authorization}` +
      'Content-Length: 4\r\nContent-Type: application/x-git-upload-pack-request\r\n\r\n0000'
    const sent = await converse(gateway.port, [post])
    return [
      service,
      refusedWith(asked, 400, 403, 404),
      refusedWith(sent, 400, 404, 405),
      USAGE.test(asked.text + sent.text),
    ]
  })
  t.strictSame(
    await Promise.all(answers),
    services.map((service) => [service, 'refused', 'refused', false]),
  )
  const cwd = await temporaryFolder(t)
  const protocols = ['version=9', 'version=2; id', 'version=2 x', '--help', 'x'.repeat(300)]
  const exits = protocols.map(async (protocol) => {
    const header = `http.extraHeader=Git-Protocol: ${protocol}`
    const { exitCode } = await tryGit(
      ['-c', 'protocol.version=0', '-c', header, 'ls-remote', ada.remote('ada/library.git')],
      { cwd },
    )
    return [protocol, exitCode]
  })
  t.strictSame(
    await Promise.all(exits),
    protocols.map((protocol) => [protocol, 0]),
    'an unknown Git-Protocol is ignored',
  )
})

/** Returns "refused" if the first status of the exchange is one of these, else the statuses. */
function refusedWith({ statuses }: Exchange, ...wanted: readonly number[]): string {
  return wanted.includes(statuses[0] ?? 0) ? 'refused' : statuses.join()
}
