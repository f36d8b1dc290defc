/** Files of tips in memory: read once for each tip, and valid while the tip is one. */

import t from 'tap'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { TipFiles } from '../../../gateway/packs/tip-files.js'
import { packetLine } from '../../helpers/git-requests.js'

const PATH = '/r.git'
const OWNER = { repositoryPath: PATH, client: () => 'ada' }
const tipAt = (number: number) => String(number).repeat(40)
const [ONE, TWO, THREE] = ['a'.repeat(40), 'b'.repeat(40), 'c'.repeat(40)] as [
  string,
  string,
  string,
]

async function listOf(tip: string): Promise<ReferenceList> {
  const line = packetLine(`${tip} refs/heads/main\n`)
  const list = await ReferenceList.parse(Buffer.from(`${line}0000`))
  if (list === undefined) throw new Error('not a list')
  return list
}

t.test('files are known while their tip is one, in one repository', async (t) => {
  const files = new TipFiles(async () => new Set([ONE, TWO]))
  const list = await listOf(tipAt(1))
  t.notOk(files.haveAll(PATH, list, [ONE]), 'before they were read')
  t.same(await files.read(OWNER, tipAt(1)), new Set([ONE, TWO]))
  t.ok(files.haveAll(PATH, list, [TWO, ONE]))
  t.notOk(files.haveAll(PATH, list, [ONE, THREE]))
  t.notOk(files.haveAll(PATH, await listOf(tipAt(2)), [ONE]), 'after a push')
  t.notOk(files.haveAll('/other.git', list, [ONE]))
})

t.test('a tip is read once, and the last four tips are remembered', async (t) => {
  const asked: string[] = []
  const files = new TipFiles(async (_owner, oid) => {
    asked.push(oid)
    return oid === tipAt(9) ? undefined : new Set([ONE])
  })
  for (const number of [1, 2, 1, 9, 3, 4, 5]) await files.read(OWNER, tipAt(number))
  t.strictSame(asked, [1, 2, 9, 3, 4, 5].map(tipAt))
  t.ok(files.haveAll(PATH, await listOf(tipAt(2)), [ONE]))
  t.notOk(files.haveAll(PATH, await listOf(tipAt(1)), [ONE]), 'the fifth from the end')
  t.notOk(files.haveAll(PATH, await listOf(tipAt(9)), [ONE]), 'too many files')
})
