/** Removal of the least recently used answers, by files with given times of use. */

import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { removeOldAnswers } from '../../../gateway/packs/old-answers.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const BYTES = 100

/** Writes answers in two subfolders; the first one was used a day ago, each next a minute later. */
async function someAnswers(t: Test) {
  const folder = await temporaryFolder(t)
  const startS = Date.now() / 1_000 - 86_400
  const paths = ['00/a', '01/a', '00/b', '01/b'].map((name) => join(folder, name))
  for (const [at, path] of paths.entries()) {
    await mkdir(join(path, '..'), { recursive: true })
    for (const file of [path, `${path}.sums`]) await writeFile(file, Buffer.alloc(BYTES))
    await utimes(path, startS + at * 60, startS)
  }
  const left = async () => {
    const files = await readdir(folder, { recursive: true, withFileTypes: true })
    const names = files
      .filter((file) => file.isFile())
      .map((file) => join(file.parentPath, file.name))
    t.strictSame(
      names.filter((name) => !paths.includes(name)).sort(),
      names
        .filter((name) => paths.includes(name))
        .map((name) => `${name}.sums`)
        .sort(),
      'their checksums',
    )
    return paths.map((path) => names.includes(path))
  }
  const limits = { diskBytesMax: 1_000, missingBytes: 0, graceMs: 1_000, newestPath: undefined }
  return { folder, paths, left, limits }
}

t.test('answers within the limit stay', async (t) => {
  const { folder, left, limits } = await someAnswers(t)
  await removeOldAnswers(folder, { ...limits, diskBytesMax: 4 * BYTES })
  t.strictSame(await left(), [true, true, true, true])
})

t.test('above the limit the answers that were used least recently are removed', async (t) => {
  const { folder, left, limits } = await someAnswers(t)
  await removeOldAnswers(folder, { ...limits, diskBytesMax: 3 * BYTES - 1 })
  t.strictSame(await left(), [false, false, true, true])
  await removeOldAnswers(folder, { ...limits, missingBytes: 1 })
  t.strictSame(await left(), [false, false, false, true], 'bytes that are missing')
})

t.test('the newest answer stays, even if its time is the oldest', async (t) => {
  const { folder, paths, left, limits } = await someAnswers(t)
  const [newestPath] = paths
  await removeOldAnswers(folder, { ...limits, diskBytesMax: 2 * BYTES, newestPath })
  t.strictSame(await left(), [true, false, false, true])
  await removeOldAnswers(folder, { ...limits, diskBytesMax: 0, newestPath })
  t.strictSame(await left(), [true, false, false, false])
})
