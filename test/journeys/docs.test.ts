/** The shell commands of README.md and docs/: each is run here, or names its test or a reason. */

import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { apk } from '../helpers/apks.js'
import { packageZip } from '../helpers/composer-packages.js'
import { buildDeb } from '../helpers/deb-builder.js'
import { runEntryPoint } from '../helpers/entry-point.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { PLAIN_NODE } from '../helpers/plain-node.js'
import { rTarGz, rZip } from '../helpers/r-packages.js'
import { makeRepository } from '../helpers/repositories.js'
import { makeKeyPair } from '../helpers/ssh-keys.js'
import { sourceArchive } from '../helpers/swift.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { workingCopyAt } from '../helpers/working-copy.js'

const ROOT = new URL('../../../', import.meta.url).pathname
const THIS_TEST = 'test/journeys/docs.test.ts'

/** Headings of README.md whose commands test/journeys/readme.test.ts runs. */
const README_HEADINGS = ['Two commands', 'A first clone', 'A first package']

const README_LINES_MAX = 120
const PARAGRAPH_LINES_MAX = 6
const REASON_WORDS_MIN = 3
const PAGE_MS = 120_000

interface Page {
  /** Path from the root of the project. */
  readonly path: string
  readonly text: string
}

interface Block {
  /** Path of the page with the line of the fence. */
  readonly place: string
  readonly page: string
  readonly heading: string
  /** Line before the fence. */
  readonly mark: string
  readonly commands: string
}

async function readPages(): Promise<readonly Page[]> {
  const names = await readdir(join(ROOT, 'docs'), { recursive: true })
  const documents = names.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  const paths = ['README.md', ...documents.sort()]
  const texts = await Promise.all(paths.map((path) => readFile(join(ROOT, path), 'utf8')))
  return paths.map((path, at) => ({ path, text: texts[at] ?? '' }))
}

/** Returns the shell blocks of a page in order. */
function blocksOf({ path, text }: Page): readonly Block[] {
  const lines = text.split('\n')
  const starts = lines.flatMap((line, at) => (line === '```sh' ? [at] : []))
  return starts.map((start) => ({
    place: `${path}:${start + 1}`,
    page: path,
    heading:
      lines
        .slice(0, start)
        .findLast((line) => line.startsWith('## '))
        ?.slice(3) ?? '',
    mark: lines[start - 1] ?? '',
    commands: `${lines.slice(start + 1, lines.indexOf('```', start)).join('\n')}\n`,
  }))
}

function testOf({ mark }: Block): string | undefined {
  return /^<!-- tested by: (test\/\S+\.test\.ts) -->$/.exec(mark)?.[1]
}

function isCovered(block: Block): boolean {
  if (block.page === 'README.md' && README_HEADINGS.includes(block.heading)) return true
  const named = testOf(block)
  if (named !== undefined) return existsSync(join(ROOT, named))
  const [, reason = ''] = /^<!-- not tested: (.+) -->$/.exec(block.mark) ?? []
  return reason.split(' ').length >= REASON_WORDS_MIN
}

/** Returns the relative links of a page that lead to no file, or to no heading of a page. */
function brokenLinks(page: Page, pages: readonly Page[]): readonly string[] {
  const targets = [...page.text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false
    const [file = '', anchor] = target.split('#')
    const path = file === '' ? page.path : join(dirname(page.path), file)
    if (!existsSync(join(ROOT, path))) return true
    const found = pages.find((other) => other.path === path)
    return anchor !== undefined && !anchorsOf(found?.text ?? '').includes(anchor)
  })
}

/** Returns the anchors of the headings, as GitHub makes them. */
function anchorsOf(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** Returns the first lines of paragraphs that are too long; tables, lists and code are none. */
function longParagraphs({ text }: Page): readonly string[] {
  const prose = text.replaceAll(/^```.*?^```$/gms, '').replaceAll(/<!--.*?-->/gs, '')
  const paragraphs = prose.split(/\n\s*\n/).filter((part) => /^\s*[^\s|#-]/.test(part))
  return paragraphs
    .map((part) => part.trim().split('\n'))
    .filter((lines) => lines.length > PARAGRAPH_LINES_MAX)
    .map(([first = '']) => first)
}

const pages = await readPages()
const blocks = pages.flatMap(blocksOf)

t.test('each shell block is run, names the test that runs it, or says why not', async (t) => {
  t.ok(blocks.length > 0)
  for (const block of blocks) {
    const advice = `put <!-- tested by: test/… --> or <!-- not tested: why --> before the fence`
    t.ok(isCovered(block), `${block.place}: ${advice}`)
  }
})

t.test('README.md is short, paragraphs are short, and links lead somewhere', async (t) => {
  const readme = pages.find(({ path }) => path === 'README.md')?.text ?? ''
  t.ok(readme.split('\n').length - 1 <= README_LINES_MAX, `at most ${README_LINES_MAX} lines`)
  for (const page of pages) {
    t.strictSame(brokenLinks(page, pages), [], `broken links in ${page.path}`)
    if (page.path.startsWith('docs/decisions/')) continue
    t.strictSame(longParagraphs(page), [], `long paragraphs in ${page.path}`)
  }
})

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
}

/**
 * Returns a script that replaces scripts/gatehouse, which would use the settings of the clone.
 * Calls that read standard input or files, and runners, are processes. The test's process runs the
 * others, because each process takes a quarter of a second to start.
 */
async function commandLineOf(t: Test, { dataDir, port }: Gatehouse): Promise<string> {
  const settings = {
    GATEHOUSE_CONFIG: '/dev/null',
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
  }
  Object.assign(process.env, settings)
  t.teardown(() => {
    for (const name of Object.keys(settings)) delete process.env[name]
  })
  const listener = createServer(async (request, response) => {
    const words = new URLSearchParams(await text(request)).getAll('word')
    try {
      const { exitCode, output, errorText } = await runEntryPoint(t, words)
      response.writeHead(exitCode === 0 ? 200 : 500).end(output + errorText)
    } catch (error) {
      response.writeHead(500).end(`${error}`)
    }
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.teardown(() => listener.close())
  const program = join(ROOT, 'dist/program/gatehouse.js')
  const variables = Object.entries(settings).map(([name, value]) => `${name}='${value}'`)
  return `#!/bin/sh
case "$*" in
  *-stdin | "workflow "* | "runner r"*)
    export ${variables.join(' ')}
    exec env ${PLAIN_NODE.join(' ')} '${program}' "$@" ;;
esac
for word; do
  set -- "$@" --data-urlencode "word=$word"
  shift
done
exec curl --silent --show-error --fail-with-body "$@" ${urlOf(listener)}
`
}

/** Writes the files that the commands read, and the command line, into a new folder; returns it. */
async function writeFiles(t: Test, { gatehouse, ada }: Scene): Promise<string> {
  const folder = await temporaryFolder(t)
  const toy = { Package: 'toy', Version: '1.0' }
  const files = {
    'scripts/gatehouse': await commandLineOf(t, gatehouse),
    'tool.tar.gz': 'a tool\n',
    'hello-1.0-r0.apk': apk(),
    'project.zip': packageZip({ name: 'acme/lib', version: '1.0.0' }),
    'toy_1.0.tar.gz': rTarGz(toy),
    'toy_1.0.zip': rZip(toy),
    'hello_1.0_amd64.deb': await buildDeb(t, { fields: { Package: 'hello' }, packing: 'none' }),
    'Hello.zip': await sourceArchive(),
    'go.mod': 'module example.org/lib\n',
    'composer.json': '{"name":"acme/tagged"}\n',
    netrc: `machine 127.0.0.1 login ada password ${ada.token}\n`,
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  await chmod(join(folder, 'scripts/gatehouse'), 0o755)
  await mkdir(join(folder, '.ssh'))
  await makeKeyPair(join(folder, '.ssh'), 'id_ed25519', '-t', 'ed25519')
  const { git } = workingCopyAt(folder)
  await git('init', '--quiet')
  await git('add', 'go.mod', 'composer.json')
  await git('commit', '--quiet', '--message=First')
  for (const tag of ['v1.0.0', 'v1.2.3']) await git('tag', tag)
  return folder
}

function urlOf(listener: Server): string {
  const address = listener.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`
}

/** Puts the server's address in place of the addresses in the documents. */
function addressed(commands: string, port: number): string {
  return commands
    .replaceAll(/https:\/\/((?:[^\s/"'@]+@)?)code\.example\.org/g, `http://$1127.0.0.1:${port}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
}

/** Runs the blocks of a page in one shell. */
async function runPage(
  t: Test,
  { ada, gatehouse, files }: Scene & { readonly files: string },
  blocks: readonly Block[],
): Promise<void> {
  const folder = await temporaryFolder(t)
  await cp(files, folder, { recursive: true })
  const script = join(folder, 'page.sh')
  await writeFile(
    script,
    addressed(blocks.map(({ commands }) => commands).join('\n'), gatehouse.port),
  )
  const { exitCode, output, errorText } = await runToEnd('bash', ['-euxo', 'pipefail', script], {
    cwd: folder,
    environment: {
      PATH: [dirname(process.execPath), process.env['PATH'] ?? '/usr/bin:/bin'].join(':'),
      HOME: folder,
      TOKEN: ada.token,
      ADMIN_TOKEN: ada.token,
      PASSWORD: ada.password,
    },
    timeoutMs: PAGE_MS,
    outputBytesMax: 4_194_304,
  })
  const [said, printed] = [errorText, output.toString()].map((text) => text.slice(-1_500))
  t.equal(exitCode, 0, 'the commands succeed', { said, printed })
}

t.test('the commands that name this test succeed', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  await makeRepository(ada, 'hello', { auto_init: true })
  const file = `${gatehouse.url}/api/packages/ada/generic/tool/1.0/tool.txt`
  const headers = { authorization: `token ${ada.token}` }
  t.equal((await fetch(file, { method: 'PUT', headers, body: 'a tool\n' })).status, 201)
  const files = await writeFiles(t, { gatehouse, ada })
  // The pages share the server: some use the organization that docs/packages/README.md creates.
  const own = blocks.filter((block) => testOf(block) === THIS_TEST)
  const paths = pages.map(({ path }) => path)
  for (const path of paths.filter((path) => own.some(({ page }) => page === path))) {
    await t.test(path, (t) =>
      runPage(
        t,
        { gatehouse, ada, files },
        own.filter(({ page }) => page === path),
      ),
    )
  }
})
