/** Clones after pushes to a busy repository, by the real git with strict checks. */

import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { openJournal } from '../../cgi/maintenance/journal.js'
import { maintainRepository } from '../../cgi/maintenance/maintenance.js'
import { findGit } from '../../cgi/process/git.js'
import { packFolder } from '../../gateway/packs/warm.js'
import { isExtended } from '../helpers/fetch-answers.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { untilAllCached } from '../helpers/pack-cache-counts.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy } from '../helpers/working-copy.js'

/** Length of a file that makes the answers long enough to be extended. */
const LARGE_BYTES = 4_300_000

const gatehouse = await startGatehouse(t, { workers: 1 })
const ada = await gatehouse.addUser('ada')
const journal = await openJournal(gatehouse.dataDir)
const program = await findGit()

async function setScene(t: Test, objectFormat: 'sha1' | 'sha256') {
  const before = await repositoriesIn(gatehouse.dataDir).catch((): readonly string[] => [])
  const name = await makeRepository(ada, objectFormat, { object_format_name: objectFormat })
  const remote = ada.remote(`${name}.git`)
  const copy = await newWorkingCopy(t, objectFormat)
  const push = async (...refs: readonly string[]) => {
    await copy.git('push', '--quiet', remote, ...refs)
  }
  /** Returns the number of stored answers that extend another one. */
  const countExtended = async () => {
    await untilAllCached(gatehouse.dataDir)
    const folder = packFolder(join(gatehouse.dataDir, 'cache'))
    const listed = readdir(folder, { recursive: true, withFileTypes: true })
    const files = await listed.catch(() => [])
    const answers = await Promise.all(
      files
        .filter((file) => file.isFile() && !file.name.endsWith('.sums'))
        .map((file) => readFile(join(file.parentPath, file.name))),
    )
    return answers.filter(isExtended).length
  }
  /** Clones; git checks each object. Returns the clone, and true if the answer was extended. */
  const clone = async (...options: readonly string[]) => {
    const before = await countExtended()
    const strict = ['--config=fetch.fsckObjects=true', '--config=fetch.unpackLimit=1']
    const cloned = await cloneInto(t, remote, ['--quiet', ...strict, ...options])
    t.equal(await cloned.git('status', '--porcelain'), '')
    const has = async (oid: string) => (await cloned.try(['cat-file', '-e', oid])).exitCode === 0
    return { cloned, has, isExtended: (await countExtended()) > before }
  }
  const large = await copy.commit('large', randomBytes(LARGE_BYTES))
  await push('main')
  const created = (await repositoriesIn(gatehouse.dataDir)).find((path) => !before.includes(path))
  await maintainRepository(program, created ?? '', { journal })
  return { copy, push, clone, large }
}

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`clones after pushes are complete and current (${objectFormat})`, async (t) => {
    const { copy, push, clone, large } = await setScene(t, objectFormat)
    t.equal((await clone()).isExtended, false)

    await copy.commit('file', 'one')
    await copy.commit('file', 'two')
    await copy.git('tag', '-a', '-m', 'One', 'v1')
    await push('main', 'v1')
    const pushed = await clone()
    t.equal(pushed.isExtended, true)
    t.equal(await pushed.cloned.git('rev-parse', 'v1'), await copy.git('rev-parse', 'v1'))

    await copy.commit('file', 'one')
    await push('main', 'main~1:refs/heads/topic')
    const reverted = await clone()
    t.equal(reverted.isExtended, true)
    t.equal(await reverted.cloned.git('show', 'origin/main:file'), 'one')
    t.equal(await reverted.cloned.git('show', 'origin/topic:file'), 'two')

    await push(':topic')
    const merged = await clone()
    t.equal(merged.isExtended, true, 'after the deletion of a branch that main contains')
    t.notMatch(await merged.cloned.git('for-each-ref'), 'topic')

    // The steps below extend no answer with objects of another format than those above.
    if (objectFormat === 'sha256' && !isFullSize) return
    await copy.git('checkout', '--quiet', '-b', 'leak', large)
    const leak = await copy.commit('password', 'secret')
    const secret = await copy.git('rev-parse', 'leak:password')
    await push('leak')
    t.equal(await (await clone()).has(secret), true)
    await push(`+${large}:refs/heads/leak`)
    const forced = await clone()
    t.strictSame([await forced.has(leak), await forced.has(secret)], [false, false])
    await push(`+leak:refs/heads/leak`)
    t.equal(await (await clone()).has(secret), true)
    await push(':leak')
    const deleted = await clone()
    t.strictSame([await deleted.has(leak), await deleted.has(secret)], [false, false])
  })
}
