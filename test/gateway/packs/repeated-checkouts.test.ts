/** Checkouts of partial clones: expected for new tips if clients checked out all files before. */

import t from 'tap'
import { normalFetch } from '../../../gateway/packs/normal-fetch.js'
import { FETCH_FLAGS } from '../../../gateway/packs/normal-request.js'
import { RepeatedCheckouts } from '../../../gateway/packs/repeated-checkouts.js'
import { TipFiles } from '../../../gateway/packs/tip-files.js'

const MEBIBYTE = 1 << 20
const OWNER = { repositoryPath: '/r.git', client: () => 'ada' }
const [TIP, LATER] = ['a'.repeat(40), 'b'.repeat(40)]

const oidOf = (number: number) => String(number).padStart(40, '0')
const filesFrom = (first: number, count = 20) =>
  Array.from({ length: count }, (_, at) => oidOf(first + at))

function fetchOf(wants: readonly string[], ...lines: readonly string[]) {
  const all = [...wants.map((oid) => `want ${oid}`), 'filter blob:none', 'done', ...lines]
  const request = normalFetch(all, { version: 2, objectFormat: 'sha1', flags: FETCH_FLAGS })
  if (request === undefined) throw new Error('not a fetch')
  return request
}

/** Counts checkouts of a repository whose tips have these files. */
function aCounter(files: Readonly<Record<string, readonly string[] | undefined>>) {
  const asked: string[] = []
  const tipFiles = new TipFiles(async (_owner, oid) => {
    asked.push(oid)
    return files[oid] && new Set(files[oid])
  })
  const checkouts = new RepeatedCheckouts(tipFiles)
  const note = (request: ReturnType<typeof fetchOf>, other = {}) =>
    checkouts.note({
      repositoryPath: OWNER.repositoryPath,
      bytes: undefined,
      isNew: true,
      request,
      ...other,
    })
  const push = async (tips: readonly string[], bytes = MEBIBYTE) => {
    const found: string[] = []
    for await (const { request, noteLength } of checkouts.expected(OWNER, tips)) {
      found.push(request.text)
      noteLength?.(bytes)
    }
    return found
  }
  return { asked, note, push }
}

t.test('the files of each new tip are expected if two clients checked out all', async (t) => {
  const { note, push } = aCounter({ [TIP]: filesFrom(2), [LATER]: filesFrom(3) })
  note(fetchOf(filesFrom(1)))
  t.strictSame(await push([TIP]), [], 'one client')
  for (let clients = 0; clients < 2; clients += 1) note(fetchOf(filesFrom(1)))
  const expected = [fetchOf(filesFrom(2)).text, fetchOf(filesFrom(3)).text]
  t.strictSame(await push([TIP, LATER]), expected)
})

t.test('one client is sufficient if another process has made its answer', async (t) => {
  const { note, push } = aCounter({ [TIP]: filesFrom(2) })
  note(fetchOf(filesFrom(1)), { isNew: false })
  t.strictSame(await push([TIP]), [fetchOf(filesFrom(2)).text])
})

t.test('checkouts of some files, other fetches and long answers are not expected', async (t) => {
  const cases = {
    'half of the files': { wants: filesFrom(1, 10) },
    'files that the tip does not have': { wants: filesFrom(15) },
    'a shallow fetch': { lines: ['deepen 1'] },
    'a client with commits': { lines: [`have ${LATER}`] },
    'a long answer': { other: { bytes: 17 * MEBIBYTE } },
    'one file': { wants: filesFrom(2, 1), files: filesFrom(2, 1) },
    'too many files': { files: undefined },
  }
  for (const [name, { wants = filesFrom(1), lines = [], other = {}, ...rest }] of Object.entries<{
    readonly wants?: readonly string[]
    readonly lines?: readonly string[]
    readonly other?: object
    readonly files?: readonly string[] | undefined
  }>(cases)) {
    const files = 'files' in rest ? rest.files : filesFrom(2)
    const { note, push } = aCounter({ [TIP]: files })
    for (let clients = 0; clients < 2; clients += 1) note(fetchOf(wants, ...lines), other)
    t.strictSame(await push([TIP]), [], name)
  }
})

t.test('checkouts with other arguments are counted anew', async (t) => {
  const { note, push } = aCounter({ [TIP]: filesFrom(2) })
  note(fetchOf(filesFrom(1)))
  note(fetchOf(filesFrom(1), 'ofs-delta'))
  t.strictSame(await push([TIP]), [])
})

t.test('checkouts are forgotten if no client repeats them', async (t) => {
  const { asked, note, push } = aCounter({ [TIP]: filesFrom(2), [LATER]: filesFrom(3) })
  for (let clients = 0; clients < 2; clients += 1) note(fetchOf(filesFrom(1)))
  t.equal((await push([TIP])).length, 1)
  t.strictSame(await push([LATER]), [])
  t.strictSame(asked, [TIP], 'git does not run for the second push')
})

t.test('a checkout with a long answer is expected again after a short one', async (t) => {
  const { note, push } = aCounter({ [TIP]: filesFrom(2), [LATER]: filesFrom(3) })
  for (let clients = 0; clients < 4; clients += 1) note(fetchOf(filesFrom(1)))
  t.equal((await push([TIP], 17 * MEBIBYTE)).length, 1)
  note(fetchOf(filesFrom(2)))
  t.strictSame(await push([LATER]), [])
  note(fetchOf(filesFrom(2)), { bytes: MEBIBYTE })
  t.equal((await push([LATER])).length, 1)
})
