/** Pull requests with real pushes: conflicts, every merge style, and unusual branch names. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { faultsOnDisk, makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

interface Workspace {
  readonly copy: WorkingCopy
  /** Path of the repository on the server. */
  readonly path: string
  readonly address: string
}

type Fields = Readonly<Record<string, unknown>>

/** Server of all tests; each uses another repository. */
const gatehouse = await startGatehouse(t, { workers: 1 })
const ada = await gatehouse.addUser('ada')

async function openWorkspace(t: Test, name: string): Promise<Workspace> {
  const before = await repositoriesIn(gatehouse.dataDir).catch((): readonly string[] => [])
  await makeRepository(ada, name)
  const paths = await repositoriesIn(gatehouse.dataDir)
  const path = paths.find((found) => !before.includes(found)) ?? ''
  const copy = await newWorkingCopy(t)
  const workspace = { copy, path, address: ada.remote(`ada/${name}.git`) }
  await push(workspace, 'main', await copy.commit('root'))
  return workspace
}

async function push({ copy, address }: Workspace, branch: string, commit: string): Promise<void> {
  await copy.git('push', '--quiet', '--force', address, `${commit}:refs/heads/${branch}`)
}

/** Creates a commit of a file on top of the server's current main. */
async function fromMain({ copy, address }: Workspace, file: string, content?: string) {
  await copy.git('fetch', '--quiet', address, 'refs/heads/main')
  await copy.git('checkout', '--quiet', '--detach', 'FETCH_HEAD')
  return await copy.commit(file, content)
}

const STYLES = ['merge', 'squash', 'rebase', 'rebase-merge', 'fast-forward-only'] as const

t.test('a pull request follows pushes and is merged after a conflict', async (t) => {
  const workspace = await openWorkspace(t, 'r')
  const { copy, address } = workspace
  const api = (method: string, path: string, body?: unknown) =>
    ada.api(method, `/repos/ada/r${path}`, body)
  const first = await fromMain(workspace, 'a')
  await push(workspace, 'topic', first)
  const opened = await api('POST', '/pulls', { title: 'A', head: 'topic', base: 'main' })
  t.match(opened, { status: 201, body: { number: 1, mergeable: true, head: { sha: first } } })
  const head = async () => (await copy.git('ls-remote', address, 'refs/pull/1/head')).split('\t')[0]
  t.equal(await head(), first, 'the head ref can be fetched')
  const steal = await copy.try(['push', address, `${first}:refs/pull/1/head`])
  t.not(steal.exitCode, 0, 'a push to the head ref is refused')
  t.not((await copy.try(['push', address, ':refs/pull/1/head'])).exitCode, 0)
  const second = await copy.commit('b')
  await push(workspace, 'topic', second)
  t.match((await api('GET', '/pulls/1')).body, { head: { sha: second }, changed_files: 2 })
  t.equal(await head(), second)
  await push(workspace, 'main', await fromMain(workspace, 'a', 'other\n'))
  t.match((await api('GET', '/pulls/1')).body, { mergeable: false })
  t.equal((await api('POST', '/pulls/1/merge', { Do: 'merge' })).status, 409)
  await copy.git('checkout', '--quiet', '--detach', second)
  await copy.try(['merge', '--quiet', '-X', 'ours', '-m', 'Mend', 'FETCH_HEAD'])
  await copy.git('fetch', '--quiet', address, 'refs/heads/main')
  await copy.git('merge', '--quiet', '-X', 'ours', '-m', 'Mend', 'FETCH_HEAD')
  await push(workspace, 'topic', await copy.git('rev-parse', 'HEAD'))
  t.match((await api('GET', '/pulls/1')).body, { mergeable: true })
  const merged = await api('POST', '/pulls/1/merge', { Do: 'merge' })
  t.equal(merged.status, 200, JSON.stringify(merged.body))
  t.equal((await api('GET', '/pulls/1/merge')).status, 204)
  await copy.git('fetch', '--quiet', address, 'refs/heads/main')
  t.equal(await copy.git('show', 'FETCH_HEAD:a'), 'a')
  t.same(await faultsOnDisk(gatehouse), [])
})

t.test('branches with names like options or commands are merged in every style', async (t) => {
  const workspace = await openWorkspace(t, 'odd')
  const { copy, path, address } = workspace
  const names = ['--exec=touch$IFSran', '-h', '$(touch$IFSran)', '--output=ran', "a'b;id"]
  const api = (method: string, rest: string, body?: unknown) =>
    ada.api(method, `/repos/ada/odd${rest}`, body)
  let number = 0
  for (const [at, name] of names.entries()) {
    const base = `base/${name}`
    const style = STYLES[at % STYLES.length]
    await copy.git('fetch', '--quiet', address, 'refs/heads/main')
    const start = await copy.git('rev-parse', 'FETCH_HEAD')
    await push(workspace, name, await fromMain(workspace, `f${at}`))
    const isMoved = style !== 'fast-forward-only'
    await push(workspace, base, isMoved ? await fromMain(workspace, `g${at}`) : start)
    const opened = await api('POST', '/pulls', { title: 'x', head: name, base })
    t.match(opened, { status: 201, body: { head: { ref: name }, base: { ref: base } } }, name)
    number += 1
    for (const rest of ['.diff', '.patch', '/commits', '/files']) {
      const url = `${gatehouse.url}/api/v1/repos/ada/odd/pulls/${number}${rest}`
      const read = await fetch(url)
      t.match([read.status, await read.text()], [200, `f${at}`], `${name} ${rest}`)
    }
    const found = `/pulls/${encodeURIComponent(base)}/${encodeURIComponent(name)}`
    t.match((await api('GET', found)).body, { number }, found)
    if (style === 'merge') t.equal((await api('POST', `/pulls/${number}/update`)).status, 200)
    const answer = await api('POST', `/pulls/${number}/merge`, {
      Do: style,
      delete_branch_after_merge: true,
    })
    t.equal(answer.status, 200, `${name} ${style} ${JSON.stringify(answer.body as Fields)}`)
    const files = await git(['ls-tree', '--name-only', `refs/heads/${base}`], { cwd: path })
    const expected = isMoved ? [`f${at}`, `g${at}`, 'root'] : [`f${at}`, 'root']
    t.strictSame(files.split('\n'), expected)
    const remaining = await copy.git('ls-remote', address, `refs/heads/${name}`)
    t.equal(remaining, '', 'the branch is deleted')
  }
  t.notOk(existsSync(join(path, 'ran')))
  t.notOk(existsSync('ran'))
  t.same(await faultsOnDisk(gatehouse), [])
})
