/** Writes over the API by several workers, read and continued by git clients. */

import t, { type Test } from 'tap'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { repositoriesIn } from '../helpers/repositories.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto } from '../helpers/working-copy.js'

const base64 = (text: string) => Buffer.from(text).toString('base64')

const ROUNDS = isFullSize ? 5 : 2
const WRITERS = isFullSize ? 60 : 12
const WORKERS = isFullSize ? 3 : 2

t.test(`writes with ${WORKERS} workers`, async (t) => {
  const gatehouse = await startGatehouse(t, { workers: WORKERS })
  const ada = await gatehouse.addUser('ada')
  await t.test('writes of git and of the API are visible to each other immediately', async (t) => {
    await alternately(t, gatehouse, ada)
  })
  await t.test(`${WRITERS} concurrent writers create one commit for each file`, async (t) => {
    await concurrently(t, gatehouse, ada)
  })
})

/** Paths of the repositories that were created before. */
const known = new Set<string>()

async function aRepository({ dataDir }: Gatehouse, ada: Person, name: string) {
  await ada.api('POST', '/user/repos', { name })
  const path = (await repositoriesIn(dataDir)).find((each) => !known.has(each)) ?? ''
  known.add(path)
  const file = (method: string, filepath: string, body: unknown) =>
    ada.api(method, `/repos/ada/${name}/contents/${filepath}`, body)
  return { path, file, address: ada.remote(`ada/${name}.git`) }
}

async function alternately(t: Test, gatehouse: Gatehouse, ada: Person): Promise<void> {
  const { path, file, address } = await aRepository(gatehouse, ada, 'r')
  t.equal((await file('POST', 'README.md', { content: base64('Hello\n') })).status, 201)
  const copy = await cloneInto(t, address)
  t.equal(await copy.git('show', 'main:README.md'), 'Hello')
  for (let round = 0; round < ROUNDS; round += 1) {
    const made = await file('POST', `api/${round}`, { content: base64(`${round}\n`) })
    const { sha } = (made.body as { commit: { sha: string } }).commit
    await copy.git('pull', '-q', '--rebase', 'origin', 'main')
    t.equal(await copy.git('rev-parse', 'HEAD'), sha, 'a fetch after the write gets its commit')
    const pushed = await copy.commit(`git-${round}`)
    await copy.git('push', '-q', 'origin', 'main')
    const guard = await git(['rev-parse', `${pushed}:git-${round}`], { cwd: path })
    const changed = await file('PUT', `git-${round}`, { content: base64('api\n'), sha: guard })
    t.equal(changed.status, 200)
    await copy.git('pull', '-q', 'origin', 'main')
  }
  const tag = { tag_name: 'v1', message: 'One' }
  t.equal((await ada.api('POST', '/repos/ada/r/tags', tag)).status, 201)
  const branch = { new_branch_name: 'side', old_ref_name: 'v1' }
  t.equal((await ada.api('POST', '/repos/ada/r/branches', branch)).status, 201)
  const again = await cloneInto(t, address)
  t.equal(await again.git('rev-parse', 'v1^{commit}'), await copy.git('rev-parse', 'HEAD'))
  t.equal(await again.git('rev-parse', 'origin/side'), await copy.git('rev-parse', 'HEAD'))
  await git(['fsck', '--strict', '--full'], { cwd: path })
}

async function concurrently(t: Test, gatehouse: Gatehouse, ada: Person): Promise<void> {
  const { path, file, address } = await aRepository(gatehouse, ada, 'w')
  const names = Array.from({ length: WRITERS }, (_, at) => `d${at % 7}/${at}`)
  const made = await Promise.all(names.map((name) => file('POST', name, { content: base64(name) })))
  t.strictSame(
    made.filter(({ status }) => status !== 201),
    [],
  )
  const copy = await cloneInto(t, address)
  t.strictSame((await copy.git('ls-files')).split('\n').sort(), names.sort())
  t.equal(await copy.git('rev-list', '--count', 'HEAD'), String(WRITERS))
  await git(['fsck', '--strict', '--full'], { cwd: path })
}
