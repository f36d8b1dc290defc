/**
 * The Debian packages of the benchmarks are valid for dpkg and have control files of usual length.
 */

import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { writeDebs } from '../../../scripts/benchmarks/deb-files.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('each deb file is a different package that installs nothing', async (t) => {
  const folder = await temporaryFolder(t)
  const debs = await writeDebs(join(folder, 'debs'), { first: 40, count: 30 })
  t.equal(new Set(debs.map(({ packageName }) => packageName)).size, 30)
  for (const { packageName, version, path } of debs) {
    const control = execFileSync('dpkg-deb', ['--field', path]).toString()
    t.match(control, `Package: ${packageName}\n`)
    t.match(control, `\nVersion: ${version}\nArchitecture: amd64\n`)
    t.match(control, /\nDescription: [a-z ]+\n [a-z ]+\n \.\n [a-z ]+\n$/)
    // The index entry has about 430 bytes more, for the file and its four digests.
    t.ok(control.length > 300 && control.length < 550, `${control.length} bytes`)
    t.equal(execFileSync('dpkg-deb', ['--contents', path]).toString(), '')
  }
})

t.test('the same number gives the same bytes each time', async (t) => {
  const folder = await temporaryFolder(t)
  const [whole, part] = [
    await writeDebs(join(folder, 'whole'), { first: 0, count: 4 }),
    await writeDebs(join(folder, 'part'), { first: 2, count: 2 }),
  ]
  for (const [at, { packageName, path }] of part.entries()) {
    const same = whole[at + 2]
    t.equal(packageName, same?.packageName)
    t.strictSame(await readFile(path), await readFile(same?.path ?? ''))
  }
})
