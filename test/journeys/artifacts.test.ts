/** Artifacts of workflow runs with the real clients of GitHub's toolkit. */

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Result } from '../../gateway/runner-protocol/messages.js'
import type { Database } from '../../sql/database/database.js'
import { callArtifactClient } from '../helpers/artifact-client.js'
import { onOneDatabase, openForTest } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { registerClient } from '../helpers/runner-client.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

const WORKFLOW = `
on: push
jobs:
  build: { runs-on: linux, steps: [{ run: 'true' }] }
  use: { runs-on: linux, needs: build, steps: [{ run: 'true' }] }
`

/** Size of a file that cannot be compressed. Both clients upload it in blocks of 8 MiB or less. */
const BYTES = isFullSize ? 200_000_000 : 9_000_000

interface Scene {
  readonly gatehouse: Gatehouse
  readonly db: Database
  readonly ada: Person
}

async function startJob({ gatehouse, db, ada }: Scene, t: Test, name: string) {
  await ada.api('POST', '/user/repos', { name, auto_init: true, private: true })
  await ada.api('PATCH', `/repos/ada/${name}`, { has_actions: true })
  const content = Buffer.from(WORKFLOW).toString('base64')
  const path = `/repos/ada/${name}/contents/.gitea/workflows/ci.yaml`
  const { status } = await ada.api('POST', path, { content, message: 'Add a workflow' })
  t.equal(status, 201)
  const runner = await registerClient({ port: gatehouse.port, db })
  const task = await runner.fetchTask()
  const folder = await temporaryFolder(t)
  await mkdir(join(folder, 'in/deep'), { recursive: true })
  const files = { large: join(folder, 'in/large.bin'), small: join(folder, 'in/deep/Ünö.txt') }
  await writeFile(files.large, randomBytes(BYTES))
  await writeFile(files.small, 'small')
  return { gatehouse, runner, task, folder, files }
}

// The queries have tests on both databases, in test/sql/runs.
await onOneDatabase(t, 'artifacts of jobs', async (t, location) => {
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  const db = await openForTest(t, location)
  const scene = { gatehouse, db, ada: await gatehouse.addUser('ada') }
  await byVersion4(t, scene)
  await byVersion3(t, scene)
})

async function byVersion4(t: Test, scene: Scene): Promise<void> {
  await t.test('a client of version 4 stores, lists, reads and deletes', async (t) => {
    const { gatehouse, runner, task, folder, files } = await startJob(scene, t, 'fourth')
    const { url } = gatehouse
    const root = join(folder, 'in')
    const upload = (...paths: readonly string[]) =>
      ['uploadArtifact', 'my files', paths, root, { compressionLevel: 0 }] as const
    const client = { version: 4, url, task } as const
    const [stored, again, listed, found] = (await callArtifactClient(
      t,
      client,
      upload(files.large, files.small),
      upload(files.small),
      ['listArtifacts'],
      ['getArtifact', 'my files'],
    )) as { id: number; size: number; digest: string }[]
    t.ok((stored?.size ?? 0) > BYTES, JSON.stringify(stored))
    t.match(again, { error: /\(409\) Conflict: The run has an artifact named "my files" already/ })
    const entry = { id: stored?.id, name: 'my files', size: stored?.size }
    t.match(listed, { artifacts: [entry] })
    t.match(found, { artifact: entry })
    await runner.report(task.id, Result.SUCCESS)

    const later = await runner.fetchTask()
    const target = join(folder, 'out')
    const [read, deleted, left, replaced] = await callArtifactClient(
      t,
      { version: 4, url, task: later },
      ['downloadArtifact', stored?.id, { path: target, expectedHash: `sha256:${stored?.digest}` }],
      ['deleteArtifact', 'my files'],
      ['listArtifacts'],
      upload(files.small),
    )
    t.match(read, { downloadPath: target, digestMismatch: false })
    t.ok((await readFile(join(target, 'large.bin'))).equals(await readFile(files.large)))
    t.equal(await readFile(join(target, 'deep/Ünö.txt'), 'utf8'), 'small')
    t.match(deleted, { id: stored?.id })
    t.strictSame(left, { artifacts: [] })
    const { id, size } = replaced as { id: number; size: number }
    t.ok(size < 1_000, 'the deleted artifact is replaced by a smaller one')
    t.not(id, stored?.id)
  })
}

async function byVersion3(t: Test, scene: Scene): Promise<void> {
  await t.test('a client of version 3 stores, lists and reads', async (t) => {
    const { gatehouse, runner, task, folder, files } = await startJob(scene, t, 'third')
    const { url } = gatehouse
    const root = join(folder, 'in')
    const empty = join(root, 'empty')
    const text = join(root, 'deep/text')
    await writeFile(empty, '')
    await writeFile(text, 'compressible '.repeat(100_000))
    const paths = [...Object.values(files), empty, text]
    const [stored, refused] = await callArtifactClient(
      t,
      { version: 3, url, task },
      ['uploadArtifact', 'my files', paths, root],
      ['uploadArtifact', 'a:b', paths, root],
    )
    t.match(stored, { artifactName: 'my files', failedItems: [] })
    t.match(refused, { error: /not valid/ })
    await runner.report(task.id, Result.SUCCESS)

    const later = await runner.fetchTask()
    const added = join(root, 'added')
    await writeFile(added, 'by another job')
    const target = join(folder, 'out')
    const [merged, read] = await callArtifactClient(
      t,
      { version: 3, url, task: later },
      ['uploadArtifact', 'my files', [added], root],
      ['downloadArtifact', 'my files', target],
    )
    t.match(merged, { failedItems: [] })
    t.match(read, { artifactName: 'my files', downloadPath: target })
    for (const path of [...paths, added]) {
      const copy = join(target, path.slice(root.length))
      t.ok((await readFile(copy)).equals(await readFile(path)), copy)
    }
  })
}
