/** Kept readers answer as git does at that moment, and are bounded. */

import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { KeptObjects } from '../../../cgi/objects/kept-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { readByGit } from '../../helpers/read-by-git.js'
import { isFullSize } from '../../helpers/test-size.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Number of pushes beside repacks. */
const PUSHES = isFullSize ? 25 : 8

type Test = Parameters<typeof newWorkingCopy>[0]

function keep(t: Test, options?: { readonly stallMs: number }): KeptObjects {
  const kept = new KeptObjects(ours, options)
  t.teardown(async () => kept.stop())
  return kept
}

/** Id of an object that only the process looks for. */
const MISSING = '0'.repeat(40)

const gitOf = ({ path }: WorkingCopy) => join(path, '.git')

/** Waits until the repository has not changed for a while, so that answers are cached. */
const settle = () => sleep(60)

const textAt = (kept: KeptObjects, path: string, name: string) =>
  kept.use(path, async (objects) => (await objects.read(name))?.content?.toString())

const idAt = (kept: KeptObjects, path: string, name: string) =>
  kept.use(path, async (objects) => (await objects.read(name, 0))?.id)

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`a kept process answers as a separate one does, in ${format}`, async (t) => {
    const copy = await newWorkingCopy(t, format)
    const tip = await copy.commit('a', 'first\n')
    await copy.git('tag', '-m', 'A tag', 'v1')
    await copy.git('tag', '-m', 'A tag of a tag', 'v2', 'v1')
    await copy.git('tag', '-m', 'A tag of a file', 'v3', 'HEAD:a')
    const kept = keep(t)
    await settle()
    const blob = await copy.git('rev-parse', 'HEAD:a')
    const places = [tip, tip.slice(0, 10), blob, 'HEAD', 'refs/heads/main', 'refs/heads/absent']
    const tags = ['refs/tags/v1', 'refs/tags/v2', 'refs/tags/v3', '0'.repeat(40)]
    const suffixes = ['', '^{commit}', '^{tree}']
    const names = [...places, ...tags].flatMap((name) => suffixes.map((each) => name + each))
    for (const round of ['first', 'cached']) {
      for (const name of names) {
        const other = await readByGit(gitOf(copy), name)
        const found = await kept.use(gitOf(copy), (objects) => objects.read(name))
        t.strictSame(found, other, `${name}, ${round}`)
      }
    }
    const sizes = await kept.use(gitOf(copy), (objects) =>
      objects.readSizes([blob, '0'.repeat(40)]),
    )
    t.strictSame([...sizes], [[blob, 6]])
    t.equal(kept.pids.length, 1, 'one process for all requests')
  })
}

t.test('a request sees each push, also beside repacks and deletions of branches', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a', 'start')
  const bare = await bareOf(t, copy)
  const kept = keep(t)
  let isDone = false
  const upkeep = async () => {
    while (!isDone) {
      await copy.try(['-C', bare, 'repack', '-a', '-d', '--quiet', '--write-midx'])
      await copy.try(['-C', bare, 'pack-refs', '--all'])
    }
  }
  const repacks = upkeep()
  for (let round = 0; round < PUSHES; round += 1) {
    const tip = await copy.commit('a', `text ${round}`)
    await copy.git('push', '--quiet', bare, 'main', `main:refs/heads/b${round}`)
    t.equal(await idAt(kept, bare, 'refs/heads/main'), tip, `push ${round}`)
    const blob = await copy.git('rev-parse', 'main:a')
    t.equal(await textAt(kept, bare, blob), `text ${round}`)
    await copy.git('push', '--quiet', bare, '--delete', `b${round}`)
    t.equal(await idAt(kept, bare, `refs/heads/b${round}`), undefined, `deletion ${round}`)
  }
  isDone = true
  await repacks
  for (const round of ['first', 'second']) {
    await settle()
    const before = await idAt(kept, bare, 'refs/heads/main')
    t.equal(await idAt(kept, bare, 'refs/heads/main'), before, 'known')
    const tip = await copy.commit('a', round)
    await copy.git('push', '--quiet', bare, 'main')
    await settle()
    t.equal(await idAt(kept, bare, 'refs/heads/main'), tip, `${round} push after a pause`)
  }
})

async function bareOf(t: Test, copy: WorkingCopy): Promise<string> {
  const { path } = await newWorkingCopy(t)
  const bare = join(path, 'bare.git')
  await copy.git('clone', '--quiet', '--bare', copy.path, bare)
  await copy.git('-C', bare, 'config', 'receive.unpackLimit', '1')
  await copy.git('-C', bare, 'repack', '-a', '-d', '--quiet')
  return bare
}

/** Texts of which the first is read from the packs, and the second by the process. */
const SECRETS = { small: 'secret', large: 'secret\n'.repeat(50_000) }

for (const [size, secret] of Object.entries(SECRETS)) {
  t.test(`a ${size} object that was pruned is not found, although it was read`, async (t) => {
    const copy = await newWorkingCopy(t)
    await copy.commit('a', 'kept')
    const base = await copy.git('rev-parse', 'main')
    await copy.commit('a', secret)
    const blob = await copy.git('rev-parse', 'main:a')
    const bare = await bareOf(t, copy)
    const kept = keep(t)
    await settle()
    t.equal(await textAt(kept, bare, blob), secret)
    t.equal(await textAt(kept, bare, blob), secret, 'from the cache')
    t.equal(kept.pids.length, size === 'small' ? 0 : 1)
    await copy.git('-C', bare, 'update-ref', 'refs/heads/main', base)
    await copy.git('-C', bare, 'repack', '-a', '-d', '--quiet')
    await copy.git('-C', bare, 'prune', '--expire=now')
    t.equal(await textAt(kept, bare, blob), undefined)
    t.equal(await idAt(kept, bare, 'refs/heads/main'), base)
  })
}

t.test('small objects are read without a process, also after further pushes', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a', 'start')
  const bare = await bareOf(t, copy)
  const kept = keep(t)
  for (const text of ['first', 'second', 'third']) {
    await copy.commit('a', text)
    await copy.git('push', '--quiet', bare, 'main')
    const tree = await copy.git('rev-parse', 'main^{tree}')
    t.equal(await idAt(kept, bare, 'refs/heads/main^{tree}'), tree)
    const blob = await copy.git('rev-parse', 'main:a')
    t.equal(await textAt(kept, bare, blob), text)
    t.equal(await idAt(kept, bare, `refs/heads/${tree}`), undefined, 'no such ref')
    t.strictSame(kept.pids, [])
  }
})

t.test('an object that was read directly after a change is read again', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a')
  const bare = await bareOf(t, copy)
  await writeFile(join(copy.path, 'b'), 'other')
  const { now } = Date
  const changedAtMs = now()
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => changedAtMs
  const blob = await copy.git('-C', bare, 'hash-object', '-w', join(copy.path, 'b'))
  const kept = keep(t)
  t.equal(await textAt(kept, bare, blob), 'other')
  // The folders of objects keep their times, as they may after a second change in one tick.
  await rm(join(bare, 'objects', blob.slice(0, 2), blob.slice(2)))
  t.equal(await textAt(kept, bare, blob), undefined)
})

t.test('an object of a pack is not read again until that pack is removed', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a', 'first')
  const bare = await bareOf(t, copy)
  const folder = join(bare, 'objects', 'pack')
  const first = await readdir(folder)
  const blob = await copy.git('rev-parse', 'main:a')
  const kept = keep(t)
  t.equal(await textAt(kept, bare, blob), 'first')
  await copy.commit('a', 'second')
  await copy.git('push', '--quiet', bare, 'main')
  for (const name of first) {
    await chmod(join(folder, name), 0o644)
    await writeFile(join(folder, name), 'damaged')
  }
  t.equal(await textAt(kept, bare, blob), 'first', 'directly after the push')
  await settle()
  t.equal(await textAt(kept, bare, blob), 'first', 'later')
  const others = (await readdir(folder)).filter((name) => !first.includes(name))
  t.ok(others.length > 0)
  for (const name of others) await rm(join(folder, name))
  t.equal(await textAt(kept, bare, blob), 'first', 'after another pack was removed')
  for (const name of first) await rm(join(folder, name))
  t.equal(await textAt(kept, bare, blob), undefined)
})

t.test('a deleted repository is missing, and its files are closed', async (t) => {
  const copy = await newWorkingCopy(t)
  const text = 'text\n'.repeat(100_000)
  await copy.commit('a', text)
  const blob = await copy.git('rev-parse', 'main:a')
  const bare = await bareOf(t, copy)
  const kept = keep(t)
  await settle()
  t.equal(await textAt(kept, bare, blob), text, 'by the process, because it is large')
  const [pid = -1] = kept.pids
  t.ok((await openFilesOf(pid)).some((file) => file.includes('.pack')))
  await rm(bare, { recursive: true })
  await t.rejects(idAt(kept, bare, blob), /git did not start|git cat-file/)
  for (let waits = 0; waits < 100 && existsSync(`/proc/${pid}/cwd`); waits += 1) await sleep(50)
  t.strictSame(await openFilesOf(pid), [])
  t.strictSame(kept.pids, [])
})

/** Returns the files that a process has open or mapped. */
async function openFilesOf(pid: number): Promise<readonly string[]> {
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8').catch(() => '')
  const open = await readdir(`/proc/${pid}/fd`).catch(() => [])
  return [...maps.split('\n').filter((line) => line.includes('/')), ...open]
}

t.test('requests are answered if the process is killed or stalls in between', async (t) => {
  const copy = await newWorkingCopy(t)
  const contents = Array.from({ length: 50 }, (_, index) => `${index}\n`.repeat(140_000))
  await Promise.all(contents.map((text, index) => writeFile(join(copy.path, `f${index}`), text)))
  const ids = await copy.git('hash-object', '-w', ...contents.map((_, index) => `f${index}`))
  await copy.commit('a')
  const kept = keep(t, { stallMs: 300 })
  for (const isKilled of [true, false]) {
    // Changes the folder of objects, so that the cache does not answer.
    await mkdir(join(gitOf(copy), 'objects', `changed-${isKilled}`))
    await textAt(kept, gitOf(copy), MISSING)
    const [pid] = kept.pids
    if (pid === undefined) throw new Error('no process was started')
    const reads = Promise.all(ids.split('\n').map((id) => textAt(kept, gitOf(copy), id)))
    await sleep(5)
    process.kill(pid, 'SIGSTOP')
    if (isKilled) process.kill(pid, 'SIGKILL')
    t.strictSame(await reads, contents, isKilled ? 'killed' : 'stalled')
    // If all reads were answered before the signal, only the next one notices it.
    await textAt(kept, gitOf(copy), MISSING)
    for (let waits = 0; waits < 100 && kept.pids.includes(pid); waits += 1) await sleep(50)
    t.notOk(kept.pids.includes(pid))
    t.equal(await textAt(kept, gitOf(copy), MISSING), undefined, 'a new process answers')
    t.equal(kept.pids.length, 1)
  }
})

t.test('a large file is left to a separate process, and is not held', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('large', randomBytes(5_000_000))
  const id = await copy.git('rev-parse', 'HEAD:large')
  const kept = keep(t)
  await settle()
  await kept.use(gitOf(copy), async (objects) => {
    const [large, tree] = await Promise.all([objects.read(id), objects.read('HEAD^{tree}')])
    t.equal(large?.content?.length, 5_000_000)
    t.equal(tree?.type, 'tree')
    t.match(await objects.read(id, 4_999_999), { sizeBytes: 5_000_000, content: undefined })
    t.equal((await objects.readSizes([id])).get(id), 5_000_000)
  })
})

t.test('hostile names are not passed to git', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a')
  const names = ['HEAD\ninfo HEAD', 'refs/heads/a\n', 'HEAD:a', '--batch', 'main', '', 'HEAD~1']
  await keep(t).use(gitOf(copy), async (objects) => {
    for (const name of names) await t.rejects(objects.read(name), /not an object id/, name)
    t.match(await objects.read('HEAD'), { type: 'commit' })
  })
})

t.test('the number of processes is bounded', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  const bare = await bareOf(t, copy)
  const paths = Array.from({ length: 20 }, (_, index) => `${bare}-${index}`)
  for (const path of paths) await copy.git('clone', '--quiet', '--bare', copy.path, path)
  const kept = keep(t)
  for (const path of paths) {
    t.equal(await idAt(kept, path, 'HEAD'), tip)
    t.equal(await idAt(kept, path, MISSING), undefined)
  }
  t.equal(kept.pids.length, 16)
  kept.stop()
  t.strictSame(kept.pids, [])
  t.equal(await idAt(kept, paths[0] ?? '', 'HEAD'), tip, 'separate processes answer afterwards')
})
