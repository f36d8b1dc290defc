/** Mergeability of pull requests: computed once for each head, also if git exceeds its limits. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../../cgi/process/git.js'
import { conflictingTreeBombs, countCommands } from '../../../helpers/git-bombs.js'
import { type GatewayWithPull, startGatewayWithPull } from '../../../helpers/pulls.js'
import { temporaryFolder } from '../../../helpers/temporary.js'

interface Scene {
  readonly gateway: GatewayWithPull
  /** Columns with the two tips that were checked. */
  readonly tips: object
  /** Number of times that `git merge-tree` was started. */
  attempts(): Promise<number>
}

/** Creates a pull request between two branches that contain tree bombs. */
async function aBombedPull(
  t: Test,
  size: { readonly width: number; readonly depth: number },
  environment: Readonly<Record<string, string>> = {},
): Promise<Scene> {
  const folder = await temporaryFolder(t)
  const [file, log] = [join(folder, 'git'), join(folder, 'log')]
  const ours = await findGit()
  await writeFile(log, '')
  await writeFile(file, `#!/bin/sh\necho "$@" >>${log}\nexec ${ours.file} "$@"\n`, { mode: 0o755 })
  const gateway = await startGatewayWithPull(t, { git: { ...ours, file }, environment })
  const { copy, bare } = gateway
  const { main, side } = await conflictingTreeBombs(copy, size)
  const names = [`${main}:refs/heads/main`, `${side}:refs/heads/side`]
  await copy.git('push', '--quiet', '--force', bare, ...names)
  const tips = { checked_base: main, checked_head: side }
  const attempts = async () => (await countCommands(log))['merge-tree'] ?? 0
  return { gateway, tips, attempts }
}

async function neverMergeable(t: Test, { gateway, tips, attempts }: Scene, attemptsMax: number) {
  const opened = await gateway.open('side')
  t.equal(opened['mergeable'], false)
  for (const path of ['/pulls/1', '/pulls', '/pulls/1']) {
    const { status, json } = await gateway.of('anyone', 'GET', path)
    t.equal(status, 200, path)
    t.match(Array.isArray(json) ? json[0] : json, { mergeable: false, state: 'open' })
  }
  t.match(await gateway.db('pulls').first(), { ...tips, is_mergeable: 0 }, 'the result is stored')
  for (const style of ['merge', 'squash', 'rebase']) {
    const { status, json } = await gateway.of('ada', 'POST', '/pulls/1/merge', { Do: style })
    t.equal(status, 409, style)
    t.match(json, { message: /too many paths|more memory/ }, style)
  }
  const { text } = await gateway.ask({ path: '/ada/r/pulls/1', authorization: '' })
  t.match(text, /side/)
  t.ok((await attempts()) <= attemptsMax, `${await attempts()} attempts`)
}

t.test(
  'a merge of trees with ten billion paths is refused before git merge-tree runs',
  async (t) => {
    const scene = await aBombedPull(t, { width: 10, depth: 10 })
    await neverMergeable(t, scene, 0)
  },
)

t.test("a merge that exceeds git's memory limit is attempted only once", async (t) => {
  const environment = { GATEHOUSE_GIT_MEMORY_MAX: '10MiB' }
  const scene = await aBombedPull(t, { width: 20, depth: 3 }, environment)
  await neverMergeable(t, scene, 2)
  const { lines } = scene.gateway
  t.match(
    lines.filter(({ msg }) => msg === 'a pull request is too large to be merged'),
    [{ base: /^[0-9a-f]{40}$/, head: /^[0-9a-f]{40}$/ }],
  )
})

t.test('mergeability is computed again after the next push', async (t) => {
  const { gateway } = await aBombedPull(t, { width: 10, depth: 10 })
  await gateway.open('side')
  const main = await gateway.copy.git('rev-parse', 'refs/heads/main')
  await gateway.copy.git('push', '--quiet', '--force', gateway.bare, `${main}:refs/heads/main`)
  const tip = await gateway.write('side', 'other')
  t.match((await gateway.of('ada', 'GET', '/pulls/1')).json, {
    head: { sha: tip },
    mergeable: true,
  })
})
