/** A distribution is made whole: lists, what they are packed as, sums, and signatures. */

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { DISTRIBUTION } from '../../../registry/debian/distribution.js'
import type { IndexOutput } from '../../../registry/format.js'
import { dearmorKey, makeOpenpgpKey } from '../../../registry/sign/openpgp.js'
import { EXAMPLE_DEBS } from '../../helpers/debian-examples.js'
import { isExpectedText } from '../../helpers/expected.js'
import { anIndexRoom } from '../../helpers/index-rooms.js'

const KEY = await makeOpenpgpKey('ada')
const AT_MS = Date.UTC(2025, 5, 15, 12)
const ENTRIES = EXAMPLE_DEBS.map(({ entry }) => entry)
const OPTIONS = { subject: 'bookworm', changedAtMs: AT_MS, entries: ENTRIES, key: KEY }

async function build(options = OPTIONS): Promise<ReadonlyMap<string, Buffer>> {
  const { input, output, written } = anIndexRoom(options)
  await DISTRIBUTION.build(input, output)
  return written
}

t.test('every file is there, and Release has the sums of all lists', async (t) => {
  const files = await build()
  const lists = ['contrib/binary-arm64', 'main/binary-all', 'main/binary-amd64']
  const paths = lists.flatMap((list) => [`${list}/Packages`, `${list}/Packages.gz`])
  t.strictSame(
    [...files.keys()].sort(),
    ['InRelease', 'Release', 'Release.gpg', ...paths].sort((one, other) => (one < other ? -1 : 1)),
  )
  for (const list of lists) {
    const plain = files.get(`${list}/Packages`) ?? Buffer.alloc(0)
    const packed = files.get(`${list}/Packages.gz`) ?? Buffer.alloc(0)
    t.ok(gunzipSync(packed).equals(plain), list)
    t.equal(packed.readUInt32LE(4), 0, 'gzip says no time')
  }
  const release = files.get('Release')?.toString() ?? ''
  for (const path of paths) t.equal(release.split(` ${path}\n`).length, 5, `four sums of ${path}`)
  // How gzip packs differs between machines.
  const plain = release.replace(/^ [0-9a-f]+ \d+ (\S+\.gz)$/gm, ' DIGEST SIZE $1')
  isExpectedText(t, plain, 'debian/Release')
})

t.test('gpgv finds both signatures good, and Release in what is signed', async (t) => {
  const files = await build()
  const folder = t.testdir()
  for (const name of ['Release', 'InRelease', 'Release.gpg']) {
    writeFileSync(join(folder, name), files.get(name) ?? '')
  }
  writeFileSync(join(folder, 'key.gpg'), await dearmorKey(KEY.publicKey))
  const gpgv = (...args: readonly string[]) =>
    spawnSync('gpgv', ['--keyring', join(folder, 'key.gpg'), ...args], { cwd: folder })
  t.equal(gpgv('Release.gpg', 'Release').status, 0)
  const clear = gpgv('--output', '-', 'InRelease')
  t.equal(clear.status, 0)
  t.ok(clear.stdout.equals(files.get('Release') ?? Buffer.alloc(0)))
})

t.test('the same packages and time give the same bytes, another time other ones', async (t) => {
  const files = await build()
  t.strictSame(await build(), files)
  const later = await build({ ...OPTIONS, changedAtMs: AT_MS + 1_000 })
  t.notSame(later.get('Release'), files.get('Release'))
})

t.test('a distribution without packages has no files', async (t) => {
  t.equal((await build({ ...OPTIONS, entries: [] })).size, 0)
})

t.test('what cannot be read breaks the build off', async (t) => {
  const { input, output } = anIndexRoom(OPTIONS)
  const broken = {
    ...input,
    async *entries() {
      yield* ENTRIES.slice(0, 1)
      throw new Error('the database is gone')
    },
  }
  await t.rejects(DISTRIBUTION.build(broken, output), { message: 'the database is gone' })
})

t.test('what cannot be written breaks it off, and nothing is being written then', async (t) => {
  const [first] = EXAMPLE_DEBS
  if (first === undefined) throw new Error('there are examples')
  const large = { ...first.entry, metadata: { fields: [['X', noise()]] } }
  const entries = Array.from({ length: 100 }, () => large)
  const { input, output } = anIndexRoom({ ...OPTIONS, entries })
  const ways = {
    'at once': async () => {},
    'after a while': () => sleep(100),
    'after the first bytes': async (chunks: AsyncIterable<Uint8Array> | Uint8Array) => {
      if (!(chunks instanceof Uint8Array)) for await (const _ of chunks) break
    },
  }
  for (const full of ['Packages', 'Packages.gz']) {
    for (const [when, before] of Object.entries(ways)) {
      let writing = 0
      const failing: IndexOutput = {
        async write(path, chunks) {
          writing += 1
          try {
            // The other one begins late as well, and takes its time to end.
            await sleep(path.endsWith(`/${full}`) ? 0 : 20)
            if (!path.endsWith(`/${full}`)) return await output.write(path, chunks)
            await before(chunks)
            throw new Error('the disk is full')
          } finally {
            await sleep(path.endsWith(`/${full}`) ? 0 : 50)
            writing -= 1
          }
        },
      }
      const built = DISTRIBUTION.build(input, failing)
      await t.rejects(built, { message: 'the disk is full' }, `${full} ${when}`)
      t.equal(writing, 0, `${full} ${when}`)
    }
  }
})

/** A text that gzip cannot make much smaller. */
function noise(): string {
  return Array.from({ length: 20_000 }, () => Math.random().toString(36).slice(2)).join('')
}
