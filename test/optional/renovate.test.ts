/** The Renovate bot with the real server: onboarding, update pull requests, and merges. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { startReceiver } from '../helpers/receiver.js'
import { changeRepository, makeRepository } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const PROGRAM = fileURLToPath(
  new URL('../../../.programs/renovate/node_modules/.bin/renovate', import.meta.url),
)
const RUN_TIMEOUT_MS = 180_000
const LOG_BYTES_MAX = 64 * 1_048_576

/** Scopes that Renovate's manual requires. */
const BOT_SCOPES = 'write:repository,write:issue,read:user,read:organization,read:misc'

interface LogLine {
  readonly level: number
  readonly msg: string
  readonly repositories?: readonly string[]
}

/** Lowest log level of warnings and errors. */
const WARNING = 40

/** Runs the bot on the repositories that it discovers; returns its log lines. */
async function runBot(
  { url }: Gatehouse,
  bot: Person,
  folder: string,
): Promise<readonly LogLine[]> {
  const { exitCode, output, errorText } = await runToEnd(process.execPath, [PROGRAM], {
    cwd: folder,
    timeoutMs: RUN_TIMEOUT_MS,
    outputBytesMax: LOG_BYTES_MAX,
    environment: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: folder,
      RENOVATE_PLATFORM: 'gitea',
      RENOVATE_ENDPOINT: url,
      RENOVATE_TOKEN: bot.token,
      RENOVATE_AUTODISCOVER: 'true',
      RENOVATE_BASE_DIR: folder,
      // RE2 is not compiled here, about which Renovate would warn.
      RENOVATE_X_IGNORE_RE2: 'true',
      LOG_LEVEL: 'debug',
      LOG_FORMAT: 'json',
    },
  })
  const log = output.toString()
  if (exitCode !== 0) throw new Error(errorText + log.slice(-4_000))
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  return lines.map((line) => JSON.parse(line) as LogLine)
}

const warningsOf = (log: readonly LogLine[]) =>
  log.filter(({ level }) => level >= WARNING).map(({ msg }) => msg)

interface NpmPackage {
  readonly versions: readonly string[]
  /** URL of the repository with its release notes. */
  readonly source: string
}

/** Starts an npm registry with the fields that Renovate reads; tests change its versions. */
async function startRegistry(t: Test) {
  const packages = new Map<string, NpmPackage>()
  const { url } = await startReceiver(t, {
    answer(response, { path }) {
      const name = path.slice(1)
      const found = packages.get(name)
      if (found === undefined) {
        response.writeHead(404).end()
        return
      }
      const { versions, source } = found
      const each = <T>(value: (version: string) => T) =>
        Object.fromEntries(versions.map((version) => [version, value(version)]))
      const body = {
        name,
        'dist-tags': { latest: versions.at(-1) },
        repository: { type: 'git', url: source },
        versions: each((version) => ({ name, version })),
        time: each(() => '2024-01-01T00:00:00Z'),
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    },
  })
  return { url, packages }
}

interface Pull {
  readonly number: number
  readonly title: string
  readonly body: string
  readonly state: string
  readonly merged: boolean
  readonly labels: readonly unknown[]
  readonly head: { readonly ref: string; readonly sha: string }
}

const RELEASE_NOTES = 'It turns **twice** as fast.'

/** Creates ada's private repository `engine`, whose dependencies wheel and axle are outdated. */
async function openScene(t: Test) {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  const bot = await gatehouse.addUser('renovate', { scopes: BOT_SCOPES })
  const { url, packages } = await startRegistry(t)
  const copy = await newWorkingCopy(t)
  await copy.commit('.npmrc', `registry=${url}/\n`)
  const dependencies = { wheel: '1.0.0', axle: '2.0.0' }
  await copy.commit('package.json', JSON.stringify({ name: 'engine', dependencies }, null, 2))
  const done = async (method: string, path: string, body?: unknown) => {
    const answer = await ada.api(method, path, body)
    if (answer.status >= 300) throw new Error(`${path} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const source = await makeRepository(ada, 'wheel', { auto_init: true })
  for (const name of ['engine', 'former', 'closed']) {
    await makeRepository(ada, name, { private: true })
    await copy.git('push', '--quiet', ada.remote(`ada/${name}.git`), 'HEAD:refs/heads/main')
    const permission = name === 'closed' ? 'read' : 'write'
    await done('PUT', `/repos/ada/${name}/collaborators/renovate`, { permission })
  }
  await changeRepository(ada, 'ada/former', { archived: true })
  await gatehouse.addUser('bob')
  await done('PUT', '/repos/ada/engine/collaborators/bob', { permission: 'read' })
  for (const tag_name of ['v1.0.0', 'v1.1.0']) {
    await done('POST', `/repos/${source}/releases`, {
      tag_name,
      name: tag_name,
      body: RELEASE_NOTES,
    })
  }
  return {
    packages,
    source: `${gatehouse.url}/${source}`,
    done,
    /** Runs the bot in an empty folder, as a CI job does. */
    run: async () => runBot(gatehouse, bot, await temporaryFolder(t)),
    pulls: async () =>
      (await done('GET', '/repos/ada/engine/pulls?state=all&sort=oldest')) as readonly Pull[],
    /** Returns a file of a branch as text. */
    async file(path: string, branch: string) {
      const found = await done('GET', `/repos/ada/engine/contents/${path}?ref=${branch}`)
      return Buffer.from((found as { content: string }).content, 'base64').toString()
    },
  }
}

const CONFIGURATION = {
  extends: ['config:recommended'],
  packageRules: [
    {
      matchPackageNames: ['wheel'],
      labels: ['dependencies'],
      assignees: ['ada'],
      reviewers: ['bob'],
      minimumReleaseAge: '3 days',
    },
    { matchPackageNames: ['axle'], automerge: true },
  ],
}

t.test('Renovate onboards a repository, updates its pull requests and merges them', async (t) => {
  t.ok(existsSync(PROGRAM), 'scripts/renovate-toolchain has installed the program')
  const { packages, source, done, run, pulls, file } = await openScene(t)
  packages.set('wheel', { versions: ['1.0.0', '1.1.0'], source })
  packages.set('axle', { versions: ['2.0.0', '2.0.1'], source: 'git+ssh://nowhere.invalid/axle' })
  const engine = '/repos/ada/engine'

  const first = await run()
  t.strictSame(warningsOf(first), [])
  const found = first.find(({ msg }) => msg === 'Autodiscovered repositories')
  t.strictSame(
    found?.repositories,
    ['ada/engine'],
    'repositories with write permission that are not archived',
  )
  const [onboarding] = await pulls()
  t.match(onboarding, { title: 'Configure Renovate', head: { ref: 'renovate/configure' } })
  t.match(onboarding?.body, /Update dependency wheel to v1\.1\.0/)

  const branch = 'renovate/configure'
  const settings = await done('GET', `${engine}/contents/renovate.json?ref=${branch}`)
  const { sha } = settings as { readonly sha: string }
  const content = Buffer.from(JSON.stringify(CONFIGURATION)).toString('base64')
  await done('PUT', `${engine}/contents/renovate.json`, { content, sha, branch })
  await done('POST', `${engine}/pulls/1/merge`, { Do: 'merge' })
  await done('POST', `${engine}/labels`, { name: 'dependencies', color: '#0366d6' })

  t.strictSame(warningsOf(await run()), [], 'automerge waits for checks without a warning')
  const [, axle, wheel] = await pulls()
  t.match(axle, { number: 2, title: 'Update dependency axle to v2.0.1', merged: false, labels: [] })
  t.match(wheel, {
    number: 3,
    title: 'Update dependency wheel to v1.1.0',
    labels: [{ name: 'dependencies' }],
    assignees: [{ login: 'ada' }],
    requested_reviewers: [{ login: 'bob' }],
    user: { login: 'renovate' },
    head: { ref: 'renovate/wheel-1.x' },
    body: /\[`v1\.1\.0`\].*\/ada\/wheel\/releases\/tag\/v1\.1\.0[\s\S]*It turns \*\*twice\*\*/,
  })
  t.match(JSON.parse(await file('package.json', 'renovate/wheel-1.x')), {
    dependencies: { wheel: '1.1.0', axle: '2.0.0' },
  })
  t.match(await done('GET', `${engine}/commits/${wheel?.head.sha}/status`), {
    state: 'success',
    statuses: [{ context: 'renovate/stability-days' }],
  })
  const issues = () => done('GET', `${engine}/issues?state=all&type=issues`)
  const dashboard = { number: 4, title: 'Dependency Dashboard', state: 'open' }
  t.match(await issues(), [{ ...dashboard, body: /Update dependency wheel to v1\.1\.0/ }])

  await done('POST', `${engine}/statuses/${axle?.head.sha}`, { context: 'ci', state: 'success' })
  packages.set('wheel', { versions: ['1.0.0', '1.1.0', '1.2.0'], source })
  t.strictSame(warningsOf(await run()), [])
  t.match(await pulls(), [
    { number: 1, merged: true },
    { number: 2, merged: true, merged_by: { login: 'renovate' } },
    { number: 3, title: 'Update dependency wheel to v1.2.0', state: 'open', mergeable: true },
  ])
  t.equal((await pulls()).length, 3)
  t.match(JSON.parse(await file('package.json', 'main')), { dependencies: { axle: '2.0.1' } })
  t.match(JSON.parse(await file('package.json', 'renovate/wheel-1.x')), {
    dependencies: { wheel: '1.2.0', axle: '2.0.1' },
  })
  const listed = (await issues()) as readonly { readonly body: string }[]
  t.match(listed, [{ ...dashboard, body: /Update dependency wheel to v1\.2\.0/ }])
  t.equal(listed.length, 1)
  const branches = (await done('GET', `${engine}/branches`)) as readonly { name: string }[]
  t.strictSame(branches.map(({ name }) => name).sort(), ['main', 'renovate/wheel-1.x'])
})
