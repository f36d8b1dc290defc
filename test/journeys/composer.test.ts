/** Composer packages: uploads, and installations with Composer itself. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type ComposerProject, newComposerProject } from '../helpers/composer-client.js'
import { packageTarGz, packageZip } from '../helpers/composer-packages.js'
import type { Gatehouse, Person } from '../helpers/gatehouse.js'
import { onPackageGatehouse, putPackage } from '../helpers/package-gatehouses.js'
import { makeRepository } from '../helpers/repositories.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy, workingCopyAt } from '../helpers/working-copy.js'

interface Workspace {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  /** URL of ada's Composer packages. */
  readonly registry: string
}

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'packages are published and installed',
  async (t, fixture) => {
    const workspace = workspaceIn(fixture, fixture.ada)
    await requireVersions(t, workspace)
    await updateInstalled(t, workspace)
    await privateOwner(t, workspace)
  },
)

await onPackageGatehouse(
  t,
  'MariaDB and S3',
  'search, dependencies, branches and tarballs work with Composer',
  async (t, fixture) => {
    const workspace = workspaceIn(fixture, fixture.ada)
    await searchPackages(t, workspace)
    await requireDependencies(t, workspace)
    await explainFailures(t, workspace)
    await requireArchives(t, workspace)
    await publishTwice(t, workspace)
    await preferSource(t, workspace)
  },
)

function workspaceIn(gatehouse: Gatehouse, ada: Person): Workspace {
  return { gatehouse, ada, registry: `${gatehouse.url}/api/packages/ada/composer` }
}

interface Sent {
  readonly archive: Buffer
  readonly to?: string
}

async function publish(t: Test, { ada, registry }: Workspace, { archive, to = registry }: Sent) {
  t.equal(await putPackage(ada, to, archive), '201')
}

async function publishAll(
  t: Test,
  workspace: Workspace,
  all: ReadonlyArray<Record<string, unknown>>,
) {
  for (const fields of all) await publish(t, workspace, { archive: packageZip(fields) })
}

async function succeeds(t: Test, project: ComposerProject, ...args: readonly string[]) {
  const { exitCode, output } = await project.run(...args)
  t.equal(exitCode, 0, `composer ${args.join(' ')}\n${output}`)
  return output
}

async function requireVersions(t: Test, workspace: Workspace): Promise<void> {
  const name = 'the newest version, a range, an exact version and named branches are installed'
  await t.test(name, async (t) => {
    for (const version of ['1.0.0', 'v1.1.0', '1.10.0', '1.9.0', '2.0.0-beta1']) {
      const files = { 'src/Version.php': `<?php // ${version}\n` }
      await publish(t, workspace, {
        archive: packageZip({ name: 'acme/lib', version }, { files }),
      })
    }
    await publishAll(t, workspace, [
      {
        name: 'acme/branchy',
        version: 'dev-main',
        extra: { 'branch-alias': { 'dev-main': '2.x-dev' } },
      },
      { name: 'acme/branchy', version: 'dev-feature/new' },
      { name: 'acme/branchy', version: '1.x-dev' },
      { name: 'acme/branchy', version: '1.0.0' },
    ])
    const wanted = [
      { lib: '', is: '1.10.0', branchy: ':dev-feature/new', branch: 'dev-feature/new' },
      { lib: ':1.1', is: 'v1.1.0', branchy: ':^2.0@dev', branch: 'dev-main' },
      { lib: ':^2.0@beta', is: '2.0.0-beta1', branchy: '', branch: '1.0.0' },
      ...(isFullSize
        ? [
            { lib: ':~1.0.0', is: '1.0.0', branchy: ':1.x-dev', branch: '1.x-dev' },
            { lib: ':>=1.1 <1.10', is: '1.9.0', branchy: '', branch: '1.0.0' },
          ]
        : []),
    ]
    for (const { lib, is, branchy, branch } of wanted) {
      const project = await newComposerProject(t, workspace)
      await succeeds(t, project, 'require', `acme/lib${lib}`, `acme/branchy${branchy}`)
      t.strictSame(await project.locked(), { 'acme/branchy': branch, 'acme/lib': is })
      const installed = join(project.folder, 'vendor/acme/lib/src/Version.php')
      t.equal(await readFile(installed, 'utf8'), `<?php // ${is}\n`)
    }
  })
}

async function requireDependencies(t: Test, workspace: Workspace): Promise<void> {
  await t.test('dependencies are resolved with require, provide and replace', async (t) => {
    await publishAll(t, workspace, [
      { name: 'acme/base', version: '1.0.0' },
      { name: 'acme/base', version: '1.1.0' },
      { name: 'acme/base', version: '2.0.0', require: { php: '>=99' } },
      { name: 'acme/app', version: '1.0.0', require: { 'acme/base': '^1.0', 'acme/log': '*' } },
      { name: 'acme/logger', version: '1.0.0', provide: { 'acme/log': '1.0.0' } },
      { name: 'acme/fork', version: '1.5.0', replace: { 'acme/base': 'self.version' } },
      { name: 'acme/rival', version: '1.0.0', conflict: { 'acme/base': '>=1.1' } },
    ])
    const wanted = {
      ...(isFullSize && { 'acme/logger': { 'acme/base': '1.1.0', 'acme/logger': '1.0.0' } }),
      'acme/rival': { 'acme/base': '1.0.0', 'acme/logger': '1.0.0', 'acme/rival': '1.0.0' },
      'acme/fork': { 'acme/fork': '1.5.0', 'acme/logger': '1.0.0' },
    }
    for (const [besides, locked] of Object.entries(wanted)) {
      const project = await newComposerProject(t, workspace)
      await succeeds(t, project, 'require', 'acme/app', 'acme/logger', besides)
      t.strictSame(await project.locked(), { 'acme/app': '1.0.0', ...locked }, besides)
    }
  })
}

async function explainFailures(t: Test, workspace: Workspace): Promise<void> {
  await t.test('Composer shows other versions and the packages that provide a name', async (t) => {
    await publishAll(t, workspace, [
      {
        name: 'acme/cache-memory',
        version: '1.0.0',
        description: 'Caches in memory',
        provide: { 'acme/cache': '1.0.0' },
      },
      { name: 'acme/shop', version: '1.0.0', require: { 'acme/cache': '^1.0' } },
    ])
    const project = await newComposerProject(t, workspace)
    const { exitCode, output } = await project.run('require', 'acme/shop', 'acme/base:^3.0')
    t.not(exitCode, 0)
    t.match(output, /found acme\/base\[.*\] but it does not match the constraint/)
    t.match(output, /the following packages provide it:\s+- acme\/cache-memory Caches in memory/)
    const provided = await succeeds(t, project, 'require', 'acme/shop', 'acme/cache-memory')
    t.match(provided, /No security vulnerability advisories found/)
  })
}

async function requireArchives(t: Test, workspace: Workspace): Promise<void> {
  const name =
    'archives with or without a folder, by composer archive or git archive, are installed'
  await t.test(name, async (t) => {
    const files = { 'hello.php': '<?php // hello\n' }
    const flat = packageTarGz({ name: 'acme/flat', version: '1.0' }, { files })
    const tag = packageTarGz({ name: 'acme/tag' }, { files, folder: 'tag-1.0/' })
    await publish(t, workspace, { archive: flat })
    await publish(t, workspace, { archive: tag, to: `${workspace.registry}?version=1.0` })
    await publishMade(t, workspace)

    const names = ['flat', 'tag', 'made-zip', 'made-tar', 'tagged'].map((last) => `acme/${last}`)
    const project = await newComposerProject(t, workspace)
    await succeeds(t, project, 'require', ...names)
    for (const name of names) {
      const installed = join(project.folder, 'vendor', name, 'hello.php')
      t.equal(await readFile(installed, 'utf8'), '<?php // hello\n', name)
    }
  })
}

/** Publishes archives that Composer and git make. */
async function publishMade(t: Test, workspace: Workspace): Promise<void> {
  const made = await newComposerProject(t, workspace)
  const write = (path: string, text: string) => writeFile(join(made.folder, path), text)
  await write('hello.php', '<?php // hello\n')
  for (const format of ['zip', 'tar.gz']) {
    const name = `acme/made-${format.slice(0, 3)}`
    await write('composer.json', JSON.stringify({ name, version: '1.0', description: 'Made' }))
    await succeeds(t, made, 'archive', `--format=${format}`, '--file=made')
    await publish(t, workspace, { archive: await readFile(join(made.folder, `made.${format}`)) })
  }
  const copy = workingCopyAt(made.folder)
  await copy.git('init', '--quiet')
  await write('composer.json', JSON.stringify({ name: 'acme/tagged' }))
  await copy.git('add', 'composer.json', 'hello.php')
  await copy.git('commit', '--quiet', '--message=Tagged')
  await copy.git('archive', '--prefix=tagged-2.0/', '--output=tagged.tar.gz', 'HEAD')
  const archive = await readFile(join(made.folder, 'tagged.tar.gz'))
  await publish(t, workspace, { archive, to: `${workspace.registry}?version=2.0` })
}

async function searchPackages(t: Test, workspace: Workspace): Promise<void> {
  await t.test('packages are found by name, type and description', async (t) => {
    const described = { name: 'acme/finder', version: '1.0', description: 'Finds things' }
    const other = { ...described, name: 'acme/finder-lib', type: 'library' }
    await publishAll(t, workspace, [{ ...described, type: 'symfony-bundle' }, other])
    const project = await newComposerProject(t, workspace)
    const found = /acme\/finder\s+Finds things/
    const bundles = await succeeds(t, project, 'search', '-t', 'symfony-bundle', 'finder')
    t.match(bundles, found)
    t.notMatch(bundles, 'finder-lib')
    if (isFullSize) {
      t.match(await succeeds(t, project, 'search', 'finder'), found)
      t.match(await succeeds(t, project, 'search', '--only-name', 'fin'), /acme\/finder/)
    }
    const shown = await succeeds(t, project, 'show', '--all', 'acme/finder')
    t.match(shown, /descrip\. : Finds things/)
  })
}

/** Returns path and status of Composer's metadata requests, from this offset in the log. */
function requestsSince(
  { gatehouse }: Workspace,
  from: number,
): ReadonlyArray<readonly [string, number]> {
  const lines = gatehouse
    .log()
    .slice(from)
    .split('\n')
    .filter((line) => line.includes('/p2/'))
  return lines.map((line) => {
    const { path, status } = JSON.parse(line) as { path: string; status: number }
    return [path.replace(/^.*\/p2\//, ''), status] as const
  })
}

async function updateInstalled(t: Test, workspace: Workspace): Promise<void> {
  await publishAll(t, workspace, [{ name: 'acme/cached', version: '1.0' }])
  // HTTP dates have seconds, so Last-Modified is omitted while a change could get the same date.
  const document = `${workspace.registry}/p2/acme/cached.json`
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await fetch(document)).headers.has('last-modified')) break
    await sleep(100)
  }
  const project = await newComposerProject(t, workspace)
  await succeeds(t, project, 'require', 'acme/cached')

  await t.test('an installation counts once, from the registry or from a cache', async (t) => {
    t.equal(await downloadsOf(workspace, 'acme/cached', 1), 1)
    await rm(join(project.folder, 'vendor'), { recursive: true })
    t.notMatch(await succeeds(t, project, 'install'), /Downloading/)
    t.equal(await downloadsOf(workspace, 'acme/cached', 2), 2)
  })

  await t.test('unchanged metadata is answered with 304', async (t) => {
    const from = workspace.gatehouse.log().length
    await succeeds(t, project, 'update')
    await untilLogged(workspace, from)
    t.strictSame(requestsSince(workspace, from), [['acme/cached.json', 304]])
    await publishAll(t, workspace, [{ name: 'acme/cached', version: '1.1' }])
    await succeeds(t, project, 'update')
    t.strictSame(
      await project.locked(),
      { 'acme/cached': '1.1' },
      'the new version is installed immediately',
    )
  })
}

/** Waits until the package has so many downloads; returns their number. */
async function downloadsOf({ registry }: Workspace, name: string, wanted: number): Promise<number> {
  for (;;) {
    const found = await fetch(`${registry}/search.json?q=${encodeURIComponent(name)}`)
    const { results } = (await found.json()) as { results: [{ downloads: number }] }
    if (results[0].downloads >= wanted) return results[0].downloads
    await sleep(50)
  }
}

async function untilLogged(workspace: Workspace, from: number): Promise<void> {
  while (requestsSince(workspace, from).length === 0) await sleep(20)
}

async function publishTwice(t: Test, workspace: Workspace): Promise<void> {
  await t.test('publishing a version again in another notation returns 409', async (t) => {
    const { ada, registry } = workspace
    const headers = { authorization: `token ${ada.token}` }
    for (const version of ['1.0', '1.0.0.0', 'v1']) {
      const body = packageZip({ name: 'acme/base', version }, { files: { a: version } })
      const answer = await fetch(registry, { method: 'PUT', headers, body: new Uint8Array(body) })
      t.equal(answer.status, 409, version)
    }
  })
}

async function privateOwner(t: Test, workspace: Workspace): Promise<void> {
  await t.test('the packages of a private owner need valid credentials', async (t) => {
    const { ada, gatehouse } = workspace
    const made = await ada.api('POST', '/orgs', { username: 'guild', visibility: 'private' })
    t.equal(made.status, 201)
    const registry = `${gatehouse.url}/api/packages/guild/composer`
    const guild = { ...workspace, registry }
    await publishAll(t, guild, [{ name: 'guild/secret', version: '1.0' }])
    const right = [
      { username: 'ada', password: ada.token },
      ...(isFullSize ? [{ username: 'ada', password: ada.password }] : []),
    ]
    for (const credentials of right) {
      const project = await newComposerProject(t, { registry, credentials })
      await succeeds(t, project, 'require', 'guild/secret')
      t.strictSame(await project.locked(), { 'guild/secret': '1.0' })
    }
    for (const wrong of [{ username: 'ada', password: 'wrong' }, undefined]) {
      const project = await newComposerProject(t, {
        registry,
        ...(wrong === undefined ? {} : { credentials: wrong }),
      })
      const { exitCode, output } = await project.run('require', 'guild/secret')
      t.not(exitCode, 0)
      t.match(output, /401|[Ii]nvalid credentials|could not be authenticated/)
      t.notMatch(output, /TypeError|Stack trace/)
    }
  })
}

async function preferSource(t: Test, workspace: Workspace): Promise<void> {
  await t.test(
    'callers who can read the linked repository install its tag from source',
    async (t) => {
      const { ada, registry } = workspace
      const repository = await makeRepository(ada, 'sourced', { private: true })
      const copy = await newWorkingCopy(t)
      await copy.commit('composer.json', JSON.stringify({ name: 'acme/sourced' }))
      const commit = await copy.commit('from.php', '<?php // tag\n')
      await copy.git('tag', '-m', 'First', 'v1.0.0')
      await copy.git('push', '--quiet', ada.remote(repository), 'HEAD:main', 'v1.0.0')
      const files = { 'from.php': '<?php // archive\n' }
      await publish(t, workspace, {
        archive: packageZip({ name: 'acme/sourced', version: '1.0.0' }, { files }),
      })
      const link = '/packages/ada/composer/acme%2Fsourced/-/link/sourced'
      t.equal((await ada.api('POST', link)).status, 201)

      const credentials = { username: 'ada', password: ada.token }
      const own = await newComposerProject(t, { registry, credentials })
      await succeeds(t, own, 'require', '--prefer-source', 'acme/sourced')
      const installed = workingCopyAt(join(own.folder, 'vendor/acme/sourced'))
      t.equal(await readFile(join(installed.path, 'from.php'), 'utf8'), '<?php // tag\n')
      t.equal(await installed.git('rev-parse', 'HEAD'), commit)

      const other = await newComposerProject(t, { registry })
      await succeeds(t, other, 'require', '--prefer-source', 'acme/sourced')
      const file = join(other.folder, 'vendor/acme/sourced/from.php')
      t.equal(await readFile(file, 'utf8'), '<?php // archive\n')
      t.notMatch(await readFile(join(other.folder, 'composer.lock'), 'utf8'), commit)
    },
  )
}
