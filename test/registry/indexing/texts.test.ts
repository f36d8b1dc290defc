/** Texts consist of runs; only changed runs are rendered again. */

import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { findXz } from '../../../cgi/process/xz.js'
import { gzipText } from '../../../registry/archive/gzip-file.js'
import type { IndexEntry, TextForm } from '../../../registry/index-maker.js'
import { openIndexFiles } from '../../../registry/indexing/files.js'
import { createPrefixes } from '../../../registry/indexing/prefixes.js'
import { rendered } from '../../../registry/indexing/rendered.js'
import type { Keyed } from '../../../registry/indexing/runs.js'
import { openScratch } from '../../../registry/indexing/scratch.js'
import { joinTexts, makeRuns, type Runs, type Workspace } from '../../../registry/indexing/texts.js'
import { openFileStorage } from '../../../registry/storage/files.js'
import { collect } from '../../helpers/byte-chunks.js'
import { indexEntry } from '../../helpers/index-entries.js'
import { temporaryFolder } from '../../helpers/temporary.js'

interface Scene {
  readonly workspace: Workspace
  /** Published entries; a test changes them. */
  readonly entries: Map<string, IndexEntry & Keyed>
  /** Number of rendered entries. */
  rendered: number
  read(runs: Runs, form: TextForm): Promise<string>
}

async function openScene(t: Test, forms: readonly TextForm[]): Promise<Scene> {
  const storage = await openFileStorage(await temporaryFolder(t))
  const scratch = await openScratch(storage.incomingFolder)
  t.teardown(() => scratch.close())
  const files = openIndexFiles({ storage, scratch, prefixes: createPrefixes() })
  const entries = new Map<string, IndexEntry & Keyed>()
  const sorted = () => [...entries.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const scene: Scene = {
    entries,
    rendered: 0,
    workspace: {
      subject: 'stable',
      scratch,
      compressXz: undefined,
      maker: {
        formsOf: () => forms,
        render(all, { parts }) {
          scene.rendered += all.length
          const lines = all.map(({ packageName }) => `${packageName} of ${parts.join('+')}\n`)
          return new Map([['list', rendered(lines)]])
        },
      },
      parts: async () => [...new Set(sorted().map(({ part }) => part))].sort(),
      async *entries({ from, to }) {
        yield* sorted().filter(({ key }) => key >= from && (to === undefined || key < to))
      },
    },
    async read(runs, form) {
      const text = joinTexts(runs).get('list')
      const placed = text?.forms[form]
      if (text === undefined || placed === undefined) return 'none'
      const content = form === 'deflated' ? gzipText([text]) : [placed]
      const bytes = await collect(files.read(content))
      return (form === 'deflated' ? gunzipSync(bytes) : bytes).toString()
    },
  }
  return scene
}

function add({ entries }: Scene, name: string, part = 'main'): void {
  entries.set(name, { ...indexEntry({ packageName: name, part }), key: name })
}

const numbered = (at: number) => `p${String(at).padStart(5, '0')}`

t.test('a change renders few entries, and the text is complete', async (t) => {
  const scene = await openScene(t, ['plain', 'deflated'])
  for (let at = 0; at < 4_000; at += 1) add(scene, numbered(at))
  const before = await makeRuns(scene.workspace, undefined)
  t.equal(scene.rendered, 4_000)
  add(scene, 'p01234b')
  scene.entries.delete('p03000')
  const changedKeys = ['p01234b', 'p03000']
  const after = await makeRuns(scene.workspace, { ...before, changedKeys })
  t.ok(scene.rendered < 8_000, `${scene.rendered - 4_000} rendered again`)
  const names = [...scene.entries.keys()].toSorted()
  const wanted = names.map((name) => `${name} of main\n`).join('')
  for (const form of ['plain', 'deflated'] as const) {
    t.equal(await scene.read(after, form), wanted, form)
  }
  const { count, bytes } = joinTexts(after).get('list') ?? { count: 0, bytes: 0 }
  t.strictSame({ count, bytes }, { count: 4_000, bytes: wanted.length })
})

t.test(
  'an added or removed part renders all entries, because other parts may depend on it',
  async (t) => {
    const scene = await openScene(t, ['plain'])
    add(scene, 'a')
    const one = await makeRuns(scene.workspace, undefined)
    add(scene, 'b', 'extra')
    const two = await makeRuns(scene.workspace, { ...one, changedKeys: ['b'] })
    t.equal(await scene.read(two, 'plain'), 'a of extra+main\nb of extra+main\n')
    scene.entries.delete('b')
    const three = await makeRuns(scene.workspace, { ...two, changedKeys: ['b'] })
    t.equal(await scene.read(three, 'plain'), 'a of main\n')
  },
)

t.test('without entries there is no text', async (t) => {
  const scene = await openScene(t, ['plain'])
  t.equal(joinTexts(await makeRuns(scene.workspace, undefined)).size, 0)
})

t.test('without xz a text has no xz form', async (t) => {
  const scene = await openScene(t, ['plain', 'xz'])
  add(scene, 'a')
  const runs = await makeRuns(scene.workspace, undefined)
  t.strictSame(Object.keys(joinTexts(runs).get('list')?.forms ?? {}), ['plain'])
  const packed = await makeRuns({ ...scene.workspace, compressXz: findXz() }, undefined)
  const text = joinTexts(packed).get('list')
  t.strictSame(Object.keys(text?.forms ?? {}), ['plain', 'xz'])
  t.match(text?.xzBlocks, [{ bytes: 'a of main\n'.length }])
})
