/** Threat: values that git could parse as options or paths, on every route that reads Git data. */

import { existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startGatewayWithRepository } from '../helpers/gateway-with-repository.js'
import type { Answer } from '../helpers/requests.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** Parts of git's error messages and of server paths, which no reply may contain. */
const GIT_WORDS = /usage:|fatal:|error:|ambiguous argument|unknown revision|repositories\/|\/tmp\//

/** Returns "refused" if the reply has one of the statuses and no output of git, else its start. */
function refusalIn(
  rest: string,
  { status, text }: Pick<Answer, 'status' | 'text'>,
  ...statuses: readonly number[]
): string {
  const isRefused = statuses.includes(status) && !GIT_WORDS.test(text)
  return `${rest}: ${isRefused ? 'refused' : `${status} ${text.slice(0, 80)}`}`
}

t.test('threats 1.1: no value of a request becomes an option of git', async (t) => {
  const { get, ask, lines, folder } = await startGatewayWithRepository(t)
  const target = join(await temporaryFolder(t), 'written')
  const texts = [
    `--output=${target}`,
    `-O${target}`,
    `--exec=touch ${target}`,
    '--all',
    '--remote=ext::sh',
    `main\n--output=${target}`,
    'a\0b',
    'main~1',
    'main:README.md',
    '@{-1}',
  ]
  const before = await readdir(folder)
  for (const text of texts) {
    const sent = encodeURIComponent(text)
    const rests = [
      `branches/${sent}`,
      `tags/${sent}`,
      `git/tags/${sent}`,
      `git/commits/${sent}`,
      `git/commits/${sent}.diff`,
      `git/notes/${sent}`,
      `git/trees/${sent}`,
      `git/blobs/${sent}`,
      `git/refs/${sent}`,
      `compare/${sent}...main`,
      `compare/main...${sent}`,
      `commits?sha=${sent}`,
      `commits?not=${sent}`,
      `commits?path=${sent}`,
      `contents?ref=${sent}`,
      `contents/README.md?ref=${sent}`,
      `contents/${sent}`,
      `contents-ext/${sent}`,
      `contents-ext/README.md?ref=${sent}`,
      `file-contents?ref=${sent}&body=${encodeURIComponent('{"files":[]}')}`,
      `raw/README.md?ref=${sent}`,
      `raw/${sent}`,
      `raw/${sent}/README.md`,
      `media/README.md?ref=${sent}`,
      `media/${sent}`,
      `archive/${sent}.zip`,
      `archive/${sent}.tar.gz`,
      `git/trees/${sent}?recursive=1`,
      `wiki/page/${sent}`,
      `wiki/revisions/${sent}`,
    ]
    const pages = [
      `wiki/${sent}`,
      `wiki/raw/${sent}`,
      `wiki/${sent}/_diff?from=${sent}&to=${sent}`,
      `raw/branch/${sent}/README.md`,
      `raw/${sent}`,
      `archive/${sent}.zip`,
    ]
    const module = 'api/packages/ada/go/code.example.com/ada/r'
    const modules = [
      `${module}/@v/${sent}.info`,
      `${module}/@v/${sent}.zip`,
      `${module}/${sent}/@latest`,
      `${module}/${sent}/@v/v1.0.0.zip`,
    ]
    const answers = await Promise.all([
      ...rests.map(async (rest) => refusalIn(rest, await get(rest), 400, 404, 422)),
      ...pages.map(async (rest) => {
        return refusalIn(`/${rest}`, await ask({ path: `/ada/r/${rest}` }), 400, 404)
      }),
      ...modules.map(async (path) => refusalIn(path, await ask({ path: `/${path}` }), 400, 404)),
    ])
    t.strictSame(
      answers,
      [...rests, ...pages.map((rest) => `/${rest}`), ...modules].map((rest) => `${rest}: refused`),
      `on every route: ${JSON.stringify(text.replace(target, 'FILE'))}`,
    )
  }
  t.notOk(existsSync(target), 'no file was written')
  t.strictSame(await readdir(folder), before)
  const failures = lines.filter(({ level }) => Number(level) >= 50)
  t.strictSame(failures, [], 'no error was logged')
})

t.test(
  'threats 1.1: branches and tags with names like options are listed and can be read',
  async (t) => {
    const { get, copy, push } = await startGatewayWithRepository(t)
    for (const name of ['-h', '--output=x', '$(id)', 'a;id', '%2e%2e']) {
      await copy.git('update-ref', `refs/heads/${name}`, 'refs/heads/main')
      await copy.git('update-ref', `refs/tags/${name}`, 'refs/heads/main')
    }
    await push('refs/heads/*', 'refs/tags/*')
    t.equal((await get('branches')).headers['x-total-count'], '7')
    t.equal((await get('tags')).headers['x-total-count'], '7')
    t.equal((await get('git/refs')).status, 200)
    t.match((await get('branches/%2524%28id%29')).status, 404)
    t.match((await get('branches/%24%28id%29')).json, { name: '$(id)' })
    t.match((await get('branches/%252e%252e')).json, { name: '%2e%2e' })
    t.equal((await get('archive/a%3Bid.zip')).status, 200)
  },
)

t.test("threats 1.3: git's own files and files outside are not served as contents", async (t) => {
  const { get, ask } = await startGatewayWithRepository(t)
  const paths = [
    '.git/config',
    '../config',
    '..%2fconfig',
    'src/../../config',
    '/etc/passwd',
    'HEAD',
    'config',
    'hooks/post-update',
    'objects/info/packs',
    'src/..',
    '.',
    '%2e%2e/config',
    'link/../../config',
    'link',
    'src%00',
    'README.md%0a',
    'README.md/',
    'src%5cmain.ts',
  ]
  const OWN = /\[core\]|root:x|ref: refs/
  for (const prefix of ['contents', 'raw', 'media', 'raw/main', 'media/main']) {
    const answers = paths.map(async (path) => {
      const { status, text } = await get(`${prefix}/${path}`)
      const isHarmless = status === 200 && /README\.md|src\/main\.ts|# r/.test(text)
      const isFine = (isHarmless || [400, 404].includes(status)) && !OWN.test(text)
      return `${path}: ${isFine ? 'nothing' : `${status} ${text}`}`
    })
    t.strictSame(
      await Promise.all(answers),
      paths.map((path) => `${path}: nothing`),
      prefix,
    )
  }
  const pages = paths.map(async (path) => {
    const { text } = await ask({ path: `/ada/r/raw/branch/main/${path}` })
    return `${path}: ${OWN.test(text) ? text : 'nothing'}`
  })
  t.strictSame(
    await Promise.all(pages),
    paths.map((path) => `${path}: nothing`),
    'the pages',
  )
})

t.test('threats 1.4: hidden refs and objects of another type are not found by name', async (t) => {
  const { get, copy, folder } = await startGatewayWithRepository(t)
  for (const name of ['refs/hidden/x', 'hidden/x', 'refs/hidden', 'refs%2Fhidden%2Fx']) {
    for (const rest of [`git/commits/${name}`, `git/trees/${name}`, `commits?sha=${name}`]) {
      t.ok([404, 422].includes((await get(rest)).status), rest)
    }
    t.equal((await get(`archive/${name}.zip`)).status, 404)
  }
  const blob = await copy.git('rev-parse', 'main:README.md')
  for (const rest of [`git/commits/${blob}`, `commits?sha=${blob}`, `branches/${blob}`]) {
    t.equal((await get(rest)).status, 404, rest)
  }
  await rm(join(folder, 'refs/heads/main'), { force: true })
  t.equal((await get('contents/README.md')).status, 404, 'the default branch is deleted')
  t.ok((await stat(folder)).isDirectory())
})

t.test('threats F9: a tree of ten billion paths is listed in part', async (t) => {
  const { ask, get, copy, push, folder } = await startGatewayWithRepository(t)
  const blob = await copy.git('rev-parse', 'main:README.md')
  const mktree = async (lines: readonly string[]) => {
    const { output } = await copy.try(['mktree'], { input: `${lines.join('\n')}\n` })
    return output
  }
  let tree = await mktree([`100644 blob ${blob}\tf`])
  const names = Array.from({ length: 10 }, (_, at) => `d${at}`)
  for (let depth = 0; depth < 10; depth += 1) {
    tree = await mktree(names.map((name) => `040000 tree ${tree}\t${name}`))
  }
  await copy.git('update-ref', 'refs/heads/bomb', await copy.git('commit-tree', '-m', 'x', tree))
  await push('bomb')
  const listed = await get('git/trees/bomb?recursive=1&per_page=2')
  t.match(listed, { status: 200, json: { truncated: true, total_count: 100_000 } })
  t.match(await get('git/trees/bomb'), { status: 200, json: { total_count: 10 } })
  t.equal((await get('archive/bomb.zip')).status, 413)
  t.equal((await get('contents?ref=bomb')).status, 200)
  t.equal((await get('contents/d0/d1?ref=bomb')).status, 200)
  const commit = await get('git/commits/bomb')
  t.match(commit, { status: 200, json: { files: null, stats: null } })
  // It runs the same git command, which again takes ten seconds.
  if (isFullSize) t.match((await get('commits?sha=bomb')).json, [{ files: null }])
  await copy.git('update-ref', 'refs/heads/main', 'refs/heads/bomb')
  await push('main')
  t.equal((await get('languages')).status, 200)
  const module = '/api/packages/ada/go/code.example.com/ada/r'
  const { json } = await ask({ path: `${module}/@latest` })
  const { Version } = json as { Version: string }
  const zip = await ask({ path: `${module}/@v/${Version}.zip` })
  t.match(zip, { status: 404, text: /the folder has more than \d+ files/ })
  t.ok(existsSync(folder))
})
