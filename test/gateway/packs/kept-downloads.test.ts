/** Downloads are stored from the second request on, and only if they are whole and current. */

import { appendFile, cp, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import {
  KeptDownloads,
  type KeptDownloadsOptions,
  type NewDownload,
} from '../../../gateway/packs/kept-downloads.js'
import { PackStore, type PackStoreOptions } from '../../../gateway/packs/pack-store.js'
import { chunksOf, collect } from '../../helpers/byte-chunks.js'
import { mountSmallDisk } from '../../helpers/small-disk.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible } from '../../helpers/working-copy.js'

const git = await findGit()
const KEY = '0f'.repeat(32)
const CONTENT = Buffer.from(incompressible(300_000))

async function aStore(
  t: Test,
  more: Partial<PackStoreOptions> & Partial<Pick<KeptDownloadsOptions, 'bytesMax' | 'git'>> = {},
) {
  const { folder = await temporaryFolder(t), bytesMax = 1_000_000 } = more
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) })
  const memory = { memoryBytesMax: 1_000_000, heldBytesMax: 1_000_000 }
  const disk = { diskBytesMax: 1 << 30, diskBytesFree: 0, graceMs: 0 }
  const store = new PackStore({ folder, ...memory, ...disk, ...more }, log)
  const downloads = new KeptDownloads({ git: more.git ?? git, log, store, folder, bytesMax })
  const keep = (chunks: AsyncIterable<Uint8Array> = chunksOf(CONTENT), other = {}) =>
    downloads.keep(chunks, { key: KEY, presentKey: async () => KEY, ...other } as NewDownload)
  return {
    downloads,
    keep,
    lines,
    folder,
    /** Requests the download once. */
    request: async () => t.ok((await collect(keep())).equals(CONTENT)),
    /** Names of all files, once none is being written. */
    async files(): Promise<readonly string[]> {
      for (const deadlineMs = Date.now() + 10_000; Date.now() < deadlineMs; await sleep(5)) {
        const entries = await readdir(folder, { recursive: true, withFileTypes: true })
        const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name)
        if (!names.some((name) => name.endsWith('.part'))) return names.sort()
      }
      throw new Error('a file was never completed')
    },
  }
}

t.test('a download is stored by its second request and found by the third', async (t) => {
  const { downloads, keep, request, files } = await aStore(t)
  await request()
  t.strictSame(await files(), [], 'the first request stores nothing')
  t.equal(await downloads.find(KEY), undefined)
  t.ok((await collect(keep())).equals(CONTENT))
  t.strictSame(await files(), [KEY, `${KEY}.sums`])
  const stored = await downloads.find(KEY)
  t.equal(stored?.bytes, CONTENT.length)
  t.ok(Buffer.from(stored?.body as Uint8Array).equals(CONTENT))
  t.type(stored?.file(), 'string')
})

t.test('a download is stored after the folder was removed', async (t) => {
  const { folder, request, files } = await aStore(t)
  await request()
  await request()
  await files()
  await rm(folder, { recursive: true })
  await request()
  t.strictSame(await files(), [KEY, `${KEY}.sums`])
})

t.test('a reader that stops at the announced length has read the whole download', async (t) => {
  const { keep, request, files } = await aStore(t)
  await request()
  let bytes = 0
  for await (const chunk of keep(chunksOf(CONTENT), { bytes: CONTENT.length })) {
    bytes += chunk.byteLength
    if (bytes === CONTENT.length) break
  }
  t.strictSame(await files(), [KEY, `${KEY}.sums`])
})

t.test('an incomplete download is not stored, and the next request stores it', async (t) => {
  const { keep, request, files } = await aStore(t)
  await request()
  const left: string[] = []
  const source = (async function* () {
    try {
      yield* chunksOf(CONTENT)
    } finally {
      left.push('left')
    }
  })()
  for await (const _chunk of keep(source, { bytes: CONTENT.length })) break
  t.strictSame([left, await files()], [['left'], []], 'a client that leaves')
  const broken = (async function* () {
    yield CONTENT
    throw new Error('git failed')
  })()
  await t.rejects(collect(keep(broken, { bytes: CONTENT.length })), { message: 'git failed' })
  t.strictSame(await files(), [], 'a source that fails')
  await request()
  t.strictSame(await files(), [KEY, `${KEY}.sums`])
})

t.test('a download is not stored if its key has changed while it was read', async (t) => {
  const { keep, request, files } = await aStore(t)
  await request()
  const presentKey = async () => 'another'
  t.ok((await collect(keep(undefined, { presentKey }))).equals(CONTENT))
  t.strictSame(await files(), [])
})

t.test('concurrent requests of one download write one file', async (t) => {
  const { keep, request, files, folder } = await aStore(t)
  await request()
  let parts = 0
  for await (const _one of keep()) {
    for await (const _other of keep()) parts = Math.max(parts, (await readdir(folder)).length)
  }
  t.equal(parts, 1)
  t.strictSame(await files(), [KEY, `${KEY}.sums`])
})

t.test('a download beyond a limit is sent whole and is not stored', async (t) => {
  const limits: Readonly<Record<string, Parameters<typeof aStore>[1]>> = {
    'the maximum size of a download': { bytesMax: CONTENT.length - 1 },
    'a cache that is off': { diskBytesMax: 0 },
    'the free space of the disk': { diskBytesFree: 1e15 },
  }
  for (const [name, more] of Object.entries(limits)) {
    const { request, files } = await aStore(t, more)
    await request()
    await request()
    t.strictSame(await files(), [], name)
  }
})

t.test('a full disk does not break a download, and its part is removed', async (t) => {
  const disk = await mountSmallDisk(t, 'size=200k')
  if (disk === undefined) {
    return t.comment('skipped: a small disk cannot be mounted on this machine')
  }
  const folder = join(disk.path, 'packs')
  await mkdir(folder)
  const { request, files, lines } = await aStore(t, { folder })
  for (let requests = 0; requests < 4; requests += 1) {
    await request()
    t.strictSame(await files(), [])
    await sleep(20)
  }
  t.equal(lines.length, 1, 'nothing is written for some time after the error')
  t.match(lines[0], /ENOSPC.*file of a download could not be written/)
})

t.test('the key changes with git, the arguments, the repository and its settings', async (t) => {
  const { downloads } = await aStore(t)
  const repositoryPath = join(await temporaryFolder(t), 'one.git')
  await initRepository(git, repositoryPath, { defaultBranch: 'main', objectFormat: 'sha1' })
  const keyOf = (...words: readonly string[]) => downloads.keyOf({ repositoryPath, words })
  const key = keyOf('archive', 'zip')
  t.match(key, /^[0-9a-f]{80}$/)
  t.equal(keyOf('archive', 'zip'), key)
  t.not(keyOf('archive', 'tar.gz'), key)
  t.not(keyOf('archivezip'), key)
  const copy = join(await temporaryFolder(t), 'one.git')
  await cp(repositoryPath, copy, { recursive: true })
  const words = ['archive', 'zip']
  t.not(downloads.keyOf({ repositoryPath: copy, words }), key, 'another repository')
  const { downloads: newer } = await aStore(t, { git: { ...git, version: [9, 0, 0] } })
  t.not(newer.keyOf({ repositoryPath, words }), key, 'another version of git')
  await appendFile(join(repositoryPath, 'config'), '[tar]\n\tumask = 0077\n')
  t.not(keyOf('archive', 'zip'), key)
  await appendFile(join(repositoryPath, 'config'), '[include]\n\tpath = other\n')
  t.equal(keyOf('archive', 'zip'), undefined, 'settings in a file that is not watched')
})
