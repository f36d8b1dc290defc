/** Threat: hostile paths, links and submodules in API writes, which are refused without effect. */

import { existsSync } from 'node:fs'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { startGatewayWithUsers } from '../helpers/gateway-with-users.js'
import { git } from '../helpers/git-client.js'
import { cloneInto } from '../helpers/working-copy.js'

const content = Buffer.from('* owned *').toString('base64')

const gateway = await startGatewayWithUsers(t)

/** Creates a repository of this name. */
async function scene(name: string) {
  await gateway.as('ada', 'POST', '/user/repos', { name, auto_init: true })
  const path = await gateway.pathOf('ada', name)
  return {
    ...gateway,
    path,
    file: (method: string, filepath: string, body: unknown) =>
      gateway.as('ada', method, `/repos/ada/${name}/contents/${filepath}`, body),
    inside: (...args: readonly string[]) => git(args, { cwd: path }),
    async folder() {
      const names = (await readdir(path, { recursive: true })).filter(
        (name) => !/^objects/.test(name),
      )
      return [names.sort(), await readFile(join(path, 'config'), 'utf8')]
    },
  }
}

/** Paths as they are sent; the server decodes each segment once. */
const PATHS = [
  '.git/config',
  '.git',
  '.GIT/hooks/x',
  'git~1/config',
  'GIT~1',
  '.git./config',
  '.git%20/config',
  '.git::$INDEX_ALLOCATION/x',
  '.git%3A%3A%24INDEX_ALLOCATION/x',
  '.g%E2%80%8Cit/config',
  '%EF%BB%BF.git/config',
  'a/.git/hooks/post-update',
  '.git%5Cconfig',
  'a%5C..%5Cx',
  'link%5Cx',
  'a/../../x',
  '%2e%2e/x',
  '..%2Fx',
  'a/%2e%2e/x',
  '/etc/x',
  '%2Fetc%2Fx',
  'a//b',
  'a%2F%2Fb',
  '.',
  '%2e',
  'a/.',
  '',
  '/',
  'a/',
  'a%00b',
  'a%0ab',
  'a%0Db',
  '%1b[2J',
  'x%7F',
  'x'.repeat(5_000),
  Array(200).fill('d').join('/'),
  'x'.repeat(256),
  `${'ab/'.repeat(1_400)}x`,
]

t.test('a hostile title of a wiki page becomes a plain file, or is refused', async (t) => {
  const { as, path } = await scene('wiki')
  const before = await readdir(dirname(path))
  const page = { title: 'Home', content_base64: content }
  t.equal((await as('ada', 'POST', '/repos/ada/wiki/wiki/new', page)).status, 201)
  const folder = path.replace(/\.git$/, '.wiki.git')
  const files = () => git(['ls-tree', '-r', '--name-only', '-z', 'main'], { cwd: folder })
  for (const sent of PATHS) {
    const name = JSON.stringify(sent.slice(0, 60))
    const title = decodeURIComponent(sent)
    const made = await as('ada', 'POST', '/repos/ada/wiki/wiki/new', { ...page, title })
    t.ok([201, 400, 422].includes(made.status), `${name}: ${made.status}`)
    const segment = encodeURIComponent(title)
    const edited = await as('ada', 'PATCH', `/repos/ada/wiki/wiki/page/${segment}`, page)
    t.ok([200, 400, 404, 431].includes(edited.status), `${name}: ${edited.status}`)
  }
  for (const file of (await files()).split('\0')) t.notMatch(file, /[/\\\p{Cc}]|^\.git$/u)
  await git(['fsck', '--strict'], { cwd: folder })
  const made = [folder.slice(folder.lastIndexOf('/') + 1)]
  t.strictSame((await readdir(dirname(path))).sort(), [...before, ...made].sort())
})

t.test('a path that leaves the tree or is malformed is refused by every operation', async (t) => {
  const { file, as, inside, folder } = await scene('paths')
  const before = [await inside('for-each-ref'), await folder()]
  const sha = await inside('rev-parse', 'main:README.md')
  for (const path of PATHS) {
    const name = JSON.stringify(path.slice(0, 60))
    const answers = await Promise.all([
      file('POST', path, { content }),
      file('PUT', path, { content }),
      file('PUT', path, { content, sha, from_path: 'README.md' }),
      file('DELETE', path, { sha }),
    ])
    // The listener refuses request lines that are longer than that.
    const expected = path.length > 4_000 ? [404, 414, 422, 431] : path === '' ? [405, 422] : [422]
    for (const { status } of answers) t.ok(expected.includes(status), `${name} ${status}`)
    const plain = decodeURIComponent(path)
    if (plain === '') continue
    const files = [{ operation: 'create', path: plain, content }]
    t.equal((await as('ada', 'POST', '/repos/ada/paths/contents', { files })).status, 422, name)
    const from = { content, sha, from_path: plain }
    t.equal((await file('PUT', 'x', from)).status, 422, `from ${name}`)
  }
  t.strictSame([await inside('for-each-ref'), await folder()], before)
})

t.test('files with names like options or commands are stored under these names', async (t) => {
  const { file, path, inside } = await scene('names')
  const names = [
    '-rf',
    '--output=x',
    '$(id)',
    '`id`',
    'a;id',
    "a'b",
    '%2e%2e',
    'con',
    'HEAD',
    'hooks/post-update',
  ]
  for (const name of names) {
    const answer = await file('POST', name.split('/').map(encodeURIComponent).join('/'), {
      content,
    })
    t.equal(answer.status, 201, `${name} ${answer.text}`)
  }
  const copy = await cloneInto(t, path)
  for (const name of names) t.equal(await readFile(join(copy.path, name), 'utf8'), '* owned *')
  t.notOk(existsSync(join(path, 'hooks')))
  await inside('fsck', '--strict', '--full')
})

t.test('a symbolic link is written as an entry of the tree and never followed', async (t) => {
  const { file, path, inside } = await scene('links')
  const copy = await cloneInto(t, path)
  await symlink('../hooks', join(copy.path, 'link'))
  await symlink('/etc/passwd', join(copy.path, 'passwd'))
  await copy.git('add', '.')
  await copy.git('commit', '-qm', 'links')
  await copy.git('push', '-q', 'origin', 'main')
  t.equal((await file('POST', 'link/x', { content })).status, 422)
  t.equal((await file('PUT', 'link/x', { content })).status, 422)
  t.equal((await file('PUT', 'passwd', { content })).status, 200)
  t.match(await inside('ls-tree', 'main', 'passwd'), /^120000 /)
  t.equal(await inside('show', 'main:passwd'), '* owned *')
  t.notMatch(await readFile('/etc/passwd', 'utf8'), /owned/)
  t.notOk(existsSync(join(dirname(path), 'hooks')))
})

t.test('a .gitmodules that a push would refuse is refused', async (t) => {
  const { file, inside, as } = await scene('modules')
  const modules = (url: string) =>
    Buffer.from(`[submodule "a"]\n\tpath = a\n\turl = ${url}\n`).toString('base64')
  const bad = modules('-u./payload')
  for (const name of [
    '.gitmodules',
    'deep/.gitmodules',
    '.GITMODULES',
    'gitmod~1',
    '.gitmodules%20',
  ]) {
    t.match(
      await file('POST', name, { content: bad }),
      { status: 422, json: { message: /is unsafe to clone/ } },
      name,
    )
  }
  t.equal((await file('POST', 'innocent', { content: bad })).status, 201)
  const sha = await inside('rev-parse', 'main:innocent')
  const files = [{ operation: 'update', path: '.gitmodules', from_path: 'innocent', sha }]
  t.equal((await as('ada', 'POST', '/repos/ada/modules/contents', { files })).status, 422)
  t.equal((await file('POST', '.gitmodules', { content: modules('../a.git') })).status, 201)
  await inside('fsck', '--strict', '--full')
})

t.test('keys like __proto__ in a body do not change the request', async (t) => {
  const { file, inside } = await scene('keys')
  const body = `{"content":"${content}","__proto__":{"branch":"x"},"constructor":{"prototype":{"sha":"1"}}}`
  t.equal((await file('POST', 'a', body)).status, 201)
  t.equal(await inside('for-each-ref', '--format=%(refname)'), 'refs/heads/main')
})
