/** semantic-release with its Gitea plugin: commits, tags, releases and attachments. */

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { t } from 'tap'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { installProgram } from '../helpers/programs.js'
import { makeRepository } from '../helpers/repositories.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const PROGRAM = join(await installProgram('semantic-release'), 'node_modules/.bin/semantic-release')

interface Asset {
  readonly name: string
  readonly browser_download_url: string
}

interface Release {
  readonly id: number
  readonly tag_name: string
  readonly body: string
  readonly assets: readonly Asset[]
}

/** Placeholder of the version in lodash's template syntax. */
const VERSION = ['$', '{nextRelease.version}'].join('')

const CONFIGURATION = {
  branches: ['main'],
  plugins: [
    '@semantic-release/commit-analyzer',
    '@semantic-release/release-notes-generator',
    [
      '@saithodev/semantic-release-gitea',
      { assets: [{ path: 'engine.bin', label: `engine-${VERSION}.bin` }, '*.txt'] },
    ],
  ],
}

/** Runs semantic-release in the working copy, as a CI job does. */
async function release(gatehouse: Gatehouse, person: Person, copy: WorkingCopy): Promise<void> {
  const { exitCode, all = '' } = await execa(process.execPath, [PROGRAM, '--no-ci'], {
    cwd: copy.path,
    all: true,
    reject: false,
    extendEnv: false,
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: copy.path,
      GITEA_URL: gatehouse.url,
      GITEA_TOKEN: person.token,
      GIT_CREDENTIALS: `${person.name}:${person.token}`,
    },
  })
  if (exitCode !== 0) throw new Error(all)
}

t.test('commits become a release whose files are downloaded unchanged', async (t) => {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada', { scopes: 'write:repository' })
  const name = await makeRepository(ada, 'engine', { private: true })
  const copy = await newWorkingCopy(t)
  const bytes = randomBytes(300_000)
  await writeFile(join(copy.path, 'engine.bin'), bytes)
  await writeFile(join(copy.path, 'notes für alle.txt'), 'read me\n')
  const settings = { ...CONFIGURATION, repositoryUrl: `${gatehouse.url}/${name}.git` }
  await copy.commit('.releaserc.json', JSON.stringify(settings))
  const push = async (message: string) => {
    await copy.git('commit', '--quiet', '--allow-empty', '-m', message)
    await copy.git('push', '--quiet', ada.remote(`${name}.git`), 'HEAD:refs/heads/main')
  }

  await push('feat: turn the wheel')
  const first = await copy.git('rev-parse', 'HEAD')
  // The release continues at the tag that the server lists.
  await copy.git('push', '--quiet', ada.remote(`${name}.git`), 'HEAD:refs/tags/v1.0.0')
  await push('fix: oil the wheel')
  await release(gatehouse, ada, copy)
  const { body } = await ada.api('GET', `/repos/${name}/releases/latest`)
  const latest = body as Release
  t.match(latest, { tag_name: 'v1.0.1', draft: false, prerelease: false, name: 'v1.0.1' })
  t.match(latest.body, /oil the wheel/)
  t.notMatch(latest.body, /turn the wheel/)
  const files = new Map(latest.assets.map((asset) => [asset.name, asset.browser_download_url]))
  t.strictSame([...files.keys()].sort(), ['engine-1.0.1.bin', 'notes für alle.txt'])
  const authorization = `token ${ada.token}`
  for (const url of [
    files.get('engine-1.0.1.bin') ?? '',
    `${gatehouse.url}/${name}/releases/download/v1.0.1/engine-1.0.1.bin`,
  ]) {
    const answer = await fetch(url, { headers: { authorization } })
    t.ok(bytes.equals(Buffer.from(await answer.arrayBuffer())), url)
    t.equal(
      (await fetch(url)).status,
      404,
      'the file of a private repository is hidden from others',
    )
  }
  const tip = await copy.git('rev-parse', 'HEAD')
  const tags = await copy.git('ls-remote', '--tags', ada.remote(`${name}.git`))
  t.equal(tags, `${first}\trefs/tags/v1.0.0\n${tip}\trefs/tags/v1.0.1`)
  const notes = await copy.git('ls-remote', ada.remote(`${name}.git`), 'refs/notes/*')
  t.match(
    notes,
    /\trefs\/notes\/semantic-release-v1\.0\.1$/,
    'the note of semantic-release is pushed',
  )
})
